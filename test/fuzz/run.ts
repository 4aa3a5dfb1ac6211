// `npm run fuzz -- [--cases N] [--seed S] [--engine sqlite|postgres]`: as long a run as one wants, and what it saw.
import { parseArgs } from 'node:util'
import type { Engine } from '../../server/db/database.ts'
import { engines } from '../support/engines.ts'
import { fuzz } from './fuzz.ts'

const { values } = parseArgs({
  options: { cases: { type: 'string' }, seed: { type: 'string' }, engine: { type: 'string' } },
})
const cases = wholeNumber('cases', values.cases ?? '10000')
const seed = wholeNumber('seed', values.seed ?? String(Date.now() % 2 ** 31))
const chosen = engines.filter((engine) => values.engine === undefined || engine === values.engine)
if (chosen.length === 0) stop('--engine 只能是 sqlite 或 postgres / must be sqlite or postgres')

process.stdout.write(`fuzz: ${cases} cases on ${chosen.join(' and ')}, seed ${seed}\n`)
try {
  for (const engine of chosen) await runOn(engine)
} catch (error) {
  stop(error instanceof Error ? error.message : String(error))
}
process.exit(0)

async function runOn(engine: Engine): Promise<void> {
  const share = Math.ceil(cases / chosen.length)
  const startedAt = performance.now()
  const report = await fuzz(engine, share, seed)
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0)
  process.stdout.write(
    `${engine}: ${share} cases in ${seconds} s, none failed, ${report.paid} paid; answers: ${JSON.stringify(report.statuses)}\n`,
  )
}

function wholeNumber(name: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) stop(`--${name} 须为整数 / must be a whole number`)
  return Number(text)
}

function stop(message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}

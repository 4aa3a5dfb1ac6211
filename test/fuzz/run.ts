// `npm run fuzz -- [--cases N] [--seed S] [--engine sqlite|postgres]`: runs the fuzzer and prints a summary.
import { randomInt } from 'node:crypto'
import { readFlags, refuse, wholeNumber } from '../../cli/flags.ts'
import type { Engine } from '../../server/db/database.ts'
import { engines } from '../support/engines.ts'
import { fuzz } from './fuzz.ts'

const help = `npm run --silent fuzz -- [--cases N] [--seed S] [--engine sqlite|postgres]

向真实的服务发送大量随意拼凑的请求，检查每个响应与账目；使用相同的种子可以重现。
Sends generated calls to the real service and checks each response and the ledger; a seed repeats a run.

  --cases N    请求数，默认 10000 / number of calls
  --seed S     种子，默认随机 / repeats the run with this seed
  --engine E   只用一种数据库，默认两种 / one engine only`

const { values } = readFlags(help, {
  cases: { type: 'string' },
  seed: { type: 'string' },
  engine: { type: 'string' },
})
const cases = wholeNumber('cases', values.cases ?? '10000')
const seed = wholeNumber('seed', values.seed ?? String(randomInt(1e9)))
const selected = engines.filter((engine) => values.engine === undefined || engine === values.engine)
if (selected.length === 0) refuse('--engine 只能是 sqlite 或 postgres / must be sqlite or postgres')

process.stdout.write(`fuzz: ${cases} cases on ${selected.join(' and ')}, seed ${seed}\n`)
try {
  for (const engine of selected) await runOn(engine)
} catch (error) {
  stop(error instanceof Error ? error.message : String(error))
}
process.exit(0)

async function runOn(engine: Engine): Promise<void> {
  const share = Math.ceil(cases / selected.length)
  const startedAt = performance.now()
  const report = await fuzz(engine, share, seed)
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0)
  process.stdout.write(
    `${engine}: ${share} cases in ${seconds} s, none failed, ${report.paid} paid; responses: ${JSON.stringify(report.statuses)}\n`,
  )
}

function stop(message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}

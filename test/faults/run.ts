// `npm run faults`: the whole table, or one line of it. Exit code 1 when anything acknowledged is lost or an invariant broken.
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { table } from '../../cli/command.ts'
import { engines } from '../support/engines.ts'
import { runFaults } from './suite.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string' },
    seed: { type: 'string' },
    engine: { type: 'string', default: 'both' },
    only: { type: 'string' },
    short: { type: 'boolean', default: false },
    journal: { type: 'string' },
    broken: { type: 'boolean', default: false },
  },
})

const seed = values.seed ?? String(randomInt(1_000_000))
process.stdout.write(`seed ${seed}\n`)
const rows = await runFaults({
  seed,
  engines: engines.filter((engine) => values.engine === 'both' || values.engine === engine),
  only: values.only,
  rounds: values.rounds === undefined ? undefined : Number(values.rounds),
  short: values.short,
  journal: values.journal,
  broken: values.broken,
  onProgress: (line) => process.stdout.write(`${line}\n`),
})

const heading = ['fault', 'engine', 'rounds', 'acknowledged', 'lost', 'recovery (s)', 'start (s)', 'note']
const lines = rows.map(({ fault, engine, skipped, ...row }) => {
  if (skipped !== undefined) return [fault, engine, '-', '-', '-', '-', '-', `skipped: ${skipped}`]
  const seconds = [row.worst.toFixed(2), row.start.toFixed(2)]
  return [fault, engine, row.rounds, row.acknowledged, row.lost.length, ...seconds, '']
})
process.stdout.write(`\n${table(heading, lines)}\n`)
const wrong = rows.flatMap((row) =>
  [...row.lost.map((one) => `lost: ${one}`), ...row.problems].map(
    (one) => `${row.fault} ${row.engine}: ${one}`,
  ),
)
for (const line of wrong.slice(0, 100)) process.stdout.write(`${line}\n`)
process.stdout.write(
  wrong.length === 0 ? 'nothing lost, every invariant holds\n' : `${wrong.length} things are wrong\n`,
)
process.exitCode = wrong.length === 0 && rows.length > 0 ? 0 : 1

// `npm run faults`: the whole table, or one line of it. Exit code 1 when anything acknowledged is lost or an invariant broken.
import { randomInt } from 'node:crypto'
import { table } from '../../cli/command.ts'
import { readFlags, refuse, wholeNumber } from '../../cli/flags.ts'
import { engines } from '../support/engines.ts'
import { haFaults } from './ha-faults.ts'
import { missingPackages } from './ha-settings.ts'
import { faults, runFaults } from './suite.ts'

/** The packages that --ha needs are not installed: nothing was shown, and nothing was found wrong. */
const exitNotInstalled = 3

const help = `npm run --silent faults -- [--rounds N] [--seed S] [--engine sqlite|postgres|both] [--only NAME] [--short]
                          [--journal FILE] [--broken]
npm run --silent faults -- --ha [--rounds N] [--seed S] [--only NAME] [--journal FILE] [--broken]

在真实负载下杀进程、杀数据库、塞满磁盘、拨动时钟，然后从外部核对：确认过的一笔都没有丢。见 docs/faults.md。
Strikes the running service while customers are at work, then looks from outside whether anything acknowledged is gone;
see docs/faults.md. Exits with 1 when something is.

  --rounds N      每种故障的次数 / how often each fault strikes
  --seed S        重来一遍 / the seed that a run printed
  --engine E      只用一种数据库 / one engine only
  --only NAME     只做一种 / one fault only:
                  ${faults.map(({ name }) => name).join(', ')}
  --short         npm run test:all 中的那一遍，约两分钟 / the run that is part of npm run test:all, about two minutes
  --ha            Patroni、etcd、HAProxy 三节点，须先装 Debian 软件包（没有时以 ${exitNotInstalled} 结束）
                  three nodes of Patroni with etcd and HAProxy, from Debian's packages (ends with ${exitNotInstalled} where they are
                  not installed): ${haFaults.map(({ name }) => name).join(', ')}
  --journal FILE  每个请求与应答，JSON 行 / every call and answer as lines of JSON
  --broken        故意破坏持久性，应当被发现 / breaks durability on purpose: must be found`

const { values } = readFlags(help, {
  rounds: { type: 'string' },
  seed: { type: 'string' },
  engine: { type: 'string', default: 'both' },
  only: { type: 'string' },
  short: { type: 'boolean', default: false },
  ha: { type: 'boolean', default: false },
  journal: { type: 'string' },
  broken: { type: 'boolean', default: false },
})
const rounds = values.rounds === undefined ? undefined : wholeNumber('rounds', values.rounds)
const chosen = engines.filter(
  (engine) => (values.engine === 'both' || values.engine === engine) && (!values.ha || engine === 'postgres'),
)
const offered = values.ha ? haFaults : faults
if (values.ha && values.engine === 'sqlite') refuse('--ha 只用于 PostgreSQL / --ha is PostgreSQL')
if (values.ha && values.short) refuse('--ha 没有短的一遍 / --ha has no short run')
if (chosen.length === 0) refuse('--engine 只能是 sqlite、postgres、both / must be one of them')
if (values.only !== undefined && !offered.some((one) => one.name === values.only)) {
  refuse(`没有这种故障 / no such fault: ${values.only}`)
}

const missing = values.ha ? missingPackages() : undefined
if (missing !== undefined) {
  process.stderr.write(`${missing}\n`)
  process.exit(exitNotInstalled)
}

const seed = values.seed ?? String(randomInt(1_000_000))
process.stdout.write(`seed ${seed}\n`)
const rows = await runFaults({
  seed,
  engines: chosen,
  only: values.only,
  rounds,
  short: values.short,
  ha: values.ha,
  journal: values.journal,
  broken: values.broken,
  onProgress: (line) => process.stdout.write(`${line}\n`),
})

const heading = [
  'fault',
  'engine',
  'rounds',
  'acknowledged',
  'lost',
  'recovery (s)',
  'start (s)',
  'cpu (s)',
  'note',
]
const lines = rows.map(({ fault, engine, skipped, ...row }) => {
  if (skipped !== undefined) return [fault, engine, '-', '-', '-', '-', '-', '-', `skipped: ${skipped}`]
  const seconds = [row.worst.toFixed(2), row.start.toFixed(2), row.cpu === 0 ? '-' : row.cpu.toFixed(2)]
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

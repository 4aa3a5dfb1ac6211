// `npm run faults`: runs all faults or one. Exits with 1 if an acknowledged call is lost or an invariant is broken.
import { randomInt } from 'node:crypto'
import { table } from '../../cli/command.ts'
import { readFlags, refuse, wholeNumber } from '../../cli/flags.ts'
import { engines } from '../support/engines.ts'
import { haFaults } from './ha-faults.ts'
import { missingPackages } from './ha-settings.ts'
import { faults, runFaults } from './suite.ts'

/** The packages that --ha needs are not installed, so nothing was tested. */
const exitNotInstalled = 3

const help = `npm run --silent faults -- [--rounds N] [--seed S] [--engine sqlite|postgres|both] [--only NAME] [--short]
                          [--journal FILE] [--broken]
npm run --silent faults -- --ha [--rounds N] [--seed S] [--only NAME] [--journal FILE] [--broken]

在真实负载下杀进程、杀数据库、塞满磁盘、拨动时钟，然后从外部核对：确认过的一笔都没有丢。见 docs/faults.md。
Injects faults into the running service under load, then checks from outside that no acknowledged call was lost.
See docs/faults.md. Exits with 1 if a call was lost or an invariant is broken.

  --rounds N      每种故障的次数 / how often each fault is injected
  --seed S        重来一遍 / repeats the run with this seed
  --engine E      只用一种数据库 / one engine only
  --only NAME     只做一种 / one fault only:
                  ${faults.map(({ name }) => name).join(', ')}
  --short         npm run test:all 中的那一遍，约两分钟 / the run that is part of npm run test:all, about two minutes
  --ha            Patroni、etcd、HAProxy 三节点，必须先装 Debian 软件包（没有时以 ${exitNotInstalled} 结束）
                  three Patroni nodes with etcd and HAProxy from Debian's packages (exits with ${exitNotInstalled} if they are
                  not installed): ${haFaults.map(({ name }) => name).join(', ')}
  --journal FILE  每个请求与响应，JSON 行 / every call and response as JSON lines
  --broken        故意破坏持久性，应当被发现 / breaks durability on purpose: the run must report lost calls`

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
const selected = engines.filter(
  (engine) => (values.engine === 'both' || values.engine === engine) && (!values.ha || engine === 'postgres'),
)
const available = values.ha ? haFaults : faults
if (values.ha && values.engine === 'sqlite') refuse('--ha 只用于 PostgreSQL / --ha needs PostgreSQL')
if (values.ha && values.short) refuse('--ha 没有短的一遍 / --ha has no short run')
if (selected.length === 0) refuse('--engine 只能是 sqlite、postgres、both / must be one of them')
if (values.only !== undefined && !available.some((one) => one.name === values.only)) {
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
  engines: selected,
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
const violations = rows.flatMap((row) =>
  [...row.lost.map((one) => `lost: ${one}`), ...row.problems].map(
    (one) => `${row.fault} ${row.engine}: ${one}`,
  ),
)
for (const line of violations.slice(0, 100)) process.stdout.write(`${line}\n`)
process.stdout.write(
  violations.length === 0 ? 'nothing lost, every invariant holds\n' : `${violations.length} violations\n`,
)
process.exitCode = violations.length === 0 && rows.length > 0 ? 0 : 1

// `npm run bench`: runs the benchmarks and writes one report. Figures are compared with references of the same run.
import { resolve } from 'node:path'
import { readFlags, refuse, wholeNumber } from '../cli/flags.ts'
import { chargeBench } from './charge.ts'
import { consoleBench } from './console.ts'
import { domainBench } from './domain.ts'
import { eventsBench } from './events.ts'
import { growthBench } from './growth.ts'
import { importBench } from './import.ts'
import { latencyBench } from './latency.ts'
import { limitsBench } from './limits.ts'
import { describeMachine } from './machine.ts'
import { neighboursBench } from './neighbours.ts'
import { generateBench, identityBench } from './paid-calls.ts'
import { redirectBench } from './redirect.ts'
import { type Part, type PartReport, runPart, writeReport } from './report.ts'
import { scaleOf } from './scale.ts'
import { smsBench } from './sms.ts'
import { soakBench } from './soak.ts'
import { startBench } from './start.ts'
import { stopPostgres } from './storage.ts'

interface Bench {
  readonly text: string
  readonly run: (part: Part) => Promise<void>
  /** Runs only if it is named, because it takes long. */
  readonly onlyIfNamed?: true
}

const benches: Readonly<Record<string, Bench>> = {
  charge: {
    text: '扣费，两种数据库，与 pgbench 对照 / charges on both engines, compared with pgbench',
    run: chargeBench,
  },
  redirect: { text: '短链接跳转，与 nginx 对照 / redirects, compared with nginx', run: redirectBench },
  generate: { text: '生成短链接 / creating short links', run: generateBench },
  limits: {
    text: '限制了权限、地址与用量的密钥 / keys with scopes, addresses and caps',
    run: limitsBench,
  },
  sms: { text: '发送短信、群发与查询记录 / sending, batches, and querying records', run: smsBench },
  identity: { text: '身份核验 / identity verification', run: identityBench },
  domain: { text: '域名检测 / domain checks', run: domainBench },
  events: { text: '投递 Webhook 事件 / delivering webhook events', run: eventsBench },
  start: { text: '启动时间与空闲内存 / time of a start, and memory at idle', run: startBench },
  console: { text: '控制台的脚本大小 / size of the console scripts', run: consoleBench },
  import: {
    text: '从 CSV 导入十万条链接 / importing 100,000 links from CSV',
    run: importBench,
  },
  growth: {
    text: '一百万条链接、一千万次点击，与一万条链接对照 / a million links and ten million clicks, compared with ten thousand links',
    run: growthBench,
  },
  latency: {
    text: '固定速率下的延迟，容量的 30 % 与 70 % / latencies of an open loop, at 30 % and 70 % of capacity',
    run: latencyBench,
  },
  neighbours: {
    text: '一方 200 个并发时，另一账户的延迟 / latencies of an account while another makes 200 parallel calls',
    run: neighboursBench,
  },
  soak: {
    text: '半小时混合负载，内存必须平稳 / half an hour of mixed load, flat memory',
    run: soakBench,
    onlyIfNamed: true,
  },
}

const help = `npm run --silent bench -- [NAME …]

在本机测量，每个数字都与同一次运行中的参照并列，只有比值可以跨机器比较。不给名称则全部测量（不含 soak）。
报告写入 bench/results/：Markdown 与 JSON 各一份。
Measures on this machine and compares each figure with a reference of the same run; only ratios are comparable between
machines. Without a name: everything except soak. The report is written to bench/results/ as Markdown and JSON.

${Object.entries(benches)
  .map(([name, { text }]) => `  ${name.padEnd(12)}${text}`)
  .join('\n')}

  --quick        几秒跑完，只验证各项能跑，数字无意义 / takes seconds: only checks that the parts work, figures are meaningless
  --large        growth: 另测一千万条链接、一亿次点击 / also with ten million links and a hundred million clicks
  --links L      growth: 链接数，例如 100000,3000000 / numbers of links
  --keep DIR     growth: 保留数据库，下次从中断处继续填充 / keeps the databases; the next run continues to fill them
  --workers L    进程数，例如 1,2,4；默认 1、2 与核数 / numbers of processes; default 1, 2 and the number of cores
  --minutes N    soak: 每种数据库的分钟数，默认 30 / minutes on each engine, default 30
                 growth: 填充的分钟数，到时即测 / minutes of filling, then it measures what there is
  --engine E     只用一种数据库（charge 总是两种）/ sqlite or postgres only (charge always uses both)
  --out DIR      报告目录 / directory of the report

  BENCH_ROUNDS=5 BENCH_SECONDS=3   轮数与每轮秒数 / rounds, and seconds per round
  BENCH_LINKS=10000                redirect: 链接数 / number of links
  BENCH_KINDS=batches,guesses      neighbours: 只测这几种 / only these kinds of load
  BENCH_WRK=off                    不用 wrk / without wrk`

const { positionals, values } = readFlags(
  help,
  {
    quick: { type: 'boolean' },
    large: { type: 'boolean' },
    workers: { type: 'string' },
    minutes: { type: 'string' },
    links: { type: 'string' },
    keep: { type: 'string' },
    engine: { type: 'string' },
    out: { type: 'string' },
  },
  true,
)
const unknown = positionals.filter((name) => !Object.hasOwn(benches, name))
if (unknown.length > 0) refuse(`没有这一项 / no such bench: ${unknown.join(' ')}`)
const workers = values.workers?.split(',').map((one) => wholeNumber('workers', one))
if (workers?.some((count) => count < 1 || count > 256)) refuse('--workers 必须是 1 至 256 / must be 1 to 256')
const minutes = values.minutes === undefined ? undefined : wholeNumber('minutes', values.minutes)
const sizes = values.links?.split(',').map((one) => wholeNumber('links', one))
const keepIn = values.keep === undefined ? undefined : resolve(values.keep)
const { engine } = values
if (engine !== undefined && engine !== 'sqlite' && engine !== 'postgres')
  refuse('--engine 只能是 sqlite 或 postgres / must be sqlite or postgres')
const quick = values.quick ?? false
const scale = scaleOf({ quick, large: values.large ?? false, workers, minutes, sizes, keepIn, engine })

const names =
  positionals.length > 0
    ? [...new Set(positionals)]
    : Object.keys(benches).filter((name) => quick || !benches[name]!.onlyIfNamed)
const parts: PartReport[] = []
const date = new Date().toISOString()
for (const name of names) {
  const { text, run } = benches[name]!
  parts.push(await runPart(name, text, scale, run))
}
await stopPostgres()
const directory = resolve(values.out ?? resolve(import.meta.dirname, 'results'))
const command = ['npm run bench', ...(process.argv.length > 2 ? ['--', ...process.argv.slice(2)] : [])]
const file = writeReport(directory, {
  date,
  command: command
    .join(' ')
    .replaceAll(/--(?:out|keep)[ =]\S+ ?/g, '')
    .trim(),
  quick,
  machine: describeMachine(),
  parts,
})
process.stdout.write(`\n报告 / report: ${file}.md, ${file}.json\n`)
process.exit(parts.some(({ failed }) => failed !== undefined) ? 1 : 0)

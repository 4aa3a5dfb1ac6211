// `npm run bench -- NAME`: every figure is a ratio within one run, because machines are noisy.
import { readFlags, refuse } from '../cli/flags.ts'
import { chargeBench } from './charge.ts'
import { domainBench } from './domain.ts'
import { identityBench } from './identity.ts'
import { consoleBench } from './console.ts'
import { smsBench } from './sms.ts'
import { generateBench } from './generate.ts'
import { redirectBench } from './redirect.ts'

interface Bench {
  readonly text: string
  /** Prints a small table. */
  readonly run: () => Promise<unknown>
}

const benches: Readonly<Record<string, Bench>> = {
  charge: { text: '扣费，两种数据库 / charges on both engines', run: chargeBench },
  generate: { text: '生成短链接 / making short links', run: generateBench },
  redirect: {
    text: '短链接跳转，一千与一百万条 / redirects among a thousand and a million',
    run: redirectBench,
  },
  sms: { text: '发送短信与查询记录 / sending, and looking up records', run: smsBench },
  identity: { text: '身份核验 / verifications', run: identityBench },
  domain: { text: '域名检测 / domain checks', run: domainBench },
  console: { text: '控制台的脚本大小 / how much script the console loads', run: consoleBench },
}

const help = `npm run --silent bench -- NAME

在本机测量一项，每个数字都与同一次运行中的参照并列，只有比值可以跨机器比较。用时从几秒到几分钟。
Measures one thing on this machine beside its reference in the same run; only the ratios compare across machines.
Takes seconds to minutes.

${Object.entries(benches)
  .map(([name, { text }]) => `  ${name.padEnd(10)}${text}`)
  .join('\n')}

  BENCH_ROUNDS=5 BENCH_SECONDS=3   generate, redirect: 轮数与每轮秒数 / rounds, and seconds each
  BENCH_LINKS=1000,1000000         redirect: 链接数 / how many links`

const { positionals } = readFlags(help, {}, true)
const [name, ...rest] = positionals
if (name === undefined) refuse('请给出名称 / a name is missing: ' + Object.keys(benches).join('|'))
const bench = Object.hasOwn(benches, name) ? benches[name] : undefined
if (!bench || rest.length > 0) refuse(`没有这一项 / no such bench: ${positionals.join(' ')}`)
await bench.run()
process.exit(0)

// `npm run bench -- NAME`: every figure is a ratio within one run, because machines are noisy.
import { chargeBench } from './charge.ts'
import { domainBench } from './domain.ts'
import { identityBench } from './identity.ts'
import { consoleBench } from './console.ts'
import { smsBench } from './sms.ts'
import { generateBench } from './generate.ts'
import { redirectBench } from './redirect.ts'

/** Each benchmark prints a small table and returns what it measured. */
const benches: Readonly<Record<string, () => Promise<unknown>>> = {
  charge: chargeBench,
  domain: domainBench,
  identity: identityBench,
  console: consoleBench,
  sms: smsBench,
  generate: generateBench,
  redirect: redirectBench,
}

const [name] = process.argv.slice(2)
const bench = name === undefined ? undefined : benches[name]
if (!bench) {
  process.stderr.write(`用法 / usage: npm run bench -- ${Object.keys(benches).join('|')}\n`)
  process.exit(1)
}
await bench()
process.exit(0)

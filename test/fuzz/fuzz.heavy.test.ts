// The short version of `npm run fuzz`: a few thousand cases, another seed every time.
import { randomInt } from 'node:crypto'
import { it } from 'node:test'
import { engines } from '../support/engines.ts'
import { fuzz } from './fuzz.ts'

const cases = { sqlite: 2_000, postgres: 1_000 } as const

for (const engine of engines) {
  const seed = randomInt(2 ** 31)
  it(
    `${cases[engine]} cases change no ledger without a success and break nothing (${engine}, seed ${seed})`,
    {
      timeout: 300_000,
    },
    async (t) => {
      const { statuses, paid } = await fuzz(engine, cases[engine], seed)
      t.diagnostic(`fuzz: ${cases[engine]} cases, seed ${seed}, ${paid} paid, ${JSON.stringify(statuses)}`)
    },
  )
}

// Registers one fuzz test per engine, with a random seed.
import { randomInt } from 'node:crypto'
import { it } from 'node:test'
import type { Engine } from '../../server/db/database.ts'
import { engines } from '../support/engines.ts'
import { fuzz } from './fuzz.ts'

export function fuzzSuite(cases: Readonly<Record<Engine, number>>): void {
  for (const engine of engines) {
    const seed = randomInt(2 ** 31)
    const name = `${cases[engine]} cases cause no server error and no unexplained charge (${engine}, seed ${seed})`
    void it(name, async (t) => {
      const { statuses, paid } = await fuzz(engine, cases[engine], seed)
      t.diagnostic(`fuzz: ${cases[engine]} cases, seed ${seed}, ${paid} paid, ${JSON.stringify(statuses)}`)
    })
  }
}

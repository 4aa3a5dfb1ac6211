// The keyed hash that recognises a person again without storing the name or the number.
import { createHmac, hkdfSync } from 'node:crypto'
import type { Person } from './port.ts'

/** Stored in the database. Useless without the installation's secret, which is not stored there. */
export interface HashSeed {
  readonly generation: number
  readonly salt: string
}

export type HashPerson = (seed: HashSeed, person: Person) => string

/**
 * The key depends on the secret and the salt: a database dump alone cannot be searched by trying numbers, and after the
 * salt is replaced the old hashes cannot be searched at all.
 */
export function createPersonHash(secretKey: string): HashPerson {
  let cached: { readonly salt: string; readonly key: Buffer } | undefined
  return (seed, person) => {
    if (cached?.salt !== seed.salt) {
      const key = Buffer.from(hkdfSync('sha256', secretKey, seed.salt, 'tollgate identity records', 32))
      cached = { salt: seed.salt, key }
    }
    return createHmac('sha256', cached.key).update(`${person.number}\n${person.name}`).digest('base64url')
  }
}

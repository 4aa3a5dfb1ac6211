// The keyed hash that recognises the same person again without storing who it is.
import { createHmac, hkdfSync } from 'node:crypto'
import type { Person } from './port.ts'

/** Kept in the database. Without the installation's secret, which is not kept there, it opens nothing. */
export interface HashSeed {
  readonly generation: number
  readonly salt: string
}

export type HashPerson = (seed: HashSeed, person: Person) => string

/**
 * The key of the hashes comes from both: whoever has only a dump cannot try out numbers, and once the salt is replaced
 * nobody can any more.
 */
export function personHasher(secretKey: string): HashPerson {
  let known: { readonly salt: string; readonly key: Buffer } | undefined
  return (seed, person) => {
    if (known?.salt !== seed.salt) {
      const key = Buffer.from(hkdfSync('sha256', secretKey, seed.salt, 'tollgate identity records', 32))
      known = { salt: seed.salt, key }
    }
    return createHmac('sha256', known.key).update(`${person.number}\n${person.name}`).digest('base64url')
  }
}

// What is left of a person in the database and in logs: `张*`, `110105********002X`, and a keyed hash. Pure.
import { createHmac, hkdfSync } from 'node:crypto'
import type { Person } from './port.ts'

/** The first character and a star, however long the name is: its length says something too. */
export function maskName(name: string): string {
  return `${[...name][0] ?? ''}*`
}

export function maskNumber(number: string): string {
  return `${number.slice(0, 6)}********${number.slice(-4)}`
}

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

// Short codes and their places in the index (`link_code`): a code is its place, enciphered with a key that stands in the database.
//
// Links that are made one after the other stand side by side in the index, whatever its size: at random places each would
// cost a page of its own to read, to log and to write back. Their codes tell nobody so.
import { randomFillSync, randomInt } from 'node:crypto'
import type { Queries } from '../../db/database.ts'
import { secretOrder } from '../../db/permutation.ts'
import { findSetting } from '../../db/setting-store.ts'
import { alphabet, codeLength, isReserved, isUgly } from './code.ts'

export interface NewCode {
  readonly code: string
  readonly place: number
}

export interface Codes {
  /** Whether it is free, the index says. */
  make(): NewCode
  /** Goes on somewhere else: a run of others was met. */
  leap(): void
  /** Undefined for what is no code at all. */
  placeOf(code: string): number | undefined
  codeAt(place: number): string
}

/** The name under which the key is kept. It is with the codes, so that a database is whole by itself. */
const keySetting = 'link_code_key'

export async function findCodes(queries: Queries): Promise<Codes> {
  const key = await findSetting(queries, keySetting)
  if (key === undefined) throw new Error('the key of the short codes is missing in the database')
  return openCodes(Buffer.from(key, 'hex'))
}

/** Places are left out at random: not even the key and the last code tell the next one. */
const longestStep = 64

export function openCodes(key: Buffer): Codes {
  const order = secretOrder(key, alphabet.length ** 3, alphabet.length ** 4)
  let last = randomInt(order.size)
  let steps: Uint8Array = new Uint8Array()
  let taken = 0

  function nextPlace(): number {
    if (taken === steps.length) {
      steps = randomFillSync(new Uint8Array(1_024))
      taken = 0
    }
    last = (last + 1 + (steps[taken]! % longestStep)) % order.size
    taken += 1
    return last
  }

  const codeAt = (place: number) => codeOf(order.scatter(place))

  return {
    make() {
      for (;;) {
        const place = nextPlace()
        const code = codeAt(place)
        if (!isReserved(code) && !isUgly(code)) return { code, place }
      }
    },
    leap() {
      last = randomInt(order.size)
    },
    placeOf(code) {
      const number = numberOf(code)
      return number === undefined ? undefined : order.gather(number)
    },
    codeAt,
  }
}

function codeOf(number: number): string {
  let code = ''
  for (let rest = number; code.length < codeLength; rest = Math.floor(rest / alphabet.length)) {
    code += alphabet[rest % alphabet.length]!
  }
  return code
}

const digitOf = new Map(Array.from(alphabet, (character, digit) => [character.charCodeAt(0), digit]))

function numberOf(code: string): number | undefined {
  if (code.length !== codeLength) return undefined
  let number = 0
  for (let at = codeLength - 1; at >= 0; at -= 1) {
    const digit = digitOf.get(code.charCodeAt(at))
    if (digit === undefined) return undefined
    number = number * alphabet.length + digit
  }
  return number
}

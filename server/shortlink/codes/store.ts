// Short codes and their positions in the index of `link_code`: a code is its position, encrypted with a key from the database.
//
// Links that are created one after the other are adjacent in the index. At random positions each would cost a page to read, to
// log and to write. Without the key the codes do not show which ones were created together.
import { createHmac, randomFillSync, randomInt } from 'node:crypto'
import type { Queries } from '../../db/database.ts'
import { createPermutation } from '../../db/permutation.ts'
import { findSetting } from '../../db/setting-store.ts'
import { isChosenCode } from './chosen.ts'
import { alphabet, codeLength, isOffensive, isReserved } from './code.ts'

export interface NewShortCode {
  readonly code: string
  readonly position: number
}

export interface Codes {
  /** A code that is probably free; only the index knows. */
  next(): NewShortCode
  /** Continues elsewhere, after positions that another process uses. */
  jumpToRandomPosition(): void
  /** Undefined when the text cannot be a code. Negative when it is none of the codes that `next` can return. */
  positionOf(code: string): number | undefined
  /** Of a position that is not negative; the others are hashes. */
  codeAt(position: number): string
}

/** The key is stored with the codes, so that a backup of the database is complete. */
const keySetting = 'link_code_key'

export async function loadCodes(queries: Queries): Promise<Codes> {
  const key = await findSetting(queries, keySetting)
  if (key === undefined) throw new Error(`the setting ${keySetting} is missing in the database`)
  return createCodes(Buffer.from(key, 'hex'))
}

/** Positions are skipped at random, so that the next code cannot be predicted even with the key. */
const maxStep = 64

export function createCodes(key: Buffer): Codes {
  const permutation = createPermutation(key, alphabet.length ** 3, alphabet.length ** 4)
  let lastPosition = randomInt(permutation.size)
  let randomBytes: Uint8Array = new Uint8Array()
  let usedBytes = 0

  function nextPosition(): number {
    if (usedBytes === randomBytes.length) {
      randomBytes = randomFillSync(new Uint8Array(1_024))
      usedBytes = 0
    }
    lastPosition = (lastPosition + 1 + (randomBytes[usedBytes]! % maxStep)) % permutation.size
    usedBytes += 1
    return lastPosition
  }

  const codeAt = (position: number) => formatCode(permutation.encrypt(position))

  return {
    next() {
      for (;;) {
        const position = nextPosition()
        const code = codeAt(position)
        if (!isReserved(code) && !isOffensive(code)) return { code, position }
      }
    },
    jumpToRandomPosition() {
      lastPosition = randomInt(permutation.size)
    },
    positionOf(code) {
      const number = readCode(code)
      if (number !== undefined) return permutation.decrypt(number)
      return isChosenCode(code) ? hashedPosition(key, code) : undefined
    },
    codeAt,
  }
}

/**
 * 52 bits below zero. The row stores the text too, so that two texts with the same hash are never confused: the second one is
 * taken. The hash is keyed, so that such a pair cannot be searched for.
 */
function hashedPosition(key: Buffer, code: string): number {
  const digest = createHmac('sha256', key).update(`chosen code ${code}`).digest()
  return -1 - (digest.readUIntBE(0, 6) * 16 + (digest[6]! & 15))
}

function formatCode(number: number): string {
  let code = ''
  for (let rest = number; code.length < codeLength; rest = Math.floor(rest / alphabet.length)) {
    code += alphabet[rest % alphabet.length]!
  }
  return code
}

const digitOf = new Map(Array.from(alphabet, (character, digit) => [character.charCodeAt(0), digit]))

function readCode(code: string): number | undefined {
  if (code.length !== codeLength) return undefined
  let number = 0
  for (let index = codeLength - 1; index >= 0; index -= 1) {
    const digit = digitOf.get(code.charCodeAt(index))
    if (digit === undefined) return undefined
    number = number * alphabet.length + digit
  }
  return number
}

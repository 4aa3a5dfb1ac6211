// A keyed permutation of whole numbers: consecutive inputs have unrelated outputs, and each output has one input.
//
// Consecutive keys make an index fast, but public names must not show when and how many were created. So a public name is
// the encrypted position in the index: a Feistel network over two numbers, like FF1 and FF3, with HalfSipHash-2-4 as round
// function. Stored rows depend on the exact output: this code must never change, not even to improve it.
import { createHmac } from 'node:crypto'

export interface Permutation {
  /** The numbers are 0 to size - 1. */
  readonly size: number
  encrypt(position: number): number
  decrypt(number: number): number
}

const rounds = 8

/** Of the numbers below left × right. Neither factor may be larger than 2^31. */
export function createPermutation(key: Buffer, left: number, right: number): Permutation {
  const keys = Array.from({ length: rounds }, (_, round) => {
    const bytes = createHmac('sha256', key).update(`round ${round}`).digest()
    return [bytes.readInt32LE(0), bytes.readInt32LE(4)] as const
  })
  const shift = (round: number, half: number, size: number) =>
    (halfSipHash(keys[round]![0], keys[round]![1], half) >>> 0) % size

  return {
    size: left * right,
    encrypt(position) {
      let a = Math.floor(position / right)
      let b = position % right
      for (let round = 0; round < rounds; round += 2) {
        a = (a + shift(round, b, left)) % left
        b = (b + shift(round + 1, a, right)) % right
      }
      return a * right + b
    },
    decrypt(number) {
      let a = Math.floor(number / right)
      let b = number % right
      for (let round = rounds - 2; round >= 0; round -= 2) {
        b = (b - shift(round + 1, a, right) + right) % right
        a = (a - shift(round, b, left) + left) % left
      }
      return a * right + b
    },
  }
}

/** HalfSipHash-2-4 of the four little-endian bytes of a number, as a 32-bit integer. */
export function halfSipHash(key0: number, key1: number, message: number): number {
  let v0 = key0
  let v1 = key1
  let v2 = 0x6c796765 ^ key0
  let v3 = 0x74656462 ^ key1
  // The number, then a block with the length.
  for (let block = 0; block < 3; block += 1) {
    const word = block === 0 ? message : block === 1 ? 0x04000000 : 0
    v3 ^= word
    if (block === 2) v2 ^= 0xff
    for (let round = block === 2 ? 4 : 2; round > 0; round -= 1) {
      v0 = (v0 + v1) | 0
      v1 = (v1 << 5) | (v1 >>> 27)
      v1 ^= v0
      v0 = (v0 << 16) | (v0 >>> 16)
      v2 = (v2 + v3) | 0
      v3 = (v3 << 8) | (v3 >>> 24)
      v3 ^= v2
      v0 = (v0 + v3) | 0
      v3 = (v3 << 7) | (v3 >>> 25)
      v3 ^= v0
      v2 = (v2 + v1) | 0
      v1 = (v1 << 13) | (v1 >>> 19)
      v1 ^= v2
      v2 = (v2 << 16) | (v2 >>> 16)
    }
    v0 ^= word
  }
  return v1 ^ v3
}

// What remains of the visitors of a link after the day: some of their hashes, with which the visitors of several links can be
// counted together, each person once.
//
// A sketch has the smallest hashes. Hashes are spread evenly, so the number of people whose hash is below a value tells how many
// there are in all. The sketch of a day with few visitors has all hashes, so that counts with it are exact.

/** Hashes are below this; see the journal. */
const hashEnd = 2 ** 48

/** Hashes that a sketch keeps. Estimates of one day with more visitors have a standard error of 1 / √512, about 4 %. */
export const sketchSize = 512

const bytesPerHash = 6

/** Each visitor once. */
export function encodeSketch(visitors: Iterable<number>): string {
  const smallest = [...new Set(visitors)].sort((a, b) => a - b).slice(0, sketchSize)
  const bytes = Buffer.alloc(smallest.length * bytesPerHash)
  for (const [index, hash] of smallest.entries()) bytes.writeUIntBE(hash, index * bytesPerHash, bytesPerHash)
  return bytes.toString('base64')
}

export function decodeSketch(sketch: string): number[] {
  const bytes = Buffer.from(sketch, 'base64')
  return Array.from({ length: bytes.length / bytesPerHash }, (_one, index) => hashAt(bytes, index))
}

function hashAt(bytes: Buffer, index: number): number {
  return bytes.readUIntBE(index * bytesPerHash, bytesPerHash)
}

/** The people of one day who visited any of several links. */
export interface VisitorUnion {
  /** The visitors of a link, and their sketch; an empty sketch: an earlier version counted this day. */
  addCounted(visitors: number, sketch: string): void
  /** The smallest hashes of some visitors; `isPart`: there are more, and all others are larger. */
  addHashes(hashes: readonly number[], isPart: boolean): void
  /** Only hashes below this are of use. */
  readonly below: number
  count(): number
}

/** Keeps about `maxHashes` hashes. */
export function createVisitorUnion(maxHashes: number): VisitorUnion {
  let hashes = new Set<number>()
  let below = hashEnd
  let withoutSketch = 0
  let largest = 0
  let sum = 0

  function lower(end: number): void {
    if (end >= below) return
    below = end
    hashes = new Set(hashes.values().filter((hash) => hash < below))
  }
  function add(all: readonly number[], isPart: boolean): void {
    // The last one says where the known part ends, and is not counted.
    if (isPart) lower(all.at(-1) ?? below)
    for (const hash of all) if (hash < below) hashes.add(hash)
    shrink()
  }
  /** Sorting at twice the size makes it rare. */
  function shrink(): void {
    if (hashes.size > 2 * maxHashes) lower(Float64Array.from(hashes).sort()[maxHashes]!)
  }
  return {
    get below() {
      return below
    },
    addCounted(visitors, sketch) {
      if (sketch === '') {
        withoutSketch += visitors
        return
      }
      const bytes = Buffer.from(sketch, 'base64')
      const kept = bytes.length / bytesPerHash
      if (visitors > kept && kept >= sketchSize) lower(hashAt(bytes, kept - 1))
      // Sorted: those that are of no use are at the end.
      for (let index = 0; index < kept; index += 1) {
        const hash = hashAt(bytes, index)
        if (hash >= below) break
        hashes.add(hash)
      }
      shrink()
      largest = Math.max(largest, visitors)
      sum += visitors
    },
    addHashes(all, isPart) {
      add(all, isPart)
      sum = Number.POSITIVE_INFINITY
    },
    count() {
      if (below === hashEnd) return withoutSketch + hashes.size
      const estimate = Math.round((hashes.size * hashEnd) / below)
      return withoutSketch + Math.min(Math.max(estimate, largest), sum)
    },
  }
}

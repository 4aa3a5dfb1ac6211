// Buffers that large bodies are read into, used again for the next ones. V8 counts new buffers outside of its heap toward the limit at
// which it collects garbage: with two new ones for each body of a megabyte, it collected all of the heap ten times a second.

/** Free ones that are kept. A buffer that is given back is usually taken again at once. */
const maxFree = 4

export interface BodyBuffers {
  /** It contains what was in it before. */
  take(): Buffer
  giveBack(buffer: Buffer): void
}

export function createBodyBuffers(bytes: number): BodyBuffers {
  const free: Buffer[] = []
  return {
    take: () => free.pop() ?? Buffer.allocUnsafeSlow(bytes),
    giveBack(buffer) {
      if (free.length < maxFree) free.push(buffer)
    },
  }
}

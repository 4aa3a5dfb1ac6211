// Links in memory that can be called back: whoever asks the database notes the moment before, and what changed since then
// is not kept.
import { secondChance } from './clock-cache.ts'

interface Kept<V> {
  readonly value: V
  readonly mark: number
}

/** What is remembered of changes; beyond that everything is forgotten, which is always right. */
const mostChanges = 10_000

export interface LinkCache<V> {
  get(code: string): V | undefined
  /** The moment before the database is asked. */
  mark(): number
  /** Keeps what was asked for at that moment, unless it may be out of date already. */
  put(code: string, value: V, mark: number): void
  /** Link `id` has changed. */
  changed(id: number): void
  clear(): void
  size(): number
}

/** `most` is the weight that is kept. */
export function linkCache<V extends { readonly id: number }>(
  most: number,
  weightOf: (value: V) => number,
): LinkCache<V> {
  const links = secondChance<Kept<V>>(most, ({ value }) => weightOf(value))
  const changes = new Map<number, number>()
  let now = 1
  let clearedAt = 0

  const isCurrent = (value: V, mark: number) => mark >= (changes.get(value.id) ?? clearedAt)

  function clear(): void {
    links.clear()
    changes.clear()
    now += 1
    clearedAt = now
  }

  return {
    get(code) {
      const kept = links.get(code)
      return kept !== undefined && (changes.size === 0 || isCurrent(kept.value, kept.mark))
        ? kept.value
        : undefined
    },
    mark: () => now,
    put(code, value, mark) {
      if (mark >= clearedAt && isCurrent(value, mark)) links.set(code, { value, mark })
    },
    changed(id) {
      if (changes.size >= mostChanges) clear()
      now += 1
      changes.set(id, now)
    },
    clear,
    size: links.size,
  }
}

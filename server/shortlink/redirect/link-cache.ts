// A cache of links that can be invalidated while a query is running: a result that is older than a change is not stored.
import { createClockCache } from './clock-cache.ts'

interface CachedLink<V> {
  readonly value: V
  readonly version: number
}

/** When more changes are recorded, the whole cache is cleared instead. */
const maxChanges = 10_000

export interface LinkCache<V> {
  get(code: string): V | undefined
  /** To be read before a query and passed to `set` with its result. */
  version(): number
  /** Does nothing when the link may have changed since `version`. */
  set(code: string, value: V, version: number): void
  invalidate(id: number): void
  clear(): void
  size(): number
}

export function createLinkCache<V extends { readonly id: number }>(
  maxWeight: number,
  weightOf: (value: V) => number,
): LinkCache<V> {
  const links = createClockCache<CachedLink<V>>(maxWeight, ({ value }) => weightOf(value))
  const changedAt = new Map<number, number>()
  let now = 1
  let clearedAt = 0

  const isCurrent = (value: V, version: number) => version >= (changedAt.get(value.id) ?? clearedAt)

  function clear(): void {
    links.clear()
    changedAt.clear()
    now += 1
    clearedAt = now
  }

  return {
    get(code) {
      const cached = links.get(code)
      return cached !== undefined && (changedAt.size === 0 || isCurrent(cached.value, cached.version))
        ? cached.value
        : undefined
    },
    version: () => now,
    set(code, value, version) {
      if (version >= clearedAt && isCurrent(value, version)) links.set(code, { value, version })
    },
    invalidate(id) {
      if (changedAt.size >= maxChanges) clear()
      now += 1
      changedAt.set(id, now)
    },
    clear,
    size: links.size,
  }
}

// A bounded cache with clock eviction: a hit only sets a flag, so reads cost less than with an LRU list.

interface CacheSlot<V> {
  readonly key: string
  value: V
  weight: number
  /** Read since the hand last passed. */
  isUsed: boolean
}

export interface ClockCache<V> {
  get(key: string): V | undefined
  set(key: string, value: V): void
  clear(): void
  size(): number
}

/** When the weight exceeds `maxWeight`, the hand moves over the slots: it clears the flag of used ones and evicts the first other. */
export function createClockCache<V>(maxWeight: number, weightOf: (value: V) => number): ClockCache<V> {
  let slots: CacheSlot<V>[] = []
  let byKey = new Map<string, CacheSlot<V>>()
  let hand = 0
  let weight = 0

  function evictOne(): void {
    for (;;) {
      if (hand >= slots.length) hand = 0
      const slot = slots[hand]!
      if (!slot.isUsed) break
      slot.isUsed = false
      hand += 1
    }
    const evicted = slots[hand]!
    // The newest slot moves here, behind the hand.
    slots[hand] = slots.at(-1)!
    slots.pop()
    hand += 1
    byKey.delete(evicted.key)
    weight -= evicted.weight
  }

  return {
    get(key) {
      const slot = byKey.get(key)
      if (slot === undefined) return undefined
      slot.isUsed = true
      return slot.value
    },
    set(key, value) {
      const known = byKey.get(key)
      const added = weightOf(value)
      if (known === undefined) {
        const slot = { key, value, weight: added, isUsed: false }
        slots.push(slot)
        byKey.set(key, slot)
      } else {
        weight -= known.weight
        known.value = value
        known.weight = added
      }
      weight += added
      while (weight > maxWeight) evictOne()
    },
    clear() {
      slots = []
      byKey = new Map()
      hand = 0
      weight = 0
    },
    size: () => slots.length,
  }
}

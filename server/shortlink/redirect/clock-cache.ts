// A bounded memory of what was asked for lately.

interface Slot<V> {
  readonly key: string
  value: V
  weight: number
  /** Asked for since the hand came by. */
  isWanted: boolean
}

export interface SecondChance<V> {
  get(key: string): V | undefined
  set(key: string, value: V): void
  clear(): void
  size(): number
}

/**
 * Holds a weight of `most` at most. When it is full, a hand goes round over the slots like that of a clock: whoever was asked
 * for since its last round stays for another one, the first who was not goes. Unlike a list in the order of use, a hit costs
 * nothing but a mark.
 */
export function secondChance<V>(most: number, weightOf: (value: V) => number): SecondChance<V> {
  let slots: Slot<V>[] = []
  let byKey = new Map<string, Slot<V>>()
  let hand = 0
  let weight = 0

  function dropOne(): void {
    for (;;) {
      if (hand >= slots.length) hand = 0
      const slot = slots[hand]!
      if (!slot.isWanted) break
      slot.isWanted = false
      hand += 1
    }
    const dropped = slots[hand]!
    // The newest takes its place, behind the hand.
    slots[hand] = slots.at(-1)!
    slots.pop()
    hand += 1
    byKey.delete(dropped.key)
    weight -= dropped.weight
  }

  return {
    get(key) {
      const slot = byKey.get(key)
      if (slot === undefined) return undefined
      slot.isWanted = true
      return slot.value
    },
    set(key, value) {
      const known = byKey.get(key)
      const added = weightOf(value)
      if (known === undefined) {
        const slot = { key, value, weight: added, isWanted: false }
        slots.push(slot)
        byKey.set(key, slot)
      } else {
        weight -= known.weight
        known.value = value
        known.weight = added
      }
      weight += added
      while (weight > most) dropOne()
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

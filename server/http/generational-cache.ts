// A bounded memory of what was asked for lately.

/**
 * Remembers the latest, and drops the oldest half at once when it is full. Deleting one by one from the front of a Map
 * leaves holes that every next look at the front has to step over.
 */
export function twoGenerations<K, V>(half: number) {
  let young = new Map<K, V>()
  let old = new Map<K, V>()
  function set(key: K, value: V): void {
    if (young.size >= half) {
      old = young
      young = new Map()
    }
    young.set(key, value)
  }
  return {
    set,
    get(key: K): V | undefined {
      const value = young.get(key)
      if (value !== undefined) return value
      const older = old.get(key)
      if (older !== undefined) set(key, older)
      return older
    },
    delete(key: K): void {
      young.delete(key)
      old.delete(key)
    },
    clear() {
      young = new Map()
      old = new Map()
    },
    /** One that is remembered twice counts twice. */
    size: () => young.size + old.size,
  }
}

// Caches results for the current turn of the event loop: all requests of one turn had arrived before it began.

let tick = 0

export function memoizePerTick<K, V>(find: (key: K) => V): (key: K) => V {
  const found = new Map<K, V>()
  let foundIn = tick
  const clear = () => found.clear()
  return (key) => {
    if (foundIn !== tick) {
      found.clear()
      foundIn = tick
    }
    const known = found.get(key)
    if (known !== undefined) return known
    const value = find(key)
    if (value === undefined) return value
    if (found.size === 0) setImmediate(clear)
    found.set(key, value)
    return value
  }
}

/**
 * Resolves when the requests of this turn are read. What follows at once gets results of its own: the requests of the next turn
 * have not arrived yet.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
    setImmediate(() => (tick += 1))
  })
}

// Caches results for the current turn of the event loop: all requests of one turn had arrived before it began.

export function memoizePerTick<K, V>(find: (key: K) => V): (key: K) => V {
  const found = new Map<K, V>()
  const clear = () => found.clear()
  return (key) => {
    const known = found.get(key)
    if (known !== undefined) return known
    const value = find(key)
    if (value === undefined) return value
    if (found.size === 0) setImmediate(clear)
    found.set(key, value)
    return value
  }
}

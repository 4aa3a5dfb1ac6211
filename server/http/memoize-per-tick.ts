// What was found in this turn of the event loop need not be looked for again in it: everything that is answered in one turn
// had arrived before the turn began.

export function memoizePerTick<K, V>(find: (key: K) => V): (key: K) => V {
  const found = new Map<K, V>()
  const forget = () => found.clear()
  return (key) => {
    const known = found.get(key)
    if (known !== undefined) return known
    const value = find(key)
    if (value === undefined) return value
    if (found.size === 0) setImmediate(forget)
    found.set(key, value)
    return value
  }
}

// Look-ups of one key share queries: at most one runs at a time, so that a flood of one session takes one connection.
//
// A call never gets the result of a query that began before it: calls that arrive during a query share the next one.

interface SharedLookup<V> {
  readonly running: Promise<unknown>
  next: Promise<V> | undefined
}

export function shareLookups<V>(read: (key: string) => Promise<V>): (key: string) => Promise<V> {
  const lookups = new Map<string, SharedLookup<V>>()

  function start(key: string): Promise<V> {
    const result = read(key)
    const lookup: SharedLookup<V> = {
      running: result.then(
        () => undefined,
        () => undefined,
      ),
      next: undefined,
    }
    lookups.set(key, lookup)
    void lookup.running.then(() => {
      if (lookup.next === undefined) lookups.delete(key)
    })
    return result
  }

  return (key) => {
    const lookup = lookups.get(key)
    if (!lookup) return start(key)
    lookup.next ??= lookup.running.then(() => start(key))
    return lookup.next
  }
}

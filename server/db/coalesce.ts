// Lookups that arrive in one turn of the event loop become one query.

interface Waiter<V> {
  readonly resolve: (value: V | undefined) => void
  readonly reject: (error: unknown) => void
}

/** `fetchMany` gets distinct keys; a key that is missing in its result does not exist. */
export function coalesce<V>(
  fetchMany: (keys: readonly string[]) => Promise<ReadonlyMap<string, V>>,
): (key: string) => Promise<V | undefined> {
  let waiting = new Map<string, Waiter<V>[]>()

  async function flush(): Promise<void> {
    const batch = waiting
    waiting = new Map()
    try {
      const found = await fetchMany([...batch.keys()])
      for (const [key, waiters] of batch) for (const waiter of waiters) waiter.resolve(found.get(key))
    } catch (error) {
      for (const waiters of batch.values()) for (const waiter of waiters) waiter.reject(error)
    }
  }

  return (key) =>
    new Promise((resolve, reject) => {
      if (waiting.size === 0) setImmediate(() => void flush())
      const waiters = waiting.get(key)
      if (waiters) waiters.push({ resolve, reject })
      else waiting.set(key, [{ resolve, reject }])
    })
}

// Look-ups that arrive in one turn of the event loop become one question to the database.

interface Waiting<V> {
  readonly resolve: (value: V | undefined) => void
  readonly reject: (error: unknown) => void
}

/** `fetchMany` answers for a list of distinct keys; what it leaves out does not exist. */
export function coalesce<V>(
  fetchMany: (keys: readonly string[]) => Promise<ReadonlyMap<string, V>>,
): (key: string) => Promise<V | undefined> {
  let waiting = new Map<string, Waiting<V>[]>()

  async function flush(): Promise<void> {
    const batch = waiting
    waiting = new Map()
    try {
      const found = await fetchMany([...batch.keys()])
      for (const [key, askers] of batch) for (const asker of askers) asker.resolve(found.get(key))
    } catch (error) {
      for (const askers of batch.values()) for (const asker of askers) asker.reject(error)
    }
  }

  return (key) =>
    new Promise((resolve, reject) => {
      if (waiting.size === 0) setImmediate(() => void flush())
      const askers = waiting.get(key)
      if (askers) askers.push({ resolve, reject })
      else waiting.set(key, [{ resolve, reject }])
    })
}

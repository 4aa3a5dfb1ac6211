// An LRU cache that is created when it is first used: it allocates all entries at once, which takes milliseconds.
import { LRUCache } from 'lru-cache'

export function createLazyCache<Key extends number | string, Value extends object | boolean>(
  options: LRUCache.Options<Key, Value, unknown>,
): () => LRUCache<Key, Value> {
  let cache: LRUCache<Key, Value> | undefined
  return () => (cache ??= new LRUCache<Key, Value>(options))
}

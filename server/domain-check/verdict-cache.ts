// A short-lived cache of verdicts by host, shared by all accounts. Off unless DOMAIN_CACHE_S is set.
import { LRUCache } from 'lru-cache'
import type { CheckVerdict } from './port.ts'

export type VerdictCache = LRUCache<string, CheckVerdict>

/** The size is limited because random subdomains are all different. */
const maxHosts = 10_000

export function createVerdictCache(ttl: number, now: () => number = () => performance.now()): VerdictCache {
  return new LRUCache({ max: maxHosts, ttl, ttlResolution: 0, perf: { now } })
}

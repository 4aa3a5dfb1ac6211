// Verdicts remembered for a short while, by host and for everyone alike. Off unless DOMAIN_CACHE_S says otherwise.
import type { CheckVerdict } from './port.ts'

export interface VerdictCache {
  find(host: string): CheckVerdict | undefined
  keep(host: string, verdict: CheckVerdict): void
}

/** Random subdomains are all different: without a bound they would fill the memory. */
const mostHosts = 10_000

/** `clock` is monotonic, in milliseconds. */
export function createVerdictCache(
  keepMs: number,
  clock: () => number = () => performance.now(),
): VerdictCache {
  const kept = new Map<string, { readonly verdict: CheckVerdict; readonly until: number }>()
  return {
    find(host) {
      const found = kept.get(host)
      if (found === undefined) return undefined
      if (found.until > clock()) return found.verdict
      kept.delete(host)
      return undefined
    },
    keep(host, verdict) {
      // Taken out first, so that the first in the map is always the oldest.
      kept.delete(host)
      kept.set(host, { verdict, until: clock() + keepMs })
      if (kept.size <= mostHosts) return
      for (const oldest of kept.keys()) {
        kept.delete(oldest)
        return
      }
    },
  }
}

// Looks up TXT records, with the servers of DNS_SERVERS or those of the system.
import { Resolver } from 'node:dns/promises'

export type FindTxt = (name: string) => Promise<readonly string[] | undefined>

const timeoutMs = 3_000
const tries = 2

/** What a server answers for a name without TXT records. Everything else is a failure of the look-up. */
const noRecord = new Set(['ENOTFOUND', 'ENODATA'])

/** Returns no records for a name without any, and undefined when the look-up failed. */
export function createTxtLookup(servers: readonly string[]): FindTxt {
  return async (name) => {
    // A resolver of its own for each look-up: a slow server delays no other one.
    const resolver = new Resolver({ timeout: timeoutMs, tries })
    if (servers.length > 0) resolver.setServers(servers)
    try {
      return (await resolver.resolveTxt(name)).map((parts) => parts.join(''))
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : ''
      return noRecord.has(code) ? [] : undefined
    }
  }
}

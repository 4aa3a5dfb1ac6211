// The accounts' own templates that this process has used: a message of a known account needs no look-up of its template.
// PostgreSQL only.
//
// A change of a template gives its account a new version (migration 0031), and the charge is refused if the account does not have
// the version that the call relies on: the call then runs again with look-ups. Shared templates have no account, so they are
// looked up for every message.
import { hourMs } from '../../contract/time.ts'
import type { Caller } from '../accounts/authenticate.ts'
import type { Call } from '../http/call.ts'
import { createLazyCache } from '../lazy-cache.ts'
import type { UsableTemplate } from './templates.ts'

/** About 4 MB. */
const maxKnown = 2_000

/** PostgreSQL uses a version again after four billion transactions. */
const knownForMs = hourMs

interface KnownTemplate {
  readonly version: string
  readonly template: UsableTemplate
}

export interface KnownTemplates {
  find(call: Call, caller: Caller, code: string): UsableTemplate | undefined
  /** To be called with a template that was read after the account. */
  remember(call: Call, caller: Caller, template: UsableTemplate): void
}

export function createKnownTemplates(): KnownTemplates {
  const known = createLazyCache<string, KnownTemplate>({
    max: maxKnown,
    ttl: knownForMs,
    ttlResolution: 1_000,
  })
  return {
    find(call, caller, code) {
      if (!isConfirmedByCharge(call)) return undefined
      const found = known().get(keyOf(caller, code))
      return found?.version === caller.version ? found?.template : undefined
    },
    remember(call, caller, template) {
      if (!isConfirmedByCharge(call) || caller.version === undefined || !template.isOwn) return
      known().set(keyOf(caller, template.code), { version: caller.version, template })
    },
  }
}

/** Only then the charge compares the version. */
function isConfirmedByCharge({ knownAccount }: Call): boolean {
  return knownAccount === 'used'
}

function keyOf({ account }: Caller, code: string): string {
  return `${account.id} ${code}`
}

// Paid checks, as data: how each is asked, where its verdict stands, and what each value means. Unlisted values mean nothing.
import type { Verdict } from '../port.ts'

export interface HttpPreset {
  /** The parameter of the query that takes the address, and whether it wants the name alone. */
  readonly address: { readonly parameter: string; readonly as: 'host' | 'url' }
  readonly tokenParameter: string
  /** What must stand in the answer before its verdict counts. */
  readonly only?: { readonly path: string; readonly value: string }
  /** Where the verdict stands, and what its values mean. Compared as text: numbers come as both. */
  readonly verdict: { readonly path: string; readonly values: Readonly<Record<string, Verdict>> }
  /** Where the service says what is wrong; its words for "too fast", and for "nothing on this address". */
  readonly trouble: {
    readonly path: string
    readonly tooFast: readonly string[]
    readonly empty: readonly string[]
  }
}

export const httpPresets = {
  uomg: {
    address: { parameter: 'domain', as: 'host' },
    tokenParameter: 'token',
    verdict: { path: 'code', values: { '200': 'passes', '201': 'blocked' } },
    trouble: { path: 'code', tooFast: [], empty: [] },
  },
  rrbay: {
    address: { parameter: 'url', as: 'url' },
    tokenParameter: 'key',
    only: { path: 'State', value: 'true' },
    verdict: { path: 'Code', values: { '101': 'blocked', '102': 'passes' } },
    trouble: { path: 'Code', tooFast: ['002'], empty: ['103'] },
  },
  // Which platform is meant (check_type) belongs into the query of the address.
  horocn: {
    address: { parameter: 'req_url', as: 'url' },
    tokenParameter: 'api_token',
    only: { path: 'code', value: '0' },
    verdict: { path: 'data.status', values: { ok: 'passes', blocked: 'blocked' } },
    trouble: { path: 'code', tooFast: ['10001'], empty: ['10003'] },
  },
} as const satisfies Readonly<Record<string, HttpPreset>>

/** A service nobody has made a preset for, described in settings. */
export function customPreset(described: {
  readonly addressParameter: string
  readonly tokenParameter: string
  readonly verdictPath: string
  readonly passes: readonly string[]
  readonly blocked: readonly string[]
}): HttpPreset {
  const values: Record<string, Verdict> = {}
  for (const value of described.passes) values[value] = 'passes'
  // A value in both lists is a slip; the careful reading wins.
  for (const value of described.blocked) values[value] = 'blocked'
  return {
    address: { parameter: described.addressParameter, as: 'url' },
    tokenParameter: described.tokenParameter,
    verdict: { path: described.verdictPath, values },
    trouble: { path: described.verdictPath, tooFast: [], empty: [] },
  }
}

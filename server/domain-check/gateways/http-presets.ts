// Paid check APIs as data: how to call each, where its verdict is, and what each value means. Other values are no verdict.
import type { CheckVerdict } from '../port.ts'

export interface HttpPreset {
  /** The query parameter for the address, and whether it takes the host name or the URL. */
  readonly address: { readonly parameter: string; readonly as: 'host' | 'url' }
  readonly tokenParameter: string
  /** A value that the response must contain before its verdict counts. */
  readonly requires?: { readonly path: string; readonly value: string }
  /** The path of the verdict and the meaning of its values, compared as text. */
  readonly verdict: { readonly path: string; readonly values: Readonly<Record<string, CheckVerdict>> }
  /** The path of error codes, and the codes for "too fast" and "no result for this address". */
  readonly errors: {
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
    errors: { path: 'code', tooFast: [], empty: [] },
  },
  rrbay: {
    address: { parameter: 'url', as: 'url' },
    tokenParameter: 'key',
    requires: { path: 'State', value: 'true' },
    verdict: { path: 'Code', values: { '101': 'blocked', '102': 'passes' } },
    errors: { path: 'Code', tooFast: ['002'], empty: ['103'] },
  },
  // The platform (check_type) belongs in the query of DOMAIN_HTTP_URL.
  horocn: {
    address: { parameter: 'req_url', as: 'url' },
    tokenParameter: 'api_token',
    requires: { path: 'code', value: '0' },
    verdict: { path: 'data.status', values: { ok: 'passes', blocked: 'blocked' } },
    errors: { path: 'code', tooFast: ['10001'], empty: ['10003'] },
  },
} as const satisfies Readonly<Record<string, HttpPreset>>

/** An API without a preset, described in settings. */
export function customPreset(options: {
  readonly addressParameter: string
  readonly tokenParameter: string
  readonly verdictPath: string
  readonly passes: readonly string[]
  readonly blocked: readonly string[]
}): HttpPreset {
  const values: Record<string, CheckVerdict> = {}
  for (const value of options.passes) values[value] = 'passes'
  // A value in both lists counts as blocked.
  for (const value of options.blocked) values[value] = 'blocked'
  return {
    address: { parameter: options.addressParameter, as: 'url' },
    tokenParameter: options.tokenParameter,
    verdict: { path: options.verdictPath, values },
    errors: { path: options.verdictPath, tooFast: [], empty: [] },
  }
}

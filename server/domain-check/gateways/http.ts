// A paid check over HTTP: one GET with the address and our token, a JSON object with the verdict in it.
import { httpCall, type HttpAnswer, parseJsonObject } from '../../upstream/http-call.ts'
import type { Outcome } from '../../upstream/outcome.ts'
import type { DomainGateway, Verdict } from '../port.ts'
import type { HttpPreset } from './http-presets.ts'

export interface HttpSettings {
  readonly url: string
  readonly token: string | undefined
  readonly preset: HttpPreset
  readonly timeoutMs: number
}

const maxBodyBytes = 64 * 1024

export function httpGateway({ url, token, preset, timeoutMs }: HttpSettings): DomainGateway {
  return {
    name: 'http',
    async check(address, signal) {
      const target = new URL(url)
      if (token !== undefined) target.searchParams.set(preset.tokenParameter, token)
      target.searchParams.set(preset.address.parameter, address[preset.address.as])
      const result = await httpCall(
        { method: 'GET', url: target.href, headers: { accept: 'application/json' }, body: '' },
        { timeoutMs, maxBodyBytes, signal },
      )
      return result.kind === 'answer' ? readHttpAnswer(result, preset) : result
    },
  }
}

function readHttpAnswer(
  answer: Pick<HttpAnswer, 'status' | 'body' | 'truncated'>,
  preset: HttpPreset,
): Outcome<Verdict> {
  if (answer.status === 429) return { kind: 'throttled', concerns: 'us', reason: 'http_429' }
  if (answer.status !== 200) return { kind: 'ambiguous', reason: `http_${answer.status}` }
  const body = answer.truncated ? undefined : parseJsonObject(answer.body)
  if (body === undefined) return { kind: 'ambiguous', reason: 'no_json' }

  const trouble = textAt(body, preset.trouble.path) ?? ''
  if (preset.trouble.tooFast.includes(trouble))
    return { kind: 'throttled', concerns: 'us', reason: 'too_fast' }
  if (preset.trouble.empty.includes(trouble)) return { kind: 'refused', code: 'no_verdict', reason: 'empty' }
  if (preset.only && textAt(body, preset.only.path) !== preset.only.value)
    return { kind: 'ambiguous', reason: 'not_ok' }
  const value = textAt(body, preset.verdict.path) ?? ''
  if (!Object.hasOwn(preset.verdict.values, value)) return { kind: 'ambiguous', reason: 'unlisted' }
  return { kind: 'accepted', value: preset.verdict.values[value]! }
}

/** The value at `data.status`, as text; undefined when there is none, or it is no plain value. */
function textAt(body: Readonly<Record<string, unknown>>, path: string): string | undefined {
  let value: unknown = body
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = (value as Readonly<Record<string, unknown>>)[name]
  }
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined
}

// A paid check API: one GET with the address and our token, and a JSON response with the verdict.
import { httpCall, type HttpResponse } from '../../upstream/http-call.ts'
import { codeText, type JsonObject, parseJsonObject, valueAt } from '../../upstream/json.ts'
import type { Outcome } from '../../upstream/outcome.ts'
import type { DomainGateway, CheckVerdict } from '../port.ts'
import type { HttpPreset } from './http-presets.ts'

export interface HttpCheckOptions {
  readonly url: string
  readonly token: string | undefined
  readonly preset: HttpPreset
  readonly timeoutMs: number
}

const maxBodyBytes = 64 * 1024

export function createHttpGateway({ url, token, preset, timeoutMs }: HttpCheckOptions): DomainGateway {
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
      return result.kind === 'response' ? readHttpResponse(result, preset) : result
    },
  }
}

function readHttpResponse(
  response: Pick<HttpResponse, 'status' | 'body' | 'truncated'>,
  preset: HttpPreset,
): Outcome<CheckVerdict> {
  if (response.status === 429) return { kind: 'throttled', concerns: 'us', reason: 'http_429' }
  if (response.status !== 200) return { kind: 'ambiguous', reason: `http_${response.status}` }
  const body = response.truncated ? undefined : parseJsonObject(response.body)
  if (body === undefined) return { kind: 'ambiguous', reason: 'no_json' }

  const error = textAt(body, preset.errors.path) ?? ''
  if (preset.errors.tooFast.includes(error)) return { kind: 'throttled', concerns: 'us', reason: 'too_fast' }
  if (preset.errors.empty.includes(error)) return { kind: 'refused', code: 'no_verdict', reason: 'empty' }
  if (preset.requires && textAt(body, preset.requires.path) !== preset.requires.value)
    return { kind: 'ambiguous', reason: 'not_ok' }
  const value = textAt(body, preset.verdict.path) ?? ''
  if (!Object.hasOwn(preset.verdict.values, value)) return { kind: 'ambiguous', reason: 'unlisted' }
  return { kind: 'accepted', value: preset.verdict.values[value]! }
}

/** The text, number or boolean at a path, as text. */
function textAt(body: JsonObject, path: string): string | undefined {
  const value = valueAt(body, path)
  return typeof value === 'boolean' ? String(value) : codeText(value)
}

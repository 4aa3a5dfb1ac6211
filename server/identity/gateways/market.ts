// A marketplace API with an AppCode, called and read as its shape describes.
import { type HttpResponse, type HttpRequest, httpCall } from '../../upstream/http-call.ts'
import { codeText, type JsonObject, valueAt } from '../../upstream/json.ts'
import type { Outcome } from '../../upstream/outcome.ts'
import type { IdentityGateway, Person, PersonDetails, VerificationResult } from '../port.ts'
import type { MarketShape, MarketVerdict } from './market-shape.ts'
import { acceptVerdict, readResponse, refuseUnlisted } from './verdicts.ts'

export interface MarketOptions {
  /** The full URL. Query fields are appended to its query. */
  readonly url: string
  readonly appCode: string
  readonly shape: MarketShape
  readonly timeoutMs: number
}

export function createMarketGateway(options: MarketOptions): IdentityGateway {
  const { shape } = options
  return {
    name: 'market',
    async verify(person, signal) {
      const result = await httpCall(createRequest(options, person), { timeoutMs: options.timeoutMs, signal })
      if (result.kind === 'response' && result.status !== 200) return outcomeOfStatus(result)
      const read = readResponse(result)
      if (read.response === undefined) return read.failure
      return readVerdict(shape, read.json)
    },
  }
}

function createRequest({ url, appCode, shape }: MarketOptions, person: Person): HttpRequest {
  const fields = { [shape.nameField]: person.name, [shape.numberField]: person.number }
  const headers = { authorization: `APPCODE ${appCode}`, accept: 'application/json' }
  const target = new URL(url)
  if (shape.fieldsIn === 'query') {
    for (const [name, value] of Object.entries(fields)) target.searchParams.set(name, value)
    return { method: shape.method, url: target.href, headers, body: '' }
  }
  const [type, body] =
    shape.fieldsIn === 'json'
      ? ['application/json', JSON.stringify(fields)]
      : ['application/x-www-form-urlencoded; charset=UTF-8', new URLSearchParams(fields).toString()]
  return { method: shape.method, url: target.href, headers: { ...headers, 'content-type': type }, body }
}

function readVerdict(shape: MarketShape, json: JsonObject): Outcome<VerificationResult> {
  for (const [path, wanted] of Object.entries(shape.requires)) {
    const value = valueAt(json, path)
    const text = typeof value === 'boolean' ? String(value) : codeText(value)
    if (text !== wanted) return refuseUnlisted(text)
  }
  const code = codeText(valueAt(json, shape.verdictAt))
  if (code === undefined || !Object.hasOwn(shape.verdicts, code)) return refuseUnlisted(code)
  const verdict: MarketVerdict | undefined = shape.verdicts[code]
  switch (verdict) {
    case 'match':
      return acceptVerdict('match', readDetails(shape, json))
    case 'mismatch':
    case 'no_record':
      return acceptVerdict(verdict)
    case 'source_failed':
      return { kind: 'not_sent', reason: 'market_source_failed' }
    case 'not_taken':
      return { kind: 'not_sent', reason: 'market_not_taken', onlyThisRequest: true }
    case undefined:
      return refuseUnlisted(code)
  }
}

function readDetails(shape: MarketShape, json: JsonObject): PersonDetails {
  const details: Record<string, unknown> = {}
  for (const [key, paths] of Object.entries(shape.facts)) {
    details[key] = paths
      .map((path) => valueAt(json, path))
      .find((value) => value !== undefined && value !== '')
  }
  return details
}

/** The marketplace's API gateway rejects requests before it calls the API, with these headers and often no body. */
function outcomeOfStatus(response: HttpResponse): Outcome<VerificationResult> {
  const code = response.headers['x-ca-error-code'] ?? ''
  if (/^[A-Z]\d{3}[A-Z]{1,4}$/.test(code)) return { kind: 'not_sent', reason: `market_${code}` }
  const isRefusedByGateway = response.headers['x-ca-error-message'] !== undefined
  return { kind: isRefusedByGateway ? 'not_sent' : 'ambiguous', reason: `http_${response.status}` }
}

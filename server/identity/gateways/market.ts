// A marketplace API behind an AppCode: asked and read as its shape says.
import { type HttpAnswer, type HttpRequest, httpCall } from '../../upstream/http-call.ts'
import type { Outcome } from '../../upstream/outcome.ts'
import type { Facts, Finding, IdentityGateway, Person } from '../port.ts'
import type { MarketShape, MarketWord } from './market-shape.ts'
import { at, codeOf, found, type JsonObject, readAnswer, unlisted } from './reading.ts'

export interface MarketOptions {
  /** Whole, path included; fields in the query come after those it has. */
  readonly url: string
  readonly appCode: string
  readonly shape: MarketShape
  readonly timeoutMs: number
}

export function marketGateway(options: MarketOptions): IdentityGateway {
  const { shape } = options
  return {
    name: 'market',
    async ask(person, signal) {
      const result = await httpCall(requestFor(options, person), { timeoutMs: options.timeoutMs, signal })
      if (result.kind === 'answer' && result.status !== 200) return marketplaceRefusal(result)
      const read = readAnswer(result)
      if (read.answer === undefined) return read.failure
      return readVerdict(shape, read.json)
    },
  }
}

function requestFor({ url, appCode, shape }: MarketOptions, person: Person): HttpRequest {
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

function readVerdict(shape: MarketShape, json: JsonObject): Outcome<Finding> {
  for (const [path, wanted] of Object.entries(shape.requires)) {
    const value = at(json, path)
    const text = typeof value === 'boolean' ? String(value) : codeOf(value)
    if (text !== wanted) return unlisted(text)
  }
  const code = codeOf(at(json, shape.verdictAt))
  if (code === undefined || !Object.hasOwn(shape.verdicts, code)) return unlisted(code)
  const word: MarketWord | undefined = shape.verdicts[code]
  switch (word) {
    case 'match':
      return found('match', factsOf(shape, json))
    case 'mismatch':
    case 'no_record':
      return found(word)
    case 'source_failed':
      return { kind: 'not_sent', reason: 'market_source_failed' }
    case 'not_taken':
      return { kind: 'not_sent', reason: 'market_not_taken', onlyThisMessage: true }
    case undefined:
      return unlisted(code)
  }
}

function factsOf(shape: MarketShape, json: JsonObject): Facts {
  const facts: Record<string, unknown> = {}
  for (const [key, paths] of Object.entries(shape.facts)) {
    facts[key] = paths.map((path) => at(json, path)).find((value) => value !== undefined && value !== '')
  }
  return facts
}

/** The marketplace's own gateway refuses before the API is asked, with these headers and often no body at all. */
function marketplaceRefusal(answer: HttpAnswer): Outcome<Finding> {
  const code = answer.headers['x-ca-error-code'] ?? ''
  if (/^[A-Z]\d{3}[A-Z]{1,4}$/.test(code)) return { kind: 'not_sent', reason: `market_${code}` }
  const refusedByGateway = answer.headers['x-ca-error-message'] !== undefined
  return { kind: refusedByGateway ? 'not_sent' : 'ambiguous', reason: `http_${answer.status}` }
}

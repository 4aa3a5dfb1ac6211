// Masks the parameters and the response of a call before it is stored: API keys, personal data, and overlong values.
import type { RequestParameter } from '../../contract/console/responses/requests.ts'
import { hidden, maskIdNumber, maskName, maskPhone, maskPhones } from '../../contract/masking.ts'
import type { Endpoint, Operation } from '../../contract/endpoint.ts'
import type { ParameterSource } from '../../contract/parameters.ts'
import { shortlink } from '../../contract/shortlink.ts'
import { sms } from '../../contract/sms.ts'
import { isRecord } from '../../contract/values.ts'
import { parseJson } from '../http/json.ts'
import { type ParameterSources, readBearer } from '../http/parameters.ts'

const maxTextLength = 500
const maxListLength = 20
const maxNames = 100
const maxDepth = 6

/** A larger value is left out, because a cut one would look complete. */
const maxLength = 16_384

const idCardInText =
  /(?<!\d)[1-9]\d{5}(?:18|19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dXx](?![\dA-Za-z])/g
const keyInText = /tg_[0-9A-Za-z]{43,}/g

/** Of a phone number: the shortest of what is masked. */
const minSecretLength = 11

/** More than the length of a key: the longest of what is masked. */
const maxSecretLength = 64

/** Where a long text is cut: never inside of a key or a number, whose first part would not be recognized. */
function cutPosition(text: string): number {
  const earliest = maxTextLength - maxSecretLength
  let position = maxTextLength
  while (position > earliest && /\w\w/.test(text.slice(position - 1, position + 1))) position -= 1
  return position
}

/** Masks API keys, ID numbers and phone numbers anywhere in a text. */
export function maskText(text: string): string {
  const short = (text.length > maxTextLength ? `${text.slice(0, cutPosition(text))}…` : text).toWellFormed()
  // Quick checks, because most texts contain none of them.
  if (short.length < minSecretLength || !/\d{11}|tg_/.test(short)) return short
  return maskPhones(short.replaceAll(keyInText, `tg_${hidden}`).replaceAll(idCardInText, maskIdNumber))
}

type Mask = (value: unknown) => unknown

const hide: Mask = () => hidden
const asText =
  (mask: (text: string) => string): Mask =>
  (value) =>
    typeof value === 'string' || typeof value === 'number' ? mask(String(value)) : hidden
const verbatim: Mask = (value) => (typeof value === 'string' ? value.slice(0, 64) : value)

/** Longer JSON text is hidden: to parse it takes milliseconds of the event loop. */
const maxParsedLength = 65_536

/** With the limits of a body: this is what a caller sent, however the call ended. Undefined for a text that is not JSON. */
function parseOrUndefined(text: string): unknown {
  if (text.length > maxParsedLength) return undefined
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}

/** Keeps the names of variables and hides their values, which hold names and one-time codes. */
const hideValues: Mask = (value) => {
  const map = typeof value === 'string' ? parseOrUndefined(value) : value
  if (typeof map !== 'object' || map === null || Array.isArray(map)) return hidden
  return Object.fromEntries(
    Object.keys(map)
      .slice(0, maxListLength)
      .map((name) => [maskText(name), hidden]),
  )
}

/** At least seven digits, also in groups or of another country. Such a number is refused, but it belongs to a person. */
const writtenNumber = /(?<![*\p{Nd}])\p{Nd}(?:[^\p{Nd}*,;\n…]{0,3}\p{Nd}){6,}(?![*\p{Nd}])/gu

/** A text with letters is no number: it may have the name of the person in front of it. */
function hideNumbers(value: unknown): unknown {
  if (typeof value === 'string')
    return /\p{L}/u.test(value) ? hidden : value.replaceAll(writtenNumber, hidden)
  if (typeof value === 'number') return Math.abs(value) < 1e6 ? value : hidden
  if (Array.isArray(value)) return value.map(hideNumbers)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, hideNumbers(one)]))
}

const maskNumbers: Mask = (value) => {
  const items = readItems(value)
  const fields = fieldsOfItems.get('messages')!
  const known = Array.isArray(items)
    ? items.map((one: unknown) => (isRecord(one) ? hideUnknown(one, fields) : one))
    : isRecord(items)
      ? hidden
      : items
  return hideNumbers(masked(known, everywhere, 0))
}

const everywhere: Readonly<Record<string, Mask>> = {
  api_key: hide,
  password: hide,
  phone_number: asText(maskPhone),
  phone_numbers: maskNumbers,
  template_params: hideValues,
  idcard: asText(maskIdNumber),
  // A serial number that looks like an ID number.
  biz_id: verbatim,
}

/** Only parameters: in a response, `code` is the documented code. */
const secretParameters: Readonly<Record<string, Mask>> = { code: hide }

/** `name` is a person's name only in identity calls. */
const ofIdentity: Readonly<Record<string, Mask>> = {
  ...everywhere,
  name: asText(maskName),
  extra: hideValues,
}

/** Parameters that are lists of objects, with the names of their fields: messages with variables, links with passwords. */
const fieldsOfItems: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  [shortlink, sms]
    .flatMap(({ operations }) => Object.values<Operation>(operations))
    .flatMap(({ parameters }) => Object.entries(parameters))
    .flatMap(([name, { items }]) =>
      items && isRecord(items['properties']) ? [[name, new Set(Object.keys(items['properties']))]] : [],
    ),
)

const startsLikeJson = (value: unknown): value is string =>
  typeof value === 'string' && /^\s*[[{]/.test(value)

/** Forms send lists as JSON text. An item that is JSON text is refused by the operation, so it is only hidden. */
function readItems(value: unknown): unknown {
  const items = startsLikeJson(value) ? (parseOrUndefined(value) ?? hidden) : value
  return Array.isArray(items) ? items.map((one: unknown) => (startsLikeJson(one) ? hidden : one)) : items
}

/** What is no object, or has another name than the fields, is refused or ignored, but it may be personal data under a wrong name. */
function hideUnknown(item: unknown, fields: ReadonlySet<string>): unknown {
  if (!isRecord(item)) return hidden
  return Object.fromEntries(
    Object.keys(item)
      .slice(0, maxNames)
      .map((name) => [name, fields.has(name) ? item[name] : hidden]),
  )
}

/** Those that are not shown are only counted. */
function keepFields(value: unknown, fields: ReadonlySet<string>): unknown {
  const items = readItems(value)
  if (!Array.isArray(items)) return hidden
  return items.map((one: unknown, index) => (index < maxListLength ? hideUnknown(one, fields) : hidden))
}

/** A caller chooses the names: `constructor` and `__proto__` have no mask. */
function maskOf(masks: Readonly<Record<string, Mask>>, name: string): Mask | undefined {
  return Object.hasOwn(masks, name) ? masks[name] : undefined
}

function masksOf(endpoint: Endpoint): Readonly<Record<string, Mask>> {
  return endpoint.name === 'identity' ? ofIdentity : everywhere
}

/** How many bytes of a call are stored. */
export interface StoredSize {
  readonly parameters: number
  readonly response: number
  readonly message: number
}

/** A paid call is stored as a whole, up to a limit. */
export const paidSize: StoredSize = { parameters: maxLength, response: maxLength, message: maxTextLength }

/** A failed or free call takes about 1 kB in all: callers can make any number of them. */
export const unpaidSize: StoredSize = { parameters: 400, response: 300, message: 150 }

/** Values of an unpaid call are cut to this length when they do not fit. */
const cutLength = 40

/** The parameters with their sources, as JSON. */
export function maskParameters(
  endpoint: Endpoint,
  sources: ParameterSources,
  found: Readonly<Record<string, ParameterSource>>,
  maxBytes: number = maxLength,
): string {
  const masks = masksOf(endpoint)
  const parameters = Object.entries(found).map(([name, source]): RequestParameter => {
    const value = readSentValue(sources, name, source)
    const mask = maskOf(masks, name) ?? maskOf(secretParameters, name)
    if (mask) return { name, source, value: mask(value) }
    const fields = fieldsOfItems.get(name)
    return { name, source, value: masked(fields ? keepFields(value, fields) : value, masks, 0) }
  })
  const text = JSON.stringify(parameters)
  if (Buffer.byteLength(text) <= maxBytes) return text
  const cut = JSON.stringify(parameters.map((one) => ({ ...one, value: cutValue(one.value) })))
  if (Buffer.byteLength(cut) <= maxBytes) return cut
  return JSON.stringify(parameters.map(({ name, source }) => ({ name, source, value: '…' })))
}

function cutValue(value: unknown): unknown {
  if (typeof value === 'string')
    return value.length > cutLength ? `${value.slice(0, cutLength).toWellFormed()}…` : value
  return typeof value === 'object' && value !== null ? '…' : value
}

/** The response as JSON; null when it is too large. */
export function maskResponse(endpoint: Endpoint, body: unknown, maxBytes: number = maxLength): string | null {
  const text = JSON.stringify(masked(body, masksOf(endpoint), 0))
  return Buffer.byteLength(text) <= maxBytes ? text : null
}

export function readSentValue(sources: ParameterSources, name: string, source: ParameterSource): unknown {
  if (source === 'bearer') return readBearer(sources.headers.authorization)
  if (source !== 'header') return sources[source]?.[name]
  const raw = sources.headers[name] ?? sources.headers[name.replaceAll('_', '-')]
  return typeof raw === 'string' ? Buffer.from(raw, 'latin1').toString('utf8') : raw
}

function masked(value: unknown, masks: Readonly<Record<string, Mask>>, depth: number): unknown {
  if (typeof value === 'string') return maskText(value)
  if (typeof value === 'number' && Number.isSafeInteger(value) && value > 1e10) {
    const text = maskText(String(value))
    return text === String(value) ? value : text
  }
  if (typeof value !== 'object' || value === null) return value
  if (depth >= maxDepth) return '…'
  if (Array.isArray(value)) {
    const kept = value.slice(0, maxListLength).map((one) => masked(one, masks, depth + 1))
    if (value.length > maxListLength) kept.push(`… ${value.length - maxListLength}`)
    return kept
  }
  if (value instanceof Map) return masked(Object.fromEntries(value), masks, depth)
  // Without a prototype, `__proto__` is a name like any other.
  const kept = Object.create(null) as Record<string, unknown>
  for (const name of Object.keys(value).slice(0, maxNames)) {
    const one = (value as Readonly<Record<string, unknown>>)[name]
    const mask = maskOf(masks, name)
    kept[maskText(name)] = mask ? mask(one) : masked(one, masks, depth + 1)
  }
  return kept
}

// Reads vendors' JSON without trusting its shape.
import { isRecord } from '../../contract/values.ts'

export type JsonObject = Readonly<Record<string, unknown>>

/** Undefined for everything but a JSON object. Never throws. */
export function parseJsonObject(text: string): JsonObject | undefined {
  const value = parseJson(text)
  return isRecord(value) ? value : undefined
}

/** Like `parseJsonObject`, but an integer beyond 2^53 is a string of its digits, as in a push: an id keeps all of them. */
export function parseExactJsonObject(text: string): JsonObject | undefined {
  const value = parseJson(text, keepDigits)
  return isRecord(value) ? value : undefined
}

/** TypeScript does not know the third argument of a reviver yet: the text of the value. */
function keepDigits(_name: string, value: unknown, context?: { readonly source?: string }): unknown {
  const isLong = typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)
  return isLong && /^-?\d+$/.test(context?.source ?? '') ? context?.source : value
}

function parseJson(text: string, reviver?: typeof keepDigits): unknown {
  try {
    return JSON.parse(text, reviver)
  } catch {
    return undefined
  }
}

/** The value at a path such as `data.result`. */
export function valueAt(json: unknown, path: string): unknown {
  let value = json
  for (const key of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as JsonObject)[key]
  }
  return value
}

/** Vendors write codes as text or as numbers. Other values are not codes, true and false included. */
export function codeText(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
}

/** An id: a number, or text of at most 128 characters. */
export function idText(value: unknown): string | undefined {
  const text = codeText(value)
  return text !== undefined && text !== '' && text.length <= 128 && !text.includes('\0') ? text : undefined
}

/** A code that may be stored and logged; '' for everything that does not look like one. */
export function storableCode(value: unknown): string {
  return typeof value === 'string' && /^[\w.:-]{1,64}$/.test(value) ? value : ''
}

// How a parameter of the public interface is described, with all its limits, and the type of its value.
import type { Text } from './text.ts'

/**
 * `list` is a list of strings (`urls`), `map` an object of strings by name (`template_params`), `items` a list of JSON
 * values (`messages`) that the operation checks one by one.
 * A number in a map is read as its decimal digits; items of a list must be strings.
 */
export type ParameterType = 'string' | 'integer' | 'boolean' | 'list' | 'map' | 'items'

/**
 * Every limit of a parameter is stated here and nowhere else: the products import it for their checks, the console for
 * its forms, and the reference and the OpenAPI document print it.
 */
export interface Parameter {
  readonly type: ParameterType
  readonly required: boolean
  readonly text: Text
  readonly example?: unknown
  readonly enum?: readonly string[]
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly maxItems?: number
  /** JSON Schema of an item of `items`. */
  readonly items?: Readonly<Record<string, unknown>>
  readonly default?: string | boolean | number
}

export type Parameters = Readonly<Record<string, Parameter>>

/** Where a parameter was found, by priority. `bearer` is the header `Authorization: Bearer` and holds only the API key. */
export const parameterSources = ['header', 'json', 'form', 'query', 'bearer'] as const

export type ParameterSource = (typeof parameterSources)[number]

interface ValueOf {
  string: string
  integer: number
  boolean: boolean
  list: readonly string[]
  map: ReadonlyMap<string, string>
  items: readonly unknown[]
}

/** The values of a set of parameters; optional ones may be undefined. */
export type Values<P extends Parameters> = {
  readonly [K in keyof P]: P[K]['required'] extends true
    ? ValueOf[P[K]['type']]
    : ValueOf[P[K]['type']] | undefined
}

const jsonTypes = {
  string: 'string',
  integer: 'integer',
  boolean: 'boolean',
  list: 'array',
  map: 'object',
  items: 'array',
} as const

/** What has the same name and meaning in JSON Schema. */
const schemaNames = new Set<string>([
  'enum',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'maxItems',
  'items',
] satisfies (keyof Parameter)[])

/** JSON Schema of a parameter, without texts, example and default. */
export function valueSchema(parameter: Parameter): Readonly<Record<string, unknown>> {
  const { type } = parameter
  return {
    type: jsonTypes[type],
    ...(type === 'list' && { items: { type: 'string' }, minItems: 1 }),
    ...(type === 'items' && { minItems: 1 }),
    ...(type === 'map' && { additionalProperties: { type: ['string', 'number'] } }),
    ...Object.fromEntries(Object.entries(parameter).filter(([name]) => schemaNames.has(name))),
  }
}

/** JSON Schema of an object with these parameters, without texts. */
export function objectSchema(parameters: Parameters): Readonly<Record<string, unknown>> {
  const entries = Object.entries(parameters)
  return {
    type: 'object',
    properties: Object.fromEntries(entries.map(([name, parameter]) => [name, valueSchema(parameter)])),
    required: entries.filter(([, { required }]) => required).map(([name]) => name),
  }
}

/** The description of a parameter followed by its allowed values, length and default. */
export function describeParameter(parameter: Parameter): Text {
  const { text, enum: values, minLength, maxLength, minimum, maximum, maxItems } = parameter
  const { default: byDefault } = parameter
  const zh = [text.zh]
  const en = [text.en]
  if (values) {
    zh.push(values.join('、'))
    en.push(values.join(', '))
  }
  if (maxLength !== undefined) {
    const length =
      minLength === undefined
        ? `≤ ${maxLength}`
        : minLength === maxLength
          ? `${maxLength}`
          : `${minLength}–${maxLength}`
    zh.push(`${length} 个字符`)
    en.push(`${length} characters`)
  }
  if (minimum !== undefined && maximum !== undefined) {
    zh.push(`${minimum}–${maximum}`)
    en.push(`${minimum}–${maximum}`)
  }
  if (maxItems !== undefined) {
    zh.push(`最多 ${maxItems} 项`)
    en.push(`at most ${maxItems} items`)
  }
  if (byDefault !== undefined) {
    zh.push(`默认 ${byDefault}`)
    en.push(`default ${byDefault}`)
  }
  return { zh: zh.join(' · '), en: en.join(' · ') }
}

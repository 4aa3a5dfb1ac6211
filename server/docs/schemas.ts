// JSON Schema (2020-12) for the OpenAPI document, from the parameters and the TypeBox responses of the contract.
import type { TSchema } from 'typebox'
import type { Parameter, Parameters } from '../../contract/parameters.ts'
import type { Language, Text } from '../../contract/text.ts'

export type JsonObject = Record<string, unknown>

export type JsonSchema = { readonly [key: string]: unknown }

/** A response schema of the contract. */
export interface ResponseSchema {
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'object' | 'array'
  readonly text: Text
  readonly enum?: readonly (string | number | boolean)[]
  readonly properties?: Readonly<Record<string, ResponseSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: unknown
  readonly items?: ResponseSchema
}

/** Replaces the texts in both languages by descriptions in one. */
export function responseSchema(schema: TSchema, language: Language): JsonSchema {
  const { text, properties, items, ...rest } = schema as ResponseSchema
  return {
    ...rest,
    description: text[language],
    ...(properties && {
      properties: mapValues(properties, (one) => responseSchema(one, language)),
    }),
    ...(items && { items: responseSchema(items, language) }),
  }
}

const jsonTypes = {
  string: 'string',
  integer: 'integer',
  boolean: 'boolean',
  list: 'array',
  map: 'object',
} as const

function parameterSchema(parameter: Parameter, language: Language): JsonSchema {
  const { type, text, example, required: _required, ...limits } = parameter
  return {
    type: jsonTypes[type],
    description: text[language],
    ...(type === 'list' && { items: { type: 'string' }, minItems: 1 }),
    ...(type === 'map' && { additionalProperties: { type: ['string', 'number'] } }),
    ...limits,
    ...(example !== undefined && { examples: [example] }),
  }
}

export function parametersSchema(
  parameters: Parameters,
  language: Language,
): { properties: Record<string, JsonSchema>; required: string[] } {
  return {
    properties: mapValues(parameters, (parameter) => parameterSchema(parameter, language)),
    required: Object.keys(parameters).filter((name) => parameters[name]!.required),
  }
}

function mapValues<T, U>(object: Readonly<Record<string, T>>, map: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, map(value)]))
}

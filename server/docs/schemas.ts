// JSON Schema (2020-12) for the OpenAPI document, from the parameters and the TypeBox responses of the contract.
import type { TSchema } from 'typebox'
import { type Parameter, type Parameters, valueSchema } from '../../contract/parameters.ts'
import type { Text } from '../../contract/text.ts'

export type SchemaObject = Record<string, unknown>

/** Turns a text into the language of the document. */
export type Translate = (text: Text) => string

export type JsonSchema = { readonly [key: string]: unknown }

/** A response schema of the contract. */
export interface ResponseSchema {
  /** Undefined for a value of several types: see `anyOf`. */
  readonly type?: 'string' | 'integer' | 'number' | 'boolean' | 'object' | 'array' | 'null'
  /** Items of a list and the types of a value may have none: the list and the value have one. */
  readonly text?: Text
  readonly anyOf?: readonly ResponseSchema[]
  readonly enum?: readonly (string | number | boolean)[]
  readonly properties?: Readonly<Record<string, ResponseSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: unknown
  readonly items?: ResponseSchema
}

/** Replaces the texts by descriptions in the language of the document. */
export function responseSchema(schema: TSchema, translate: Translate): JsonSchema {
  const { text, properties, items, anyOf, ...rest } = schema as ResponseSchema
  return {
    ...rest,
    ...(text && { description: translate(text) }),
    ...(anyOf && { anyOf: anyOf.map((one) => responseSchema(one, translate)) }),
    ...(properties && {
      properties: mapValues(properties, (one) => responseSchema(one, translate)),
    }),
    ...(items && { items: responseSchema(items, translate) }),
  }
}

/** Generated clients treat a property with a `default` as required, so the default is in the description. */
function parameterSchema(parameter: Parameter, translate: Translate): JsonSchema {
  const { text, example, default: byDefault } = parameter
  const described =
    byDefault === undefined
      ? text
      : { zh: `${text.zh}，默认 ${byDefault}`, en: `${text.en}; default ${byDefault}` }
  const { type, ...limits } = valueSchema(parameter)
  return {
    type,
    description: translate(described),
    ...limits,
    ...(example !== undefined && { examples: [example] }),
  }
}

export function parametersSchema(
  parameters: Parameters,
  translate: Translate,
): { properties: Record<string, JsonSchema>; required: string[] } {
  return {
    properties: mapValues(parameters, (parameter) => parameterSchema(parameter, translate)),
    required: Object.keys(parameters).filter((name) => parameters[name]!.required),
  }
}

function mapValues<T, U>(object: Readonly<Record<string, T>>, map: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, map(value)]))
}

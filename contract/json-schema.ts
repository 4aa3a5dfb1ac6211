// Parameters and answers as JSON Schema (2020-12), for the OpenAPI document and the tests.
import type { Parameter, Parameters } from './parameters.ts'
import type { Field } from './reference.ts'
import type { Language } from './text.ts'

export type JsonSchema = { readonly [key: string]: unknown }

export function fieldSchema(field: Field, language: Language): JsonSchema {
  const description = field.text[language]
  switch (field.type) {
    case 'object': {
      const fields = Object.entries(field.fields ?? {})
      return {
        type: 'object',
        description,
        properties: Object.fromEntries(fields.map(([name, one]) => [name, fieldSchema(one, language)])),
        required: fields.filter(([, one]) => !one.optional).map(([name]) => name),
        additionalProperties: false,
      }
    }
    case 'map':
      return { type: 'object', description, additionalProperties: { type: 'string' } }
    case 'list':
      return {
        type: 'array',
        description,
        ...(field.items ? { items: fieldSchema(field.items, language) } : {}),
        ...(field.most === undefined ? {} : { maxItems: field.most }),
      }
    default:
      return {
        type: field.type,
        description,
        ...(field.values ? { enum: field.values } : {}),
        ...(field.pattern ? { pattern: field.pattern } : {}),
        ...(field.least === undefined ? {} : { minimum: field.least }),
        ...(field.most === undefined ? {} : { maximum: field.most }),
      }
  }
}

const typeOf = {
  string: 'string',
  integer: 'integer',
  boolean: 'boolean',
  list: 'array',
  map: 'object',
} as const

function parameterSchema(parameter: Parameter, language: Language): JsonSchema {
  return {
    type: typeOf[parameter.type],
    description: parameter.text[language],
    ...(parameter.type === 'list' ? { items: { type: 'string' }, minItems: 1 } : {}),
    ...(parameter.type === 'map' ? { additionalProperties: { type: ['string', 'number'] } } : {}),
    ...picked(parameter, ['enum', 'pattern', 'minLength', 'maxLength', 'default']),
    ...(parameter.example === undefined ? {} : { examples: [parameter.example] }),
  }
}

function picked(parameter: Parameter, names: readonly (keyof Parameter)[]): JsonSchema {
  return Object.fromEntries(
    names.filter((name) => parameter[name] !== undefined).map((name) => [name, parameter[name]]),
  )
}

export function parametersSchema(
  parameters: Parameters,
  language: Language,
): { properties: Record<string, JsonSchema>; required: string[] } {
  const entries = Object.entries(parameters)
  return {
    properties: Object.fromEntries(
      entries.map(([name, parameter]) => [name, parameterSchema(parameter, language)]),
    ),
    required: entries.filter(([, { required }]) => required).map(([name]) => name),
  }
}

// Reads the input of a console route by its schema: keeps declared fields only and names every wrong one.
import { isRecord, isStorableText } from '../../contract/values.ts'
import type { Static, TObject, TSchema } from 'typebox'
import { Compile } from 'typebox/schema'
import type { Route } from '../../contract/console/route.ts'
import type { Text } from '../../contract/text.ts'
import { type FieldProblems, invalidFields } from './problem.ts'

export type Reader<Input> = (given: unknown) => Input

/** Reads the query of a GET and the body of every other method. */
export function inputReader<Input>(route: Route<Input, unknown>): Reader<Input> {
  const reader = route.method === 'GET' ? readQuery(route.input) : readBody(route.input)
  return reader as Reader<unknown> as Reader<Input>
}

interface SchemaField {
  readonly name: string
  readonly schema: TSchema
  readonly required: boolean
  readonly compiled: ReturnType<typeof Compile>
}

/** Undeclared fields (`role`, `remaining`, `account_id` …) are dropped. */
export function readBody<S extends TObject>(schema: S): Reader<Static<S>> {
  const fields = compileOnce(schema)
  return (given) => read(fields(), isRecord(given) ? given : {}) as Static<S>
}

/** Every value of a query is text: numbers and booleans are parsed, an empty text counts as left out. */
export function readQuery<S extends TObject>(schema: S): Reader<Static<S>> {
  const fields = compileOnce(schema)
  return (given) => {
    const texts = isRecord(given) ? given : {}
    const values: Record<string, unknown> = {}
    for (const { name, schema: one } of fields()) {
      const text = Object.hasOwn(texts, name) ? texts[name] : undefined
      if (typeof text !== 'string' || text === '') continue
      values[name] = fromText(one, text)
    }
    return read(fields(), values) as Static<S>
  }
}

/** Compiles a schema when its route is called for the first time: all of them would delay every start. */
function compileOnce(schema: TObject): () => readonly SchemaField[] {
  let fields: readonly SchemaField[] | undefined
  return () => (fields ??= compileFields(schema))
}

function compileFields(schema: TObject): readonly SchemaField[] {
  const required = new Set(schema.required)
  return Object.entries(schema.properties).map(([name, one]) => ({
    name,
    schema: one,
    required: required.has(name),
    compiled: Compile(one),
  }))
}

function read(
  fields: readonly SchemaField[],
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  const problems: Record<string, Text> = {}
  for (const { name, schema, required, compiled } of fields) {
    const value = Object.hasOwn(given, name) ? given[name] : undefined
    if (value === undefined || (value === '' && required)) {
      if (required) problems[name] = { zh: '必填', en: 'Required' }
      continue
    }
    const taken = declared(schema, value)
    if (compiled.Check(taken) && isStorable(taken)) values[name] = taken
    else problems[name] = problemOf(schema)
  }
  if (Object.keys(problems).length > 0) throw invalidFields(problems satisfies FieldProblems)
  return values
}

/** Keeps the declared properties of an object. */
function declared(schema: TSchema, value: unknown): unknown {
  const { properties } = schema as { properties?: Readonly<Record<string, TSchema>> }
  if (!properties || !isRecord(value)) return value
  const taken: Record<string, unknown> = {}
  for (const [name, one] of Object.entries(properties)) {
    if (Object.hasOwn(value, name)) taken[name] = declared(one, value[name])
  }
  return taken
}

interface Rules {
  readonly type?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Rules[]
  /** The message of a schema with a rule of its own. */
  readonly problem?: Text
}

/** The message says what the field must be, whatever was wrong. */
function problemOf(schema: TSchema): Text {
  const rules = schema as Rules
  const [chosen] = rules.anyOf?.filter((one) => one.type !== 'null') ?? []
  if (rules.problem) return rules.problem
  if (chosen) return problemOf(chosen as TSchema)
  if (rules.enum) {
    return { zh: `只能是 ${rules.enum.join('、')}`, en: `Must be one of ${rules.enum.join(', ')}` }
  }
  switch (rules.type) {
    case 'integer':
      return {
        zh: `必须是 ${rules.minimum ?? 0} 至 ${rules.maximum ?? Number.MAX_SAFE_INTEGER} 的整数`,
        en: `Must be a whole number from ${rules.minimum ?? 0} to ${rules.maximum ?? Number.MAX_SAFE_INTEGER}`,
      }
    case 'boolean':
      return { zh: '必须是 true 或 false', en: 'Must be true or false' }
    case 'string':
      return {
        zh: `必须是 ${rules.minLength ?? 0} 至 ${rules.maxLength ?? ''} 个字符的文本`,
        en: `Must be text of ${rules.minLength ?? 0} to ${rules.maxLength ?? ''} characters`,
      }
    default:
      return { zh: '格式有误', en: 'Invalid format' }
  }
}

function fromText(schema: TSchema, text: string): unknown {
  const { type } = schema as Rules
  if (type === 'integer') return /^-?\d{1,16}$/.test(text) ? Number(text) : text
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text
  return text
}

function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return isStorableText(value)
  if (Array.isArray(value)) return value.every(isStorable)
  return isRecord(value) ? Object.values(value).every(isStorable) : true
}

// Paths and schemas of the OpenAPI document.
//
// OpenAPI has one operation per path and method, this interface has several, selected by `action`. So each operation has its
// own request and response schemas, the path combines them, and `x-tollgate-operations` lists them.
import type { Endpoint, Operation } from '../../contract/endpoint.ts'
import type { Parameter, Parameters } from '../../contract/parameters.ts'
import type { ErrorCase, Example, OperationReference } from '../../contract/reference.ts'
import { type DocumentedEndpoint, sharedErrors } from '../../contract/reference/interface.ts'
import type { Config } from '../config.ts'
import { type DocumentedOperation, exampleBody, operationId, operationsOf, sentStatus } from './operations.ts'
import {
  type SchemaObject,
  type JsonSchema,
  parametersSchema,
  responseSchema,
  type Translate,
} from './schemas.ts'

export function schemasOf(documented: DocumentedEndpoint, translate: Translate): SchemaObject {
  const schemas: SchemaObject = {}
  for (const one of operationsOf(documented)) {
    schemas[`${one.id}Request`] = requestSchema(documented.endpoint, one, translate)
    schemas[`${one.id}Answer`] = responseSchema(one.reference.response, translate)
  }
  return schemas
}

/** Credentials may also be sent in headers or the query, so they are not required here. */
function requestSchema(
  endpoint: Endpoint,
  { operation }: DocumentedOperation,
  translate: Translate,
): JsonSchema {
  const own = parametersSchema(operation.parameters, translate)
  const { action, ...credentials } = parametersSchema(endpoint.common, translate).properties
  return {
    type: 'object',
    description: translate(operation.text),
    properties: {
      ...(action ? { action: { type: 'string', enum: operation.actions } } : {}),
      ...own.properties,
      ...credentials,
    },
    required: [...(action ? ['action'] : []), ...own.required],
  }
}

export function pathItem(documented: DocumentedEndpoint, config: Config, translate: Translate): SchemaObject {
  const { endpoint } = documented
  const item: SchemaObject = {}
  for (const method of endpoint.methods) {
    item[method.toLowerCase()] = {
      operationId: operationId(endpoint, method.toLowerCase()),
      ...shared(documented, config, translate),
      ...(method === 'GET' ? getInput(documented, translate) : postInput(documented, translate)),
    }
  }
  return item
}

function shared(documented: DocumentedEndpoint, config: Config, translate: Translate): SchemaObject {
  const { endpoint, title } = documented
  const operations = operationsOf(documented)
  return {
    tags: [endpoint.name],
    summary: translate(title),
    description: operations
      .map(({ operation }) => `- ${actionsOf(operation)}${translate(operation.text)}`)
      .join('\n'),
    security: securityOf(endpoint),
    responses: responses(documented, config, translate),
    'x-tollgate-operations': operations.map(({ id, name, operation, reference }) => ({
      id,
      name,
      actions: operation.actions,
      summary: operation.text,
      notes: reference.notes,
      cost: costOf(reference, config),
      scope: operation.scope,
      idempotencyKey: reference.price !== undefined,
      request: { $ref: `#/components/schemas/${id}Request` },
      answer: { $ref: `#/components/schemas/${id}Answer` },
      errors: reference.errors.map((error) => ({
        ...error,
        status: sentStatus(endpoint, error.status, config),
      })),
    })),
  }
}

/**
 * Credentials in headers, in the query, or in the body. OpenAPI cannot describe the last as a security scheme: the empty
 * requirement says that headers and query may be without, and the request schemas have the properties.
 */
function securityOf(endpoint: Endpoint): SchemaObject[] {
  const needsUsername = 'username' in endpoint.common
  return [
    { apiKey: [], ...(needsUsername && { username: [] }) },
    { bearer: [], ...(needsUsername && { username: [] }) },
    { apiKeyInQuery: [], ...(needsUsername && { usernameInQuery: [] }) },
    {},
  ]
}

function actionsOf(operation: Operation): string {
  return operation.actions.length === 0 ? '' : `\`${operation.actions.join('`, `')}\`: `
}

function costOf(reference: OperationReference, config: Config): SchemaObject | null {
  const { price } = reference
  return price ? { credits: config.PRICES[price.name], per: price.per, api_type: price.apiType } : null
}

const idempotencyKey = { $ref: '#/components/parameters/idempotencyKey' }

function postInput(documented: DocumentedEndpoint, translate: Translate): SchemaObject {
  const { endpoint } = documented
  const schema = oneOfOperations(documented, 'Request')
  const examples = requestExamples(documented, translate)
  const content: SchemaObject = { 'application/json': { schema, examples } }
  if (endpoint.readsForms) {
    content['application/x-www-form-urlencoded'] = { schema, ...formEncoding(endpoint) }
  }
  return { parameters: [idempotencyKey], requestBody: { required: true, content } }
}

/** In forms as in queries, a list repeats its name and an object is `name[key]`. */
const serialization = {
  list: { style: 'form', explode: true },
  map: { style: 'deepObject', explode: true },
} as const

/** OpenAPI has no style for a list of objects. */
function serializationOf({ type, items }: Parameter): SchemaObject | undefined {
  if (type === 'items') return items?.['type'] === 'string' ? serialization.list : undefined
  return type === 'list' || type === 'map' ? serialization[type] : undefined
}

function formEncoding(endpoint: Endpoint): SchemaObject {
  const encoding: SchemaObject = {}
  for (const { parameters } of Object.values(endpoint.operations)) {
    for (const [name, parameter] of Object.entries(parameters)) {
      const serialized = serializationOf(parameter)
      if (serialized) encoding[name] = serialized
    }
  }
  return Object.keys(encoding).length === 0 ? {} : { encoding }
}

/** Lists the parameters of all operations; `x-tollgate-operations` shows which belong together. */
function getInput(documented: DocumentedEndpoint, translate: Translate): SchemaObject {
  const operations = operationsOf(documented)
  const actions = operations.flatMap(({ operation }) => operation.actions)
  const { action, ...credentials } = documented.endpoint.common
  const parameters: SchemaObject[] = []
  if (action) {
    parameters.push({
      name: 'action',
      in: 'query',
      required: true,
      description: translate(action.text),
      schema: { type: 'string', enum: actions },
    })
  }
  const seen = new Set<string>()
  const all: Parameters[] = [...operations.map(({ operation }) => operation.parameters), credentials]
  for (const some of all) {
    const { properties, required } = parametersSchema(some, translate)
    for (const [name, schema] of Object.entries(properties)) {
      if (seen.has(name)) continue
      seen.add(name)
      parameters.push({
        name,
        in: 'query',
        required: some !== credentials && operations.length === 1 && required.includes(name),
        description: schema['description'],
        schema,
        ...serializationOf(some[name]!),
      })
    }
  }
  return { parameters: [...parameters, idempotencyKey] }
}

function oneOfOperations(documented: DocumentedEndpoint, what: 'Request' | 'Answer'): JsonSchema {
  const operations = operationsOf(documented)
  const [only] = operations
  const refOf = (one: DocumentedOperation) => `#/components/schemas/${one.id}${what}`
  if (operations.length === 1 && only) return { $ref: refOf(only) }
  const mapping: Record<string, string> = {}
  for (const one of operations) for (const action of one.operation.actions) mapping[action] = refOf(one)
  return {
    // Responses of two operations may be equal (two empty lists); requests differ in their action.
    [what === 'Request' ? 'oneOf' : 'anyOf']: operations.map((one) => ({ $ref: refOf(one) })),
    ...(what === 'Request' ? { discriminator: { propertyName: 'action', mapping } } : {}),
  }
}

/** Requests that succeed. Those of errors may violate the schema; the responses have the examples of errors. */
function requestExamples(documented: DocumentedEndpoint, translate: Translate): SchemaObject {
  return namedExamples(
    operationsOf(documented),
    ({ status }) => status === 200,
    (one, example) => exampleBody(documented.endpoint, one.operation, example),
    translate,
  )
}

function namedExamples(
  operations: readonly DocumentedOperation[],
  has: (example: Example) => boolean,
  valueOf: (one: DocumentedOperation, example: Example) => unknown,
  translate: Translate,
): SchemaObject {
  const examples: SchemaObject = {}
  for (const one of operations) {
    for (const [index, example] of one.reference.examples.entries()) {
      if (!has(example)) continue
      const { text } = one.operation
      examples[`${one.name}_${index + 1}`] = {
        summary: translate({
          zh: `${text.zh}：${example.title.zh}`,
          en: `${text.en}: ${example.title.en}`,
        }),
        value: valueOf(one, example),
      }
    }
  }
  return examples
}

const headersOfAll = { 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' } }
const headersOfSuccess = {
  ...headersOfAll,
  RateLimit: { $ref: '#/components/headers/RateLimit' },
  'RateLimit-Policy': { $ref: '#/components/headers/RateLimit-Policy' },
  'Idempotent-Replayed': { $ref: '#/components/headers/Idempotent-Replayed' },
}
const retryStatuses = new Set([409, 429, 503])

function responses(documented: DocumentedEndpoint, config: Config, translate: Translate): SchemaObject {
  const { endpoint } = documented
  const operations = operationsOf(documented)
  const errorRef = {
    $ref: `#/components/schemas/${endpoint.shape === 'shortlink' ? 'ShortlinkError' : 'CodeError'}`,
  }
  const cases = [
    ...sharedErrors.map((one) => errorOn(endpoint, one)),
    ...operations.flatMap((one) => one.reference.errors),
  ].map((one) => ({ ...one, status: sentStatus(endpoint, one.status, config) }))
  const contentOf = (schema: JsonSchema, status: number) => {
    const has = (example: Example) => sentStatus(endpoint, example.status, config) === status
    const examples = namedExamples(operations, has, (_one, { response }) => response, translate)
    return {
      'application/json': { schema, ...(Object.keys(examples).length === 0 ? {} : { examples }) },
    }
  }
  const answer = oneOfOperations(documented, 'Answer')
  const result: SchemaObject = {}
  for (const status of [...new Set([200, ...cases.map((one) => one.status)])].toSorted((a, b) => a - b)) {
    const here = cases.filter((one) => one.status === status)
    const isSuccess = status === 200
    const descriptions = here.map((one) => `${codeOf(endpoint, one)}${translate(one.when)}`)
    const schema = isSuccess ? (here.length === 0 ? answer : { anyOf: [answer, errorRef] }) : errorRef
    result[status] = {
      description: [
        ...new Set([...(isSuccess ? [translate({ zh: '成功', en: 'Success' })] : []), ...descriptions]),
      ].join('\n\n'),
      headers: {
        ...(isSuccess ? headersOfSuccess : headersOfAll),
        ...((retryStatuses.has(status) || (isSuccess && here.length > 0)) && {
          'Retry-After': { $ref: '#/components/headers/Retry-After' },
        }),
      },
      content: contentOf(schema, status),
    }
  }
  return result
}

/** The short link endpoint documents a missing key as missing parameters: 400. */
function errorOn(endpoint: Endpoint, one: ErrorCase): ErrorCase {
  return endpoint.shape === 'shortlink' && one.code === 1001 ? { ...one, status: 400 } : one
}

function codeOf(endpoint: Endpoint, one: ErrorCase): string {
  return endpoint.shape === 'shortlink' ? '' : `${one.code} `
}

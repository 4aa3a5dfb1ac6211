// The OpenAPI 3.1 document, generated from the contract.
//
// OpenAPI has one operation per path and method, this interface has several, selected by `action`. So each operation has its
// own request and response schemas, the path combines them, and `x-tollgate-operations` lists them.
import { statusOfCode } from '../../contract/codes.ts'
import type { Endpoint, Operation } from '../../contract/endpoint.ts'
import type { ErrorCase, Example, OperationReference } from '../../contract/reference.ts'
import {
  type DocumentedEndpoint,
  documentedEndpoints,
  sharedErrors,
} from '../../contract/reference/interface.ts'
import type { Config } from '../config.ts'
import { type JsonObject, type JsonSchema, parametersSchema, responseSchema } from './schemas.ts'

export interface DocsContext {
  /** {base_url} */
  readonly publicUrl: string
  readonly version: string
  readonly config: Config
}

const language = 'zh'

export function openApiDocument(context: DocsContext): JsonObject {
  return {
    openapi: '3.1.0',
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    info: {
      title: 'Tollgate 开放平台',
      version: context.version,
      summary:
        '短链接、模板短信、身份核验、域名拦截检测 / short links, SMS, identity verification, domain block check',
      description: [
        '每个参数（包括凭据）按请求头、JSON、表单、查询串的顺序分别查找；短链接接口仅支持以 POST 提交 JSON。',
        'Every parameter, including credentials, is looked up separately in headers, JSON, form and query, in this order; the short link endpoint accepts only POST with JSON.',
      ].join('\n\n'),
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: context.publicUrl }],
    externalDocs: { url: `${context.publicUrl}/docs/`, description: '接口文档 / reference' },
    tags: documentedEndpoints.map(({ endpoint, title }) => ({
      name: endpoint.name,
      description: `${title.zh} / ${title.en}`,
    })),
    paths: Object.fromEntries(
      documentedEndpoints.map((one) => [one.endpoint.path, pathItem(one, context.config)]),
    ),
    components: {
      schemas: Object.assign({}, errorSchemas, ...documentedEndpoints.map(schemasOf)) as JsonObject,
      securitySchemes: {
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'api_key',
          description:
            'API 密钥；代理丢弃带下划线的请求头时可写作 api-key / use api-key behind proxies that drop headers with underscores',
        },
        username: { type: 'apiKey', in: 'header', name: 'username', description: '用户名 / user name' },
      },
      headers: {
        'X-Request-Id': { description: '请求编号 / request ID', schema: { type: 'string' } },
        'Retry-After': {
          description: '重试前等待的秒数 / seconds to wait before a retry',
          schema: { type: 'integer' },
        },
        RateLimit: { description: '"account";r=剩余;t=秒', schema: { type: 'string' } },
        'RateLimit-Policy': { description: '"account";q=突发;w=秒', schema: { type: 'string' } },
        'Idempotent-Replayed': {
          description: '重放首次响应 / replay of the first response',
          schema: { type: 'string', enum: ['true'] },
        },
      },
      parameters: {
        idempotencyKey: {
          name: 'Idempotency-Key',
          in: 'header',
          required: false,
          description:
            '24 小时内相同的键与参数只执行一次 / the same key with the same parameters is executed once within 24 hours',
          schema: { type: 'string', maxLength: 255, pattern: '^[!-~]+$' },
        },
      },
    },
  }
}

const message = {
  type: 'string',
  description:
    '说明；Accept-Language 以 en 开头时为英文 / message, in English if Accept-Language starts with en',
}

const errorSchemas: JsonObject = {
  CodeError: {
    type: 'object',
    properties: {
      code: { type: 'integer', enum: Object.keys(statusOfCode).map(Number).filter(Boolean) },
      message,
    },
    required: ['code', 'message'],
    additionalProperties: false,
  },
  ShortlinkError: {
    type: 'object',
    properties: { success: { type: 'boolean', enum: [false] }, message },
    required: ['success', 'message'],
    additionalProperties: false,
  },
}

/** `SmsSend`, `ShortlinkExecuteUpdate` … */
export function operationId(endpoint: Endpoint, name: string): string {
  return `${endpoint.name}_${name}`.replaceAll(/(?:^|[-_])(\w)/g, (_all, letter: string) =>
    letter.toUpperCase(),
  )
}

function operationsOf({ endpoint, reference }: DocumentedEndpoint) {
  return Object.entries(endpoint.operations).map(([name, operation]) => ({
    id: operationId(endpoint, name),
    name,
    operation,
    // `EndpointReference` has an entry for every operation.
    reference: reference[name]!,
  }))
}

type DocumentedOperation = ReturnType<typeof operationsOf>[number]

function schemasOf(documented: DocumentedEndpoint): JsonObject {
  const schemas: JsonObject = {}
  for (const one of operationsOf(documented)) {
    schemas[`${one.id}Request`] = requestSchema(documented.endpoint, one)
    schemas[`${one.id}Answer`] = responseSchema(one.reference.response, language)
  }
  return schemas
}

/** Credentials may also be sent in headers, so they are not required here. */
function requestSchema(endpoint: Endpoint, { operation }: DocumentedOperation): JsonSchema {
  const own = parametersSchema(operation.parameters, language)
  const common = parametersSchema(endpoint.common, language)
  const { action, ...credentials } = common.properties
  return {
    type: 'object',
    description: `${operation.text.zh} / ${operation.text.en}`,
    properties: {
      ...(action ? { action: { type: 'string', enum: operation.actions } } : {}),
      ...own.properties,
      ...credentials,
    },
    required: [...(action ? ['action'] : []), ...own.required],
  }
}

function pathItem(documented: DocumentedEndpoint, config: Config): JsonObject {
  const { endpoint } = documented
  const item: JsonObject = {}
  for (const method of endpoint.methods) {
    item[method.toLowerCase()] =
      method === 'GET' ? getOperation(documented, config) : postOperation(documented, config)
  }
  return item
}

function shared(documented: DocumentedEndpoint, config: Config): JsonObject {
  const { endpoint, title } = documented
  const operations = operationsOf(documented)
  return {
    tags: [endpoint.name],
    summary: `${title.zh} / ${title.en}`,
    description: operations
      .map(({ operation }) => `- ${actionsOf(operation)}${operation.text.zh} / ${operation.text.en}`)
      .join('\n'),
    security: ['username' in endpoint.common ? { apiKey: [], username: [] } : { apiKey: [] }],
    responses: responses(documented),
    'x-tollgate-operations': operations.map(({ id, name, operation, reference }) => ({
      id,
      name,
      actions: operation.actions,
      summary: operation.text,
      notes: reference.notes,
      cost: costOf(reference, config),
      idempotencyKey: reference.price !== undefined,
      request: { $ref: `#/components/schemas/${id}Request` },
      answer: { $ref: `#/components/schemas/${id}Answer` },
      errors: reference.errors,
    })),
  }
}

function actionsOf(operation: Operation): string {
  return operation.actions.length === 0 ? '' : `\`${operation.actions.join('`, `')}\`: `
}

function costOf(reference: OperationReference, config: Config): JsonObject | null {
  const { price } = reference
  return price ? { credits: config.PRICES[price.name], per: price.per, api_type: price.apiType } : null
}

function postOperation(documented: DocumentedEndpoint, config: Config): JsonObject {
  const { endpoint } = documented
  const schema = oneOfOperations(documented, 'Request')
  const examples = bodyExamples(documented)
  const content: JsonObject = { 'application/json': { schema, examples } }
  if (endpoint.readsForms) {
    content['application/x-www-form-urlencoded'] = { schema, ...formEncoding(endpoint) }
  }
  return {
    operationId: operationId(endpoint, 'post'),
    ...shared(documented, config),
    parameters: [{ $ref: '#/components/parameters/idempotencyKey' }],
    requestBody: { required: true, content },
  }
}

/** An object in a form is `name[key]`, as in a query; repeating the name of a list is the default of OpenAPI. */
function formEncoding(endpoint: Endpoint): JsonObject {
  const objects = Object.values(endpoint.operations).flatMap(({ parameters }) =>
    Object.entries(parametersSchema(parameters, language).properties)
      .filter(([, schema]) => (schema as { type?: string }).type === 'object')
      .map(([name]) => [name, { style: 'deepObject', explode: true }] as const),
  )
  return objects.length === 0 ? {} : { encoding: Object.fromEntries(objects) }
}

/** Lists the parameters of all operations; `x-tollgate-operations` shows which belong together. */
function getOperation(documented: DocumentedEndpoint, config: Config): JsonObject {
  const { endpoint } = documented
  const operations = operationsOf(documented)
  const actions = operations.flatMap(({ operation }) => operation.actions)
  const parameters: JsonObject[] = []
  if (actions.length > 0) {
    parameters.push({
      name: 'action',
      in: 'query',
      required: true,
      schema: { type: 'string', enum: actions },
    })
  }
  const seen = new Set<string>()
  for (const { operation } of operations) {
    const { properties, required } = parametersSchema(operation.parameters, language)
    for (const [name, schema] of Object.entries(properties)) {
      if (seen.has(name)) continue
      seen.add(name)
      const { type, description } = schema as { type: string; description: string }
      const isAlways = operations.length === 1 && required.includes(name)
      parameters.push({
        name,
        in: 'query',
        required: isAlways,
        description,
        schema,
        ...(type === 'object' ? { style: 'deepObject', explode: true } : {}),
        ...(type === 'array' ? { style: 'form', explode: true } : {}),
      })
    }
  }
  parameters.push({ $ref: '#/components/parameters/idempotencyKey' })
  return { operationId: operationId(endpoint, 'get'), ...shared(documented, config), parameters }
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

/** The body of an example with placeholders for the credentials. */
export function exampleBody(endpoint: Endpoint, operation: Operation, example: Example): JsonObject {
  const credentials = Object.fromEntries(
    Object.entries(endpoint.common)
      .filter(([name]) => name !== 'action')
      .map(([name, parameter]) => [name, parameter.example]),
  )
  const [action] = operation.actions
  return { ...credentials, ...(action === undefined ? {} : { action }), ...example.values }
}

function bodyExamples(documented: DocumentedEndpoint): JsonObject {
  const examples: JsonObject = {}
  for (const one of operationsOf(documented)) {
    one.reference.examples.forEach((example, index) => {
      examples[exampleName(one, index)] = {
        summary: titleOf(one, example),
        value: exampleBody(documented.endpoint, one.operation, example),
      }
    })
  }
  return examples
}

function exampleName(one: DocumentedOperation, index: number): string {
  return `${one.name}_${index + 1}`
}

function titleOf(one: DocumentedOperation, example: Example): string {
  return `${one.operation.text.zh}：${example.title.zh} / ${one.operation.text.en}: ${example.title.en}`
}

const headersOfAll = { 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' } }
const headersOfSuccess = {
  ...headersOfAll,
  RateLimit: { $ref: '#/components/headers/RateLimit' },
  'RateLimit-Policy': { $ref: '#/components/headers/RateLimit-Policy' },
}
const retryStatuses = new Set([409, 429, 503])

function responses(documented: DocumentedEndpoint): JsonObject {
  const { endpoint } = documented
  const operations = operationsOf(documented)
  const errorRef = `#/components/schemas/${endpoint.shape === 'shortlink' ? 'ShortlinkError' : 'CodeError'}`
  const cases = [
    ...sharedErrors.map((one) => errorOn(endpoint, one)),
    ...operations.flatMap((one) => one.reference.errors),
  ]
  const result: JsonObject = {
    200: {
      description: '成功 / success',
      headers: {
        ...headersOfSuccess,
        'Idempotent-Replayed': { $ref: '#/components/headers/Idempotent-Replayed' },
      },
      content: {
        'application/json': { schema: oneOfOperations(documented, 'Answer'), ...examplesOf(operations, 200) },
      },
    },
  }
  for (const status of [...new Set(cases.map((one) => one.status))].toSorted((a, b) => a - b)) {
    const here = cases.filter((one) => one.status === status)
    result[status] = {
      description: [
        ...new Set(here.map((one) => `${codeOf(endpoint, one)}${one.when.zh} / ${one.when.en}`)),
      ].join('\n\n'),
      headers: retryStatuses.has(status)
        ? { ...headersOfAll, 'Retry-After': { $ref: '#/components/headers/Retry-After' } }
        : headersOfAll,
      content: { 'application/json': { schema: { $ref: errorRef }, ...examplesOf(operations, status) } },
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

function examplesOf(operations: readonly DocumentedOperation[], status: number): JsonObject {
  const examples: JsonObject = {}
  for (const one of operations) {
    one.reference.examples.forEach((example, index) => {
      if (example.status !== status) return
      examples[exampleName(one, index)] = { summary: titleOf(one, example), value: example.response }
    })
  }
  return Object.keys(examples).length === 0 ? {} : { examples }
}

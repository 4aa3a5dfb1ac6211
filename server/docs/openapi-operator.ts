// The OpenAPI 3.1 document of the operator's JSON API, generated from the routes of the console.
import type { TSchema } from 'typebox'
import { operatorRouteText } from '../../contract/console/operator-texts.ts'
import { type ConsoleOperation, operatorApi } from '../../contract/console/responses/operator-api.ts'
import {
  type Access,
  areaOf,
  mayAccess,
  operatorAreas,
  operatorRoles,
  tokenAllows,
} from '../../contract/console/roles.ts'
import { consoleApi, errorStatus } from '../../contract/console/route.ts'
import { csvFile } from '../../contract/console/responses/fields.ts'
import { idempotencyKeySchema } from '../../contract/idempotency.ts'
import type { DocsContext } from './operations.ts'
import type { SchemaObject } from './schemas.ts'

export function operatorDocument(context: DocsContext): SchemaObject {
  const paths: Record<string, SchemaObject> = {}
  for (const operation of operatorApi) {
    const { method, path } = operation.route
    const name = `${consoleApi}${path.replaceAll(/:(\w+)/g, '{$1}')}`
    paths[name] = { ...paths[name], [method.toLowerCase()]: describeOperation(operation) }
  }
  return {
    openapi: '3.1.0',
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    info: {
      title: 'Tollgate 运营接口 / Tollgate operator API',
      version: context.version,
      description:
        '以管理员令牌调用（Authorization: Bearer tgo_…）；权限是令牌的范围与其创建者当前角色的交集；令牌不能重置管理员的密码，也不能恢复已停用的管理员；更改可带 Idempotency-Key，24 小时内相同的键只执行一次。 / ' +
        'Called with an operator token (Authorization: Bearer tgo_…). A call needs a scope of the token and the present role of its creator. A token cannot reset the password of an operator, nor reactivate one. Changes may carry an Idempotency-Key: the same key is executed once within 24 hours.',
      contact: { name: 'Tollgate', url: `${context.publicUrl}/docs/` },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: context.publicUrl }],
    security: [{ token: [] }],
    tags: Object.entries(operatorAreas).map(([name, { text }]) => ({
      name,
      description: `${text.zh} / ${text.en}`,
    })),
    paths,
    components: {
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description: 'npm run admin -- token create NAME --scopes accounts:read,credits:write',
        },
      },
      schemas: { Error: errorSchema },
    },
  }
}

function describeOperation({ name, route, response }: ConsoleOperation): SchemaObject {
  const { method, path, input } = route
  const area = areaOf(path)
  const text = operatorRouteText(name)
  const access: Access = method === 'GET' ? 'read' : 'write'
  const roles = operatorRoles.filter((role) => mayAccess(role, area, access))
  const scope = `${area}:${access}`
  const isOpenToTokens = area !== undefined && tokenAllows([scope], area, access)
  const isFile = response === (csvFile as TSchema)
  const parts = [...path.matchAll(/:(\w+)/g)].map(([, part]) => ({
    name: part,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
  return {
    operationId: name,
    summary: `${text.zh} / ${text.en}`,
    tags: area === undefined ? [] : [area],
    description: isOpenToTokens
      ? `令牌范围 / scope: ${scope}；角色 / roles: ${roles.join(', ')}`
      : `仅限控制台 / console only；角色 / roles: ${roles.join(', ')}`,
    'x-roles': roles,
    ...(isOpenToTokens ? { 'x-scope': scope } : { security: [] }),
    parameters: [...parts, ...(method === 'GET' ? queryParameters(input) : [idempotencyKey])],
    ...(method !== 'GET' && {
      requestBody: { required: true, content: { 'application/json': { schema: plain(input) } } },
    }),
    responses: {
      200: {
        description: 'OK',
        content: isFile
          ? { 'text/csv': { schema: { type: 'string' } } }
          : { 'application/json': { schema: plain(response) } },
      },
      '4XX': errorResponse,
      default: errorResponse,
    },
  }
}

const errorResponse = {
  description: '错误 / Error',
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
}

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  schema: idempotencyKeySchema,
}

function queryParameters(input: TSchema): SchemaObject[] {
  const { properties = {}, required = [] } = input as {
    properties?: Readonly<Record<string, TSchema>>
    required?: readonly string[]
  }
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema: plain(schema),
  }))
}

/** A schema without the texts that only our forms use. */
function plain(schema: TSchema): SchemaObject {
  return JSON.parse(
    JSON.stringify(schema, (key, value: unknown) => (key === 'problem' ? undefined : value)),
  ) as SchemaObject
}

const errorSchema = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message', 'request_id'],
      properties: {
        code: { type: 'string', enum: Object.keys(errorStatus) },
        message: { type: 'string' },
        fields: { type: 'object', additionalProperties: { type: 'string' } },
        request_id: { type: 'string' },
        retry_after: { type: 'integer' },
      },
    },
  },
}

// The OpenAPI 3.1 document, generated from the contract, in Chinese, English or both.
import { statusOfCode } from '../../contract/codes.ts'
import { idempotencyKeySchema } from '../../contract/idempotency.ts'
import { documentedEndpoints } from '../../contract/reference/interface.ts'
import { pathItem, schemasOf } from './openapi-paths.ts'
import { openApiWebhooks } from './openapi-webhooks.ts'
import type { DocsContext } from './operations.ts'
import type { SchemaObject, Translate } from './schemas.ts'

/** `both` has Chinese first, then English. */
export type DocumentLanguage = 'zh' | 'en' | 'both'

const translators: Readonly<Record<DocumentLanguage, Translate>> = {
  zh: ({ zh }) => zh,
  en: ({ en }) => en,
  both: ({ zh, en }) => `${zh} / ${en}`,
}

export function openApiDocument(context: DocsContext, language: DocumentLanguage): SchemaObject {
  const translate = translators[language]
  return {
    openapi: '3.1.0',
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    info: {
      title: translate({ zh: 'Tollgate 开放平台', en: 'Tollgate API' }),
      version: context.version,
      summary: translate({
        zh: '短链接、模板短信、身份核验、域名拦截检测',
        en: 'Short links, template SMS, identity verification, domain block check',
      }),
      description: translate({
        zh: '每个参数（包括凭据）按请求头、JSON、表单、查询字符串的顺序分别查找；短链接接口仅支持以 POST 提交 JSON。',
        en: 'Each parameter, including credentials, is looked up separately in headers, JSON, form and query, in this order; the short link endpoint accepts only POST with JSON.',
      }),
      contact: { name: 'Tollgate', url: `${context.publicUrl}/docs/` },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: context.publicUrl }],
    externalDocs: {
      url: `${context.publicUrl}/docs/`,
      description: translate({ zh: '接口文档', en: 'Reference' }),
    },
    tags: documentedEndpoints.map(({ endpoint, title }) => ({
      name: endpoint.name,
      description: translate(title),
    })),
    paths: Object.fromEntries(
      documentedEndpoints.map((one) => [one.endpoint.path, pathItem(one, context.config, translate)]),
    ),
    webhooks: openApiWebhooks(translate),
    components: {
      schemas: Object.assign(
        errorSchemas(translate),
        ...documentedEndpoints.map((one) => schemasOf(one, translate)),
      ) as SchemaObject,
      securitySchemes: securitySchemes(translate),
      headers: headers(translate),
      parameters: {
        idempotencyKey: {
          name: 'Idempotency-Key',
          in: 'header',
          required: false,
          description: translate({
            zh: '24 小时内相同的键与参数只执行一次',
            en: 'The same key with the same parameters is executed once within 24 hours',
          }),
          schema: idempotencyKeySchema,
        },
      },
    },
  }
}

function securitySchemes(translate: Translate): SchemaObject {
  const apiKey = { zh: 'API 密钥', en: 'API key' }
  const username = { zh: '用户名', en: 'User name' }
  return {
    apiKey: {
      type: 'apiKey',
      in: 'header',
      name: 'api_key',
      description: translate({
        zh: 'API 密钥；代理丢弃带下划线的请求头时可写作 api-key',
        en: 'API key; use api-key behind proxies that drop headers with underscores',
      }),
    },
    bearer: {
      type: 'http',
      scheme: 'bearer',
      description: translate({
        zh: 'Authorization: Bearer 后接 API 密钥；其他位置的 api_key 优先',
        en: 'The API key after Authorization: Bearer; api_key at any other place has priority',
      }),
    },
    username: { type: 'apiKey', in: 'header', name: 'username', description: translate(username) },
    apiKeyInQuery: { type: 'apiKey', in: 'query', name: 'api_key', description: translate(apiKey) },
    usernameInQuery: { type: 'apiKey', in: 'query', name: 'username', description: translate(username) },
  }
}

function headers(translate: Translate): SchemaObject {
  return {
    'X-Request-Id': {
      description: translate({ zh: '请求编号', en: 'Request ID' }),
      schema: { type: 'string' },
    },
    'Retry-After': {
      description: translate({ zh: '重试前等待的秒数', en: 'Seconds to wait before a retry' }),
      schema: { type: 'integer' },
    },
    RateLimit: {
      description: translate({
        zh: '"account";r=剩余次数;t=秒',
        en: '"account";r=remaining calls;t=seconds',
      }),
      schema: { type: 'string' },
    },
    'RateLimit-Policy': {
      description: translate({ zh: '"account";q=突发次数;w=秒', en: '"account";q=burst;w=seconds' }),
      schema: { type: 'string' },
    },
    'Idempotent-Replayed': {
      description: translate({ zh: '重放首次响应', en: 'A replay of the first response' }),
      schema: { type: 'string', enum: ['true'] },
    },
  }
}

function errorSchemas(translate: Translate): SchemaObject {
  const message = {
    type: 'string',
    description: translate({
      zh: '说明；Accept-Language 以 en 开头时为英文',
      en: 'Message; in English if Accept-Language starts with en',
    }),
  }
  return {
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
}

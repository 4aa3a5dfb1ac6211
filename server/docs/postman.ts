// A Postman collection (v2.1) of the examples. Every request checks that it gets its documented response.
import type { Endpoint } from '../../contract/endpoint.ts'
import { type DocumentedEndpoint, documentedEndpoints } from '../../contract/reference/interface.ts'
import type { Example } from '../../contract/reference.ts'
import type { Config } from '../config.ts'
import {
  type DocsContext,
  type DocumentedOperation,
  exampleBody,
  operationsOf,
  sentStatus,
} from './operations.ts'
import { type SchemaObject, responseSchema } from './schemas.ts'

export function postmanCollection({ publicUrl, version, config }: DocsContext): SchemaObject {
  return {
    info: {
      name: 'Tollgate 开放平台',
      description: [
        `接口文档：${publicUrl}/docs/`,
        '先设置变量 api_key 和 username，再按顺序运行：修改、刷新和查询使用前面请求生成的 link_id 与 biz_id。',
        `Reference: ${publicUrl}/docs/en/`,
        'Set the variables api_key and username, then run in order: later requests use the link_id and biz_id of earlier ones.',
      ].join('\n\n'),
      version,
      schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
    },
    variable: [
      { key: 'base_url', value: publicUrl },
      { key: 'username', value: 'demo' },
      { key: 'api_key', value: '' },
      ...Object.entries(remembered).map(([key, [value]]) => ({ key, value })),
    ],
    item: documentedEndpoints.map((documented) => ({
      name: `${documented.title.zh} / ${documented.title.en}`,
      item: operationsOf(documented).map((one) => ({
        name: `${one.operation.text.zh} / ${one.operation.text.en}`,
        item: itemsOf(documented, one, config),
      })),
    })),
  }
}

/** Values of earlier responses that later requests use, and what the examples have instead. */
const remembered: Readonly<Record<string, readonly [string, ...string[]]>> = {
  // The example deletes a link of its own. The collection deletes the one that it has created.
  link_id: ['1', '3'],
  biz_id: ['100000000000000001'],
  batch_id: ['200000000000000001'],
}

/** Examples that a collection cannot call (another account, an outcome of the sandbox) are saved responses of the first request. */
function itemsOf({ endpoint }: DocumentedEndpoint, one: DocumentedOperation, config: Config): SchemaObject[] {
  const { examples } = one.reference
  const onSandbox = isOnSandbox(endpoint, config)
  const isCallable = ({ caller = 'sample', sandbox }: Example) =>
    (caller === 'sample' || caller === 'wrong key') && (onSandbox || sandbox !== true)
  const savedOnly = examples.filter((example) => !isCallable(example))
  return examples.filter(isCallable).map((example, index) => {
    const saved = index === 0 ? [example, ...savedOnly] : [example]
    return {
      name: `${example.title.zh} / ${example.title.en}`,
      event: [
        {
          listen: 'test',
          script: { type: 'text/javascript', exec: checksOf(endpoint, one, example, config, onSandbox) },
        },
      ],
      request: requestOf(endpoint, one, example),
      response: saved.map((shown) => ({
        name: `${shown.title.zh} / ${shown.title.en}`,
        originalRequest: requestOf(endpoint, one, shown),
        code: sentStatus(endpoint, shown.status, config),
        header: [{ key: 'Content-Type', value: 'application/json; charset=utf-8' }],
        body: JSON.stringify(shown.response, null, 2),
        _postman_previewlanguage: 'json',
      })),
    }
  })
}

function isOnSandbox(endpoint: Endpoint, config: Config): boolean {
  switch (endpoint.name) {
    case 'sms':
      return config.SMS_GATEWAYS.includes('sandbox')
    case 'identity':
      return config.IDENTITY_GATEWAYS.includes('sandbox')
    case 'domain-check':
      return config.DOMAIN_GATEWAYS.includes('sandbox')
    default:
      return true
  }
}

function requestOf(endpoint: Endpoint, { operation }: DocumentedOperation, example: Example): SchemaObject {
  const body = exampleBody(endpoint, operation, example)
  if ('username' in body) body['username'] = '{{username}}'
  body['api_key'] = example.caller === 'wrong key' ? '{{api_key}}x' : '{{api_key}}'
  for (const [name, values] of Object.entries(remembered)) {
    if (values.includes(String(body[name]))) body[name] = `{{${name}}}`
  }
  return {
    method: 'POST',
    header: [{ key: 'Content-Type', value: 'application/json' }],
    url: {
      raw: `{{base_url}}${endpoint.path}`,
      host: ['{{base_url}}'],
      path: endpoint.path.slice(1).split('/'),
    },
    body: {
      mode: 'raw',
      // An ID is a number.
      raw: JSON.stringify(body, null, 2).replace('"{{link_id}}"', '{{link_id}}'),
      options: { raw: { language: 'json' } },
    },
  }
}

/** Errors must be equal; of a success, what does not depend on the account must be. */
function checksOf(
  endpoint: Endpoint,
  one: DocumentedOperation,
  example: Example,
  config: Config,
  onSandbox: boolean,
): string[] {
  const status = sentStatus(endpoint, example.status, config)
  const lines = [
    `pm.test('HTTP ${status}', () => pm.response.to.have.status(${status}))`,
    'const body = pm.response.json()',
  ]
  if (example.status !== 200) {
    lines.push(check('documented error', `pm.expect(body).to.eql(${JSON.stringify(example.response)})`))
    return lines
  }
  const schema = responseSchema(one.reference.response, ({ en }) => en)
  lines.push(check('documented format', `pm.response.to.have.jsonSchema(${JSON.stringify(schema)})`))
  if (onSandbox) {
    for (const [path, value] of Object.entries(outcomeOf(example))) {
      lines.push(check(`documented ${path}`, `pm.expect(body.${path}).to.eql(${JSON.stringify(value)})`))
    }
  }
  const { data } = example.response as { data?: Readonly<Record<string, unknown>> }
  for (const name of Object.keys(remembered)) {
    if (data?.[name] === undefined || name in example.values) continue
    lines.push(`pm.collectionVariables.set('${name}', body.data.${name})`)
  }
  return lines
}

function check(name: string, expression: string): string {
  return `pm.test('${name}', () => ${expression})`
}

/** The outcome of a call: the values beside `data`, and the results of a domain check. */
function outcomeOf({ response }: Example): SchemaObject {
  const { data, extra: _extra, ...outcome } = response as SchemaObject
  const { results } = (data ?? {}) as { results?: unknown }
  return results === undefined ? outcome : { ...outcome, 'data.results': results }
}

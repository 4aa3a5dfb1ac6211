// Checks /openapi.json against the OpenAPI 3.1 specification and against the contract.
//
// A validator checks the document against the schema of the specification. The tests check what a schema cannot express:
// unique operation IDs, declared tags and security schemes, no unused components, and valid examples.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Compile } from 'typebox/schema'
import { eventTypes } from '../contract/events.ts'
import { errorCodes, statusOfCode } from '../contract/codes.ts'
import { documentedEndpoints, sharedErrors } from '../contract/reference/interface.ts'
import { exampleBody, operationId } from '../server/docs/operations.ts'
import { allExamples } from './support/documented-call.ts'
import { startService, type TestService } from './support/service.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- parsed JSON
type Json = Record<string, any>

const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']
const schemaTypes = ['string', 'integer', 'number', 'boolean', 'object', 'array', 'null']

describe('openapi.json', () => {
  let service: TestService
  let document: Json
  before(async () => {
    service = await startService('sqlite')
    const response = await fetch(`${service.url}/openapi.json`)
    assert.equal(response.status, 200)
    assert.match(response.headers.get('content-type') ?? '', /^application\/json/)
    document = (await response.json()) as Json
  })
  after(() => service[Symbol.asyncDispose]())

  test('the validator reports no problem', async () => {
    assert.deepEqual(await new Validator().validate(document), { valid: true })
  })

  const post = (copy: Json): Json => copy['paths']['/api/sms_api.php']['post']
  const defects: Readonly<Record<string, (copy: Json) => void>> = {
    'an unknown version': (copy) => void (copy['openapi'] = '3.7.0'),
    'a missing title': (copy) => void delete copy['info']['title'],
    'an unknown field': (copy) => void (copy['path'] = {}),
    'a path without a slash': (copy) => void (copy['paths']['api/x'] = {}),
    'a dangling reference': (copy) =>
      void (post(copy)['requestBody']['content']['application/json']['schema'] = {
        $ref: '#/components/schemas/Nothing',
      }),
    'a response without description': (copy) => void delete post(copy)['responses']['200']['description'],
    'an invalid status': (copy) => void (post(copy)['responses']['abc'] = { description: '' }),
    'a parameter in an unknown location': (copy) =>
      void post(copy)['parameters'].push({ name: 'x', in: 'body', schema: {} }),
    'a parameter without schema': (copy) => void post(copy)['parameters'].push({ name: 'x', in: 'query' }),
    'an unknown type of security scheme': (copy) =>
      void (copy['components']['securitySchemes']['apiKey']['type'] = 'key'),
    'a schema that is a string': (copy) => void (copy['components']['schemas']['CodeError'] = 'text'),
  }
  for (const [defect, addDefect] of Object.entries(defects)) {
    test(`the validator reports ${defect}`, async () => {
      const copy = structuredClone(document)
      addDefect(copy)
      const found = await new Validator().validate(copy).catch(() => ({ valid: false }))
      assert.equal(found.valid, false)
    })
  }

  test('has the required top-level fields', () => {
    assert.match(document['openapi'], /^3\.1\.\d+$/)
    assert.deepEqual(typesOf(document['info'], ['title', 'version']), ['string', 'string'])
    assert.deepEqual(document['servers'], [{ url: service.url }])
    const known = [
      'openapi',
      'info',
      'jsonSchemaDialect',
      'servers',
      'paths',
      'webhooks',
      'components',
      'security',
      'tags',
      'externalDocs',
    ]
    assert.deepEqual(
      Object.keys(document).filter((key) => !known.includes(key) && !key.startsWith('x-')),
      [],
    )
    const tags = document['tags'].map((tag: Json) => tag['name'])
    assert.equal(new Set(tags).size, tags.length)
  })

  test('describes a webhook for every type of event', () => {
    const webhooks = document['webhooks']
    assert.deepEqual(Object.keys(webhooks), Object.keys(eventTypes))
    for (const [type, item] of Object.entries<Json>(webhooks)) {
      const { schema, examples } = item['post'].requestBody.content['application/json']
      assert.equal(schema.properties.type.const, type)
      const names = item['post'].parameters.map((parameter: Json) => parameter['name'])
      assert.deepEqual(names, ['webhook-id', 'webhook-timestamp', 'webhook-signature'])
      if (examples) assert.deepEqual(schema.properties.data.required, Object.keys(examples.event.value.data))
    }
  })

  test('paths, operations, parameters, bodies and responses are well formed', () => {
    const ids = new Set<string>()
    const tags = new Set(document['tags'].map((tag: Json) => tag['name']))
    const schemes = Object.keys(document['components']['securitySchemes'])
    for (const [path, item] of Object.entries<Json>(document['paths'])) {
      assert.match(path, /^\//)
      for (const [method, operation] of Object.entries<Json>(item)) {
        const where = `${method} ${path}`
        assert.ok(methods.includes(method), where)
        assert.ok(!ids.has(operation['operationId']), `${where}: operationId twice`)
        ids.add(operation['operationId'])
        for (const tag of operation['tags']) assert.ok(tags.has(tag), `${where}: tag ${tag}`)
        for (const requirement of operation['security']) {
          for (const name of Object.keys(requirement)) assert.ok(schemes.includes(name), `${where}: ${name}`)
        }
        const seen = new Set<string>()
        for (const given of operation['parameters'] ?? []) {
          const parameter = resolve(document, given)
          assert.ok(['query', 'header', 'path', 'cookie'].includes(parameter['in']), where)
          assert.equal(typeof parameter['schema'], 'object', `${where}: ${parameter['name']}`)
          const key = `${parameter['in']} ${parameter['name']}`
          assert.ok(!seen.has(key), `${where}: ${key} twice`)
          seen.add(key)
        }
        if (method === 'get') assert.equal(operation['requestBody'], undefined, where)
        else assert.ok(Object.keys(operation['requestBody']['content']).length > 0, where)
        assert.ok(operation['responses']['200'], where)
        for (const [status, response] of Object.entries<Json>(operation['responses'])) {
          assert.match(status, /^[1-5]\d\d$|^default$/)
          assert.equal(typeof response['description'], 'string', `${where} ${status}`)
        }
      }
    }
  })

  test('every reference resolves and every component is used', () => {
    let count = 0
    walk(document, (node) => {
      if (typeof node['$ref'] !== 'string') return
      count += 1
      assert.ok(resolve(document, node), node['$ref'])
      assert.deepEqual(Object.keys(node), ['$ref'], 'a reference has no other keys')
    })
    assert.ok(count > 20)
    const named = JSON.stringify(document)
    for (const kind of ['schemas', 'headers', 'parameters']) {
      for (const name of Object.keys(document['components'][kind])) {
        assert.match(name, /^[A-Za-z0-9._-]+$/)
        assert.ok(named.includes(`#/components/${kind}/${name}`), `${kind} ${name} is used`)
      }
    }
  })

  test('schemas are valid, and the requests and responses of all examples match them', () => {
    for (const schema of Object.values<Json>(document['components']['schemas'])) checkSchema(schema)
    for (const { endpoint, reference } of documentedEndpoints) {
      const { requestBody, responses } = document['paths'][endpoint.path]['post']
      const request = requestBody['content']['application/json']
      const fitsRequest = Compile(inline(document, request['schema']))
      for (const [name, operation] of Object.entries(endpoint.operations)) {
        reference[name]!.examples.forEach((example, index) => {
          const key = `${name}_${index + 1}`
          // Requests of errors may be invalid, so only the responses have examples of errors.
          const body: unknown = request['examples'][key]?.value
          assert.deepEqual(
            body,
            example.status === 200 ? exampleBody(endpoint, operation, example) : undefined,
          )
          if (example.status === 200) assert.ok(fitsRequest.Check(body), `${endpoint.name} ${key}`)
          const content = responses[example.status]['content']['application/json']
          assert.deepEqual(content['examples'][key].value, example.response)
          assert.ok(
            Compile(inline(document, content['schema'])).Check(example.response),
            `${endpoint.name} ${key}`,
          )
        })
      }
      assert.ok(!fitsRequest.Check({ action: 'no such action' }), endpoint.name)
    }
  })

  test('lists every operation of the contract with its actions, parameters and errors', () => {
    for (const { endpoint, reference } of documentedEndpoints) {
      const item = document['paths'][endpoint.path]
      assert.deepEqual(
        Object.keys(item),
        endpoint.methods.map((method) => method.toLowerCase()),
      )
      for (const method of Object.keys(item)) {
        const listed: Json[] = item[method]['x-tollgate-operations']
        assert.deepEqual(
          listed.map((one) => one['name']),
          Object.keys(endpoint.operations),
        )
        for (const one of listed) {
          const operation = endpoint.operations[one['name']]!
          const request = resolve(document, one['request'])
          assert.deepEqual(one['actions'], operation.actions)
          for (const [name, parameter] of Object.entries(operation.parameters)) {
            assert.ok(request['properties'][name], `${one['id']} ${name}`)
            assert.equal(request['required'].includes(name), parameter.required, `${one['id']} ${name}`)
          }
          for (const error of reference[one['name']]!.errors) {
            assert.ok(item[method]['responses'][error.status], `${one['id']} ${error.status}`)
          }
        }
      }
    }
  })

  test('documents the codes and statuses of the contract', () => {
    assert.deepEqual(new Set([0, ...errorCodes].map(String)), new Set(Object.keys(statusOfCode)))
    for (const { code } of sharedErrors) assert.ok(code in statusOfCode)
  })

  test('is in Chinese, in English, or in both', async () => {
    const descriptionsIn = async (query: string) => {
      const found = (await (await fetch(`${service.url}/openapi.json${query}`)).json()) as Json
      const texts: string[] = []
      walk(found, (node) => {
        for (const key of ['description', 'summary', 'title']) {
          if (typeof node[key] === 'string') texts.push(node[key])
        }
      })
      assert.ok(texts.length > 200)
      return texts
    }
    const isChinese = (text: string) => /\p{Script=Han}/u.test(text)
    const chinese = await descriptionsIn('?lang=zh')
    // Values of examples, and the start of a message that is quoted.
    const quoted = /^(活动页|新标题|一|二)$|上游核验失败：/
    const english = (await descriptionsIn('?lang=en')).map((text) => text.replace(quoted, ''))
    assert.deepEqual(english.filter(isChinese), [])
    assert.ok(chinese.filter(isChinese).length > 200)
    assert.deepEqual(await descriptionsIn(''), await descriptionsIn('?lang=fr'))
    for (const text of await descriptionsIn('')) assert.match(text.replace(quoted, 'value'), /[A-Za-z]/)
  })

  test('accepts credentials in headers, as a bearer token, in the query and the body', () => {
    for (const { endpoint } of documentedEndpoints) {
      for (const operation of Object.values<Json>(document['paths'][endpoint.path])) {
        const carriers = operation['security'].map((requirement: Json) =>
          Object.keys(requirement).map((name) => {
            const scheme = document['components']['securitySchemes'][name]
            return scheme['in'] ?? scheme['scheme']
          }),
        )
        const rest = 'username' in endpoint.common ? 1 : 0
        assert.deepEqual(carriers, [
          ['header', ...Array(rest).fill('header')],
          ['bearer', ...Array(rest).fill('header')],
          ['query', ...Array(rest).fill('query')],
          [],
        ])
      }
      for (const name of Object.keys(endpoint.operations)) {
        const schema = document['components']['schemas'][`${operationId(endpoint, name)}Request`]
        assert.ok(schema['properties']['api_key'], name)
        assert.ok(!schema['required'].includes('api_key'), name)
      }
    }
  })

  test('no request property has a default, which generated types would require', () => {
    walk(document, (node) => assert.ok(!('default' in node && 'type' in node)))
  })

  test('shows the configured prices', async () => {
    await using expensive = await startService('sqlite', { PRICES: 'generate=7,sms_part=3' })
    const paths = ((await (await fetch(`${expensive.url}/openapi.json`)).json()) as Json)['paths']
    const costs = Object.values<Json>(paths)
      .flatMap((item) => item['post']['x-tollgate-operations'] as Json[])
      .map((one) => [one['id'], one['cost']?.credits ?? 0])
      .filter(([, credits]) => credits > 0)
    assert.deepEqual(Object.fromEntries(costs), {
      ShortlinkGenerate: 7,
      ShortlinkExecuteUpdate: 1,
      ShortlinkGenerateBatch: 7,
      SmsSend: 3,
      SmsSendCode: 3,
      SmsSendBatch: 3,
      IdentityVerify: 1,
      DomainCheckCheck: 1,
    })
  })

  test('with ERROR_HTTP_STATUS=ok, errors are responses with 200, except 429', async () => {
    await using lenient = await startService('sqlite', { ERROR_HTTP_STATUS: 'ok' })
    const found = (await (await fetch(`${lenient.url}/openapi.json`)).json()) as Json
    assert.deepEqual(await new Validator().validate(found), { valid: true })
    for (const { endpoint, reference } of documentedEndpoints) {
      const { responses } = found['paths'][endpoint.path]['post']
      if (endpoint.shape === 'shortlink') continue
      assert.deepEqual(Object.keys(responses), ['200', '429'])
      const content = responses['200']['content']['application/json']
      const fits = Compile(inline(found, content['schema']))
      for (const [name, { examples }] of Object.entries(reference)) {
        examples.forEach(({ response }, index) => {
          assert.deepEqual(content['examples'][`${name}_${index + 1}`].value, response)
        })
      }
      const reply = await fetch(`${lenient.url}${endpoint.path}`, { method: 'POST' })
      assert.equal(reply.status, 200)
      assert.ok(fits.Check(await reply.json()), endpoint.name)
    }
  })

  test('the Postman collection contains the same examples', async () => {
    const response = await fetch(`${service.url}/docs/postman.json`)
    const collection = (await response.json()) as Json
    assert.match(collection['info']['schema'], /\/v2\.1\.0\/collection\.json$/)
    const requests: Json[] = collection['item']
      .flatMap((group: Json) => group['item'])
      .flatMap((one: Json) => one['item'])
    const examples = allExamples().map(({ example }) => example)
    const byOtherAccounts = examples.filter(
      ({ caller = 'sample' }) => caller !== 'sample' && caller !== 'wrong key',
    )
    assert.equal(byOtherAccounts.length, 9)
    assert.equal(requests.length, examples.length - byOtherAccounts.length)
    assert.equal(requests.flatMap((one) => one['response']).length, examples.length)
    for (const one of requests) {
      assert.equal(one['request']['method'], 'POST')
      assert.match(one['request']['url']['raw'], /^\{\{base_url\}\}\/api\/\w+\.php$/)
      const raw: string = one['request']['body']['raw']
      const body = JSON.parse(raw.replace('{{link_id}}', '1')) as Json
      assert.match(body['api_key'], /^\{\{api_key\}\}x?$/)
      const checks = (one['event'][0]['script']['exec'] as string[]).filter((line) =>
        line.startsWith('pm.test('),
      )
      assert.ok(checks.length >= 2, one['name'])
    }
  })

  test('the Postman collection calls sandbox inputs only while the product runs on the sandbox', async () => {
    await using real = await startService('sqlite', { SMS_GATEWAYS: 'off', IDENTITY_GATEWAYS: 'off' })
    const text = await (await fetch(`${real.url}/docs/postman.json`)).text()
    const collection = JSON.parse(text) as Json
    const called = JSON.stringify(
      collection['item']
        .flatMap((group: Json) => group['item'])
        .flatMap((one: Json) => one['item'])
        .map((one: Json) => one['request']),
    )
    for (const input of ['19900000001', '上游故障']) {
      assert.ok(!called.includes(input), input)
      assert.ok(text.includes(input), input)
    }
    assert.ok(called.includes('down.test'))
  })
})

function typesOf(object: Json, names: readonly string[]): string[] {
  return names.map((name) => typeof object[name])
}

function walk(node: unknown, visit: (node: Json) => void): void {
  if (typeof node !== 'object' || node === null) return
  if (!Array.isArray(node)) visit(node as Json)
  for (const child of Object.values(node)) walk(child, visit)
}

function resolve(document: Json, node: Json): Json {
  const reference = node['$ref'] as string | undefined
  if (reference === undefined) return node
  assert.match(reference, /^#\//)
  return reference
    .slice(2)
    .split('/')
    .reduce<Json>((value, name) => value?.[name], document)
}

function inline(document: Json, node: Json): Json {
  const found = resolve(document, node)
  return Object.fromEntries(
    Object.entries(found)
      .filter(([key]) => key !== 'discriminator')
      .map(([key, child]) => [key, inlineChild(document, child)]),
  )
}

function inlineChild(document: Json, child: unknown): unknown {
  if (Array.isArray(child)) return child.map((one: unknown) => inlineChild(document, one))
  return typeof child === 'object' && child !== null ? inline(document, child as Json) : child
}

function checkSchema(schema: Json): void {
  walk({ schema }, (node) => {
    if (!('type' in node) || !('description' in node)) return
    const types: unknown[] = [node['type']].flat()
    for (const type of types) assert.ok(schemaTypes.includes(type as string), String(type))
    if (node['pattern']) assert.doesNotThrow(() => new RegExp(node['pattern'], 'u'))
    if (node['type'] === 'array') assert.ok(node['items'], 'an array has a schema of its items')
    for (const name of node['required'] ?? []) assert.ok(node['properties'][name], name)
    if (node['enum']) assert.equal(new Set(node['enum']).size, node['enum'].length)
  })
}

// Runs the programs that integrators use on /openapi.json and the Postman collection: two linters, two type generators,
// a validating proxy and Newman. Needs the package registry or a filled npm cache.
import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test, type TestContext } from 'node:test'
import { apiTypes } from '../contract/credits.ts'
import { checkLedger } from '../server/credits/ledger/check-store.ts'
import {
  allExamples,
  callExample,
  type Callers,
  exampleCallers,
  requestFormatsOf,
} from './support/documented-call.ts'
import { installOpenApiTools, runTool, toolPath } from './support/openapi-tools.ts'
import { root } from './support/root.ts'
import { get, startService, type TestService } from './support/service.ts'

/** Smallest calls of every operation, with credentials in the body, the query or apart from both. */
const minimalCalls = `
import type { components, paths } from './openapi.d.ts'

type Body<P extends keyof paths> = paths[P] extends {
  post: { requestBody: { content: { 'application/json': infer B } } }
} ? B : never
type Query<P extends keyof paths> = paths[P] extends { get: { parameters: { query?: infer Q } } } ? Q : never

export const links: Body<'/api/shortlink_api.php'>[] = [
  { action: 'generate', target_url: 'https://example.com/', title: 'x' },
  { action: 'generate', target_url: 'https://example.com/', title: 'x', username: 'demo', api_key: 'k' },
  { action: 'update', link_id: 1, target_url: 'https://example.com/' },
  { action: 'execute_update', link_id: 1 },
  { action: 'get', short_code: 'aBcD234' },
]
export const messages: Body<'/api/sms_api.php'>[] = [
  { action: 'send_sms', phone_number: '13800138000', template_code: 'CODE_LOGIN' },
  { action: 'send', phone_number: '13800138000', template_code: 'CODE_LOGIN', template_params: { code: '1' } },
  { action: 'get_templates' },
  { action: 'get_credits' },
  { action: 'check_credits', api_type: 'sms' },
  { action: 'get_logs', biz_id: '1' },
]
export const queries: Query<'/api/sms_api.php'>[] = [
  { action: 'get_credits' },
  { action: 'get_credits', username: 'demo', api_key: 'k' },
]
export const person: Body<'/api/id_verification_api.php'> = { name: '张三', idcard: '11010519491231002X' }
export const personInQuery: Query<'/api/id_verification_api.php'> = { ...person, api_key: 'k' }
export const domains: Body<'/api/video_platform_check.php'> = { urls: ['example.com'] }
export const domainsInQuery: Query<'/api/video_platform_check.php'> = { urls: ['example.com'] }
export const results: string[] = ({} as components['schemas']['DomainCheckCheckAnswer']).data.results
// @ts-expect-error a generate without a title
export const wrong: Body<'/api/shortlink_api.php'> = { action: 'generate', target_url: 'https://example.com/' }
`

/** `accounts/webhook-deliveries/{id}` and `accounts/{id}/password` differ, because an id is a number. */
const ambiguousAllowed = ['--skip-rule', 'no-ambiguous-paths']

/** A change and a list of the operator's API. */
const operatorCalls = `
import type { operations } from './operator.d.ts'

type Change = operations['changeCredits']['requestBody']['content']['application/json']
export const change: Change = { api_type: 'sms', direction: 'grant', amount: 5, note: 'paid' }
// @ts-expect-error a change without a note
export const wrong: Change = { api_type: 'sms', direction: 'grant', amount: 5 }
export const names: string[] = (
  {} as operations['accounts']['responses'][200]['content']['application/json']
).items.map(({ username }) => username)
`

/** Operations whose success cannot be repeated: a number gets one code in 60 seconds, and a link can be deleted once. */
const onceOnly = ['sms sendCode', 'shortlink delete']

describe('programs for OpenAPI and Postman', { timeout: 900_000 }, () => {
  let folder: string
  let service: TestService
  let callers: Callers
  let reason: string | undefined

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollgate-openapi-'))
    service = await startService('sqlite')
    callers = await exampleCallers(service)
    reason = await installOpenApiTools()
  })
  after(async () => {
    await service[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })

  async function save(name: string, path: string): Promise<string> {
    const file = join(folder, name)
    await writeFile(file, await (await fetch(`${service.url}${path}`)).text())
    return file
  }

  const isSkipped = (context: TestContext) => {
    if (reason !== undefined) context.skip(reason)
    return reason !== undefined
  }

  const documents = [
    '/openapi.json',
    '/openapi.json?lang=zh',
    '/openapi.json?lang=en',
    '/openapi-operator.json',
  ]
  for (const path of documents) {
    test(`redocly (recommended-strict) reports nothing for ${path}`, async (context) => {
      if (isSkipped(context)) return
      const file = await save('openapi.json', path)
      const { stdout, stderr } = await runTool('redocly', [
        ...['lint', '--extends', 'recommended-strict', '--format', 'json', file],
        ...(path.includes('operator') ? ambiguousAllowed : []),
      ])
      assert.notEqual(stdout, '', stderr)
      const { totals, problems } = JSON.parse(stdout) as { totals: unknown; problems: unknown }
      assert.deepEqual(problems, [])
      assert.deepEqual(totals, { errors: 0, warnings: 0, ignored: 0 })
    })

    test(`spectral (spectral:oas) reports nothing for ${path}`, async (context) => {
      if (isSkipped(context)) return
      const file = await save('openapi.json', path)
      const ruleset = join(folder, 'ruleset.yaml')
      await writeFile(ruleset, 'extends: ["spectral:oas"]\n')
      const { code, stdout, stderr } = await runTool('spectral', [
        ...['lint', '--ruleset', ruleset, '--fail-severity', 'hint', '--format', 'json', '--quiet', file],
      ])
      assert.equal(code, 0, stdout + stderr)
      assert.deepEqual(JSON.parse(stdout), [])
    })
  }

  test('the linters report a defect', async (context) => {
    if (isSkipped(context)) return
    const file = await save('openapi.json', '/openapi.json')
    await writeFile(file, (await readFile(file, 'utf8')).replace('"title": "活动页"', '"title": 1'))
    const { code } = await runTool('redocly', ['lint', '--extends', 'recommended-strict', file])
    assert.equal(code, 1)
  })

  test('minimal calls compile with generated types', async (context) => {
    if (isSkipped(context)) return
    const file = await save('openapi.json', '/openapi.json')
    const generated = await runTool('openapi-typescript', [file, '--output', join(folder, 'openapi.d.ts')])
    assert.equal(generated.code, 0, generated.stdout + generated.stderr)
    await writeFile(join(folder, 'calls.ts'), minimalCalls)
    assert.equal(await compile('calls.ts'), '')
  })

  test('calls of operators compile with generated types', async (context) => {
    if (isSkipped(context)) return
    const file = await save('operator.json', '/openapi-operator.json')
    const generated = await runTool('openapi-typescript', [file, '--output', join(folder, 'operator.d.ts')])
    assert.equal(generated.code, 0, generated.stdout + generated.stderr)
    await writeFile(join(folder, 'operator-calls.ts'), operatorCalls)
    assert.equal(await compile('operator-calls.ts'), '')
  })

  /** Returns the errors of the compiler. */
  async function compile(file: string): Promise<string> {
    const options = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--allowImportingTsExtensions']
    return new Promise((resolve) => {
      const tsc = join(root, 'node_modules/.bin/tsc')
      execFile(tsc, [...options, '--module', 'esnext', file], { cwd: folder }, (error, stdout) =>
        resolve(error ? stdout : ''),
      )
    })
  }

  test('minimal calls compile with the types of another generator', async (context) => {
    if (isSkipped(context)) return
    const file = await save('openapi.json', '/openapi.json')
    const output = join(folder, 'generated')
    const generated = await runTool('openapi-ts', ['-i', file, '-o', output, '-p', '@hey-api/typescript'])
    assert.equal(generated.code, 0, generated.stdout + generated.stderr)
    await writeFile(
      join(folder, 'more-calls.ts'),
      minimalCalls.replace(
        /^import[^]*?never\ntype Query[^\n]*/m,
        `import type * as api from './generated/types.gen.ts'
type components = { schemas: { DomainCheckCheckAnswer: api.DomainCheckCheckAnswer } }
interface Bodies {
  '/api/shortlink_api.php': NonNullable<api.ShortlinkPostData['body']>
  '/api/sms_api.php': NonNullable<api.SmsPostData['body']>
  '/api/id_verification_api.php': NonNullable<api.IdentityPostData['body']>
  '/api/video_platform_check.php': NonNullable<api.DomainCheckPostData['body']>
}
interface Queries {
  '/api/sms_api.php': NonNullable<api.SmsGetData['query']>
  '/api/id_verification_api.php': NonNullable<api.IdentityGetData['query']>
  '/api/video_platform_check.php': NonNullable<api.DomainCheckGetData['query']>
}
type Body<P extends keyof Bodies> = Bodies[P]
type Query<P extends keyof Queries> = Queries[P]`,
      ),
    )
    assert.equal(await compile('more-calls.ts'), '')
  })

  test('a validating proxy passes every documented call, with credentials in every place', async (context) => {
    if (isSkipped(context)) return
    await using proxy = await startProxy(await save('openapi.json', '/openapi.json'), service.url)
    const problems: string[] = []
    let calls = 0
    for (const carrier of ['parameters', 'header', 'query'] as const) {
      for (const format of ['json', 'form', 'query'] as const) {
        for (const documented of allExamples()) {
          const { endpoint, name, operation, example } = documented
          // Requests with wrong parameters are for the proxy to reject.
          if (!requestFormatsOf(endpoint).includes(format) || example.status === 400) continue
          const isRepeated = format !== 'json' || carrier !== 'parameters'
          if (isRepeated && example.status === 200 && onceOnly.includes(`${endpoint.name} ${name}`)) continue
          // Prism reads no lists from a form whose schema is a `oneOf` of several operations.
          if (format === 'form' && Object.values(operation.parameters).some(({ type }) => type === 'items'))
            continue
          const reply = await callExample(proxy, callers, documented, format, carrier)
          calls += 1
          if (reply.status !== example.status || reply.headers.has('sl-violations')) {
            const label = `${endpoint.name} ${name} ${example.title.en} (${format}, ${carrier})`
            problems.push(`${label}: ${reply.status} ${JSON.stringify(reply.body)}`)
          }
        }
      }
    }
    assert.deepEqual(problems, [])
    assert.ok(calls > 150, String(calls))
  })

  test('the validating proxy rejects a call that violates the document', async (context) => {
    if (isSkipped(context)) return
    await using proxy = await startProxy(await save('openapi.json', '/openapi.json'), service.url)
    const missing = allExamples().find(({ example }) => example.title.en === 'Missing parameter')!
    assert.equal((await callExample(proxy, callers, missing)).status, 422)
  })

  test('Newman runs the Postman collection: every request gets its documented response and charge', async (context) => {
    if (isSkipped(context)) return
    await using live = await startService('sqlite')
    const { sample } = await exampleCallers(live)
    const collection = join(folder, 'postman.json')
    await writeFile(collection, await (await fetch(`${live.url}/docs/postman.json`)).text())
    const report = join(folder, 'report.json')
    const { stdout, stderr } = await runTool('newman', [
      ...[
        'run',
        collection,
        '--env-var',
        `username=${sample.username}`,
        '--env-var',
        `api_key=${sample.key}`,
      ],
      ...['--reporters', 'json', '--reporter-json-export', report],
    ])
    const { run } = JSON.parse(await readFile(report, 'utf8')) as {
      run: {
        stats: Readonly<Record<'requests' | 'assertions', { total: number; failed: number }>>
        failures: readonly { source: { name: string }; error: { test: string; message: string } }[]
        executions: readonly { item: { name: string }; assertions?: readonly unknown[] }[]
      }
    }
    assert.deepEqual(
      run.failures.map(({ source, error }) => `${source.name}: ${error.test}: ${error.message}`),
      [],
      stdout + stderr,
    )
    assert.equal(run.stats.requests.total, 69)
    for (const { item, assertions = [] } of run.executions) assert.ok(assertions.length >= 2, item.name)
    const used: Record<string, number> = {}
    for (const apiType of apiTypes) {
      const query = `username=${sample.username}&api_key=${sample.key}&action=get_credits&api_type=${apiType}`
      used[apiType] = (await get(`${live.url}/api/sms_api.php?${query}`)).body.data.used
    }
    // Links: one created, one refreshed, a batch of two. SMS: one sent, one code, a batch of two; refused ones are refunded.
    assert.deepEqual(used, { short_link: 4, sms: 4, id_verification: 2, domain_check: 6 })
    assert.deepEqual((await checkLedger(live.installation.db, 10_000)).problems, [])
  })
})

/** Prism as a proxy that rejects requests and responses that violate the document. */
async function startProxy(
  document: string,
  upstream: string,
): Promise<AsyncDisposable & { readonly url: string }> {
  const port = await freePort()
  const args = ['proxy', document, upstream, '--errors', '--port', String(port), '--host', '127.0.0.1']
  const child: ChildProcess = spawn(toolPath('prism'), args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const closed = once(child, 'close')
  let output = ''
  await new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.on('data', (data: Buffer) => {
        output += data.toString()
        if (output.includes('is listening')) resolve()
      })
    }
    closed.then(() => reject(new Error(output)), reject)
  })
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      await closed
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

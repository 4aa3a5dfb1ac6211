// The built SDK, imported by its package name and called against the real service.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { globSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { checkLedger } from '../server/credits/ledger/check-store.ts'
import type * as Sdk from '../sdk/node/src/index.ts'
import { type Callers, exampleCallers } from './support/documented-call.ts'
import { root } from './support/root.ts'
import { generateWebhookSecret, signWebhook } from '../server/events/signature.ts'
import { startService, type TestService } from './support/service.ts'

const run = promisify(execFile)
const environment = { ...process.env, NODE_TEST_CONTEXT: undefined, NODE_OPTIONS: undefined }

describe('sdk', () => {
  let sdk: typeof Sdk
  let project: string
  let service: TestService
  let callers: Callers
  const servers: Server[] = []

  before(async () => {
    project = await mkdtemp(join(tmpdir(), 'tollgate-sdk-'))
    const installed = join(project, 'node_modules', '@tollgate', 'sdk')
    await mkdir(installed, { recursive: true })
    await cp(join(root, 'sdk', 'node', 'package.json'), join(installed, 'package.json'))
    const compiler = join(root, 'node_modules', '.bin', 'tsc')
    await run(compiler, ['-p', join(root, 'sdk', 'node'), '--outDir', join(installed, 'dist')], {
      env: environment,
    })
    const cjs = join(installed, 'dist', 'cjs')
    await run(compiler, ['-p', join(root, 'sdk', 'node', 'tsconfig.cjs.json'), '--outDir', cjs], {
      env: environment,
    })
    await writeFile(join(cjs, 'package.json'), JSON.stringify({ type: 'commonjs' }))
    sdk = (await import(pathToFileURL(join(installed, 'dist', 'index.js')).href)) as typeof Sdk
    service = await startService('sqlite')
    callers = await exampleCallers(service)
  })
  after(async () => {
    for (const server of servers) {
      server.closeAllConnections()
      server.close()
    }
    // Undefined if `before` failed.
    await (service as TestService | undefined)?.[Symbol.asyncDispose]()
    await rm(project, { recursive: true, force: true })
  })

  test('the build in sdk/node/dist is that of the sources', async () => {
    const filesOf = async (folder: string) =>
      new Map(
        await Promise.all(
          globSync('**/*.{js,ts,json}', { cwd: folder })
            .toSorted()
            .map(async (path) => [path, await readFile(join(folder, path), 'utf8')] as const),
        ),
      )
    assert.deepEqual(
      await filesOf(join(root, 'sdk', 'node', 'dist')),
      await filesOf(join(project, 'node_modules', '@tollgate', 'sdk', 'dist')),
      'run npm run build:sdk and commit sdk/node/dist',
    )
  })

  test('is loaded by import and by require', async () => {
    for (const [file, code] of [
      [
        'a.mjs',
        `import { Tollgate, codes } from '@tollgate/sdk'; console.log(typeof Tollgate, typeof codes)`,
      ],
      [
        'a.cjs',
        `const { Tollgate, codes } = require('@tollgate/sdk'); console.log(typeof Tollgate, typeof codes)`,
      ],
    ] as const) {
      await writeFile(join(project, file), code)
      const { stdout } = await run(process.execPath, [join(project, file)], { env: environment })
      assert.equal(stdout.trim(), 'function object', file)
    }
  })

  test('verifies webhooks and returns the event', () => {
    const secret = generateWebhookSecret()
    const body = '{"type":"ping","timestamp":"2026-01-02T03:04:05+08:00","data":{"text":"短信"}}'
    const timestamp = Math.floor(Date.now() / 1000)
    const headers = signWebhook({ id: 'evt_1', timestamp, body }, [generateWebhookSecret(), secret])
    assert.deepEqual(sdk.verifyWebhook(secret, headers, body)?.data, { text: '短信' })
    assert.equal(sdk.verifyWebhook(secret, headers, Buffer.from(body))?.type, 'ping')
    assert.equal(sdk.verifyWebhook(secret, headers, `${body} `), undefined)
    assert.equal(sdk.verifyWebhook(generateWebhookSecret(), headers, body), undefined)
    const old = signWebhook({ id: 'evt_1', timestamp: timestamp - 301, body }, [secret])
    assert.equal(sdk.verifyWebhook(secret, old, body), undefined)
    assert.equal(sdk.verifyWebhook(secret, {}, body), undefined)
  })

  function client(options: Partial<Sdk.TollgateOptions> = {}): Sdk.Tollgate {
    const { username, key } = callers.sample
    return new sdk.Tollgate({ baseUrl: service.url, username, apiKey: key, ...options })
  }

  async function listen(
    handle: (request: IncomingMessage, response: ServerResponse) => void,
  ): Promise<string> {
    const server = createServer(handle)
    servers.push(server)
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    return `http://127.0.0.1:${(server.address() as { port: number }).port}`
  }

  test('calls every operation', async () => {
    const tollgate = client()
    const created = await tollgate.shortlink.generate({ target_url: 'https://example.com/a', title: '标题' })
    const { link_id: id } = created
    assert.equal(created.remaining_balance, 999)
    assert.deepEqual(await tollgate.shortlink.update({ link_id: id, target_url: 'https://example.com/b' }), {
      link_id: id,
      message: '短链接已更新',
    })
    const refreshed = await tollgate.shortlink.executeUpdate({ link_id: id })
    assert.equal(refreshed.remaining_balance, 998)
    const link = await tollgate.shortlink.get({ short_code: refreshed.short_code })
    assert.deepEqual([link.link_id, link.target_url, link.clicks], [id, 'https://example.com/b', 0])

    const sent = await tollgate.sms.send({
      phone_number: '13800138000',
      template_code: 'CODE_LOGIN',
      template_params: { code: 1234 },
    })
    assert.equal(sent.remaining_credits, 999)
    assert.equal((await tollgate.sms.templates()).length, 3)
    assert.equal((await tollgate.sms.credits()).remaining, 999)
    assert.equal((await tollgate.sms.credits({ api_type: 'short_link' })).used, 2)
    const [record] = await tollgate.sms.logs({ biz_id: sent.biz_id })
    assert.deepEqual([record?.success, record?.template_params], [true, { code: '1234' }])

    const person = await tollgate.identity.verify({ name: '张三', idcard: '11010519491231002X' })
    assert.deepEqual([person.matched, person.extra.birthday], [true, '1949-12-31'])
    const failed = await tollgate.identity.verify({ name: '上游故障', idcard: '11010519491231002X' })
    assert.deepEqual([failed.success, failed.matched], [false, false])

    const checked = await tollgate.domains.check({
      urls: ['example.com', 'blocked.test'],
      check_random: true,
    })
    assert.deepEqual(checked.results, ['未拦截', '已拦截', '未拦截', '已拦截'])
  })

  test('throws typed errors with code, message and request ID', async () => {
    const person = { name: '张三', idcard: '11010519491231002X' }
    const message = {
      phone_number: '13800138000',
      template_code: 'CODE_LOGIN',
      template_params: { code: '1' },
    }
    const { username, key } = callers['without credits']
    const withoutCredits = client({ username, apiKey: key })
    const cases: readonly [() => Promise<unknown>, number | undefined, number, RegExp][] = [
      [() => client({ apiKey: 'tg_wrong' }).sms.credits(), 1003, 401, /密钥错误/],
      [
        () => client({ apiKey: 'tg_wrong', language: 'en' }).sms.credits(),
        1003,
        401,
        /wrong user name or API key/,
      ],
      [() => client().sms.logs({}), 1001, 400, /至少/],
      [() => client().sms.send({ ...message, phone_number: '1' }), 1002, 400, /phone_number/],
      [() => client().sms.send({ ...message, phone_number: '19900000001' }), 1005, 502, /发送失败/],
      [() => client().sms.send({ ...message, template_code: 'NONE' }), 1007, 404, /模板/],
      [() => withoutCredits.identity.verify(person), 1004, 403, /次数不足/],
      [() => client().shortlink.get({ link_id: 999 }), undefined, 400, /链接不存在/],
      [
        () => withoutCredits.shortlink.generate({ target_url: 'https://a.example', title: 'x' }),
        undefined,
        400,
        /次数不足/,
      ],
    ]
    for (const [attempt, code, status, text] of cases) {
      const error = await attempt().then(
        () => assert.fail('no error'),
        (thrown: unknown) => thrown,
      )
      assert.ok(error instanceof sdk.TollgateApiError && error instanceof sdk.TollgateError)
      assert.deepEqual([error.code, error.status], [code, status])
      assert.match(error.message, text)
      assert.match(error.requestId ?? '', /^[0-9a-f-]{36}$/)
      assert.ok(service.logged.some((line) => line.includes(error.requestId!)))
    }
  })

  test('recognizes errors of a service that returns HTTP 200 for errors', async () => {
    await using lenient = await startService('sqlite', { ERROR_HTTP_STATUS: 'ok' })
    const { username, key } = await lenient.account()
    const tollgate = client({ baseUrl: lenient.url, username, apiKey: key })
    await assert.rejects(tollgate.sms.logs({}), { name: 'TollgateApiError', code: 1001, status: 200 })
    await assert.rejects(tollgate.identity.verify({ name: 'x', idcard: 'y' }), { code: 1002 })
  })

  test('retries after an interrupted response with the same key and is charged once', async () => {
    const keys: (string | undefined)[] = []
    const proxy = await listen((request, response) => {
      keys.push(request.headers['idempotency-key'] as string | undefined)
      void forward(service.url, request).then((forwarded) => {
        // The call succeeds, but its first response is interrupted.
        if (keys.length === 1) response.destroy()
        else response.writeHead(forwarded.status, { 'content-type': 'application/json' }).end(forwarded.text)
      })
    })
    const initial = await client().sms.credits()
    const sent = await client({ baseUrl: proxy }).sms.send({
      phone_number: '13900139000',
      template_code: 'CODE_LOGIN',
      template_params: { code: '77' },
    })
    assert.equal(sent.remaining_credits, initial.remaining - 1)
    assert.equal(keys.length, 2)
    assert.ok(keys[0] && keys[0] === keys[1])
    assert.equal((await client().sms.credits()).remaining, initial.remaining - 1)
    assert.equal((await client().sms.logs({ phone_number: '13900139000' })).length, 1)
    assert.deepEqual((await checkLedger(service.installation.db, 10_000)).problems, [])
  })

  test('replays the first response for a given idempotency key and rejects other parameters', async () => {
    const link = { target_url: 'https://example.com/order', title: '订单' }
    const first = await client().shortlink.generate(link, { idempotencyKey: 'order-1' })
    assert.deepEqual(await client().shortlink.generate(link, { idempotencyKey: 'order-1' }), first)
    await assert.rejects(
      client().shortlink.generate({ ...link, title: '另' }, { idempotencyKey: 'order-1' }),
      {
        name: 'TollgateApiError',
        status: 422,
        idempotencyKey: 'order-1',
      },
    )
  })

  test('waits for Retry-After, but no longer than longestWaitMs', async () => {
    let calls = 0
    const busy = await listen((_request, response) => {
      calls += 1
      response
        .writeHead(429, { 'retry-after': calls === 1 ? '0' : '3600', 'x-request-id': 'r1' })
        .end('{"code":429,"message":"请求过于频繁"}')
    })
    await assert.rejects(client({ baseUrl: busy, retries: 5 }).sms.templates(), {
      name: 'TollgateApiError',
      code: 429,
      retryAfter: 3600,
      requestId: 'r1',
    })
    assert.equal(calls, 2)
  })

  test('throws different errors for a timeout, an unreachable service and an invalid response', async () => {
    const silent = await listen(() => undefined)
    await assert.rejects(client({ baseUrl: silent, timeoutMs: 50, retries: 0 }).sms.credits(), {
      name: 'TollgateTimeoutError',
    })
    await assert.rejects(client({ baseUrl: 'http://127.0.0.1:9', retries: 0 }).sms.credits(), {
      name: 'TollgateConnectionError',
    })
    for (const text of ['<html>502</html>', '[]', '{}', '{"code":0}']) {
      const invalid = await listen((_request, response) => void response.end(text))
      await assert.rejects(client({ baseUrl: invalid, retries: 0 }).sms.credits(), {
        name: 'TollgateConnectionError',
      })
    }
  })

  test('rejects invalid options, and no error contains the key', async () => {
    assert.throws(() => client({ baseUrl: 'api.example.com' }), /baseUrl/)
    assert.throws(() => client({ apiKey: '' }), /apiKey is missing/)
    const { inspect } = await import('node:util')
    const secret = 'tg_a_key_that_must_not_be_seen'
    const tollgate = client({ baseUrl: 'http://127.0.0.1:9', apiKey: secret, retries: 0 })
    const error: unknown = await tollgate.sms.credits().catch((thrown: unknown) => thrown)
    assert.ok(!inspect(error, { depth: 9, showHidden: true }).includes(secret))
    assert.ok(!inspect(tollgate, { depth: 9, showHidden: true }).includes(secret))
  })

  test('the first example of the README runs on the installed Node.js', async (context) => {
    const { username, key } = callers.sample
    const readme = await readFile(join(root, 'sdk', 'node', 'README.md'), 'utf8')
    const code = /```js\n([\s\S]*?)```/.exec(readme)![1]!
    const program = code
      .replace('https://api.example.com', service.url)
      .replace(`'demo'`, `'${username}'`)
      .replace('process.env.TOLLGATE_API_KEY', `'${key}'`)
    assert.ok(program.includes(key))
    await writeFile(join(project, 'first.mjs'), program)
    // PATH without node_modules finds the Node.js of the machine instead of the packaged one.
    const path = (process.env['PATH'] ?? '').split(':').filter((folder) => !folder.includes('node_modules'))
    const env = { ...environment, PATH: path.join(':') }
    const { stdout: version } = await run('node', ['--version'], { env }).catch(() => ({ stdout: 'v0' }))
    if (Number(/^v(\d+)/.exec(version)?.[1]) < 18) {
      context.skip('Node.js 18 or later is not installed')
      return
    }
    const { stdout } = await run('node', ['first.mjs'], { cwd: project, env })
    assert.match(stdout, /\/[2-9A-Za-z]{7}\n/)
  })

  test('its types work in a TypeScript project that installs it', async () => {
    await symlink(join(root, 'node_modules', '@types'), join(project, 'node_modules', '@types'))
    await writeFile(
      join(project, 'tsconfig.json'),
      JSON.stringify({
        compilerOptions: {
          module: 'nodenext',
          target: 'es2022',
          strict: true,
          noEmit: true,
          types: ['node'],
        },
        files: ['good.mts', 'bad.mts'],
      }),
    )
    const start = `import { codes, Tollgate, TollgateApiError, type Link } from '@tollgate/sdk'
const tollgate = new Tollgate({ baseUrl: 'http://x', username: 'u', apiKey: 'k' })
`
    await writeFile(
      join(project, 'good.mts'),
      `${start}
const link: Link = await tollgate.shortlink.get({ link_id: 1 })
const clicks: number = link.clicks
try { await tollgate.sms.templates() } catch (error) {
  if (error instanceof TollgateApiError && error.code === codes.noSuchTemplate) console.log(error.requestId, clicks)
}
`,
    )
    await writeFile(
      join(project, 'bad.mts'),
      `${start}
await tollgate.shortlink.generate({ target_url: 'x' })
await tollgate.shortlink.generate({ target_url: 'x', title: 'y', redirect_type: 'fast' })
await tollgate.sms.credits({ api_type: 'fax' })
await tollgate.shortlink.get({})
`,
    )
    const compiler = join(root, 'node_modules', '.bin', 'tsc')
    const { stdout } = await run(compiler, ['-p', project], { env: environment }).catch(
      (error: unknown) => error as { stdout: string },
    )
    const lines = stdout.split('\n').filter((line) => line.includes('error TS'))
    assert.deepEqual(
      lines.map((line) => /(\w+)\.mts\((\d+)/.exec(line)?.slice(1, 3).join(' ')),
      ['bad 4', 'bad 5', 'bad 6', 'bad 7'],
      stdout,
    )
  })
})

async function forward(base: string, request: IncomingMessage): Promise<{ status: number; text: string }> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  const response = await fetch(`${base}${request.url ?? ''}`, {
    method: 'POST',
    headers: Object.fromEntries(
      ['content-type', 'api-key', 'idempotency-key'].flatMap((name) => {
        const value = request.headers[name]
        return typeof value === 'string' ? [[name, value]] : []
      }),
    ),
    body: Buffer.concat(parts),
  })
  return { status: response.status, text: await response.text() }
}

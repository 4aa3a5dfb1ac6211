// Inputs that are expensive to process or that could inject headers and formulas.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { consoleApi } from '../../contract/console/route.ts'
import { creditRoutes } from '../../contract/console/credits.ts'
import { operatorRoutes } from '../../contract/console/operator.ts'
import { sessionRoutes } from '../../contract/console/session.ts'
import { smsBatchRoutes } from '../../contract/console/sms-batches.ts'
import { domainCheck } from '../../contract/domain-check.ts'
import type { Endpoint } from '../../contract/endpoint.ts'
import { identity } from '../../contract/identity.ts'
import { maskName } from '../../contract/masking.ts'
import type { Parameters } from '../../contract/parameters.ts'
import { shortlink } from '../../contract/shortlink.ts'
import { signNameProblem } from '../../contract/sign-name.ts'
import { sms } from '../../contract/sms.ts'
import { csvLine } from '../../contract/csv.ts'
import { decodeBody } from '../../server/http/body.ts'
import { AppError } from '../../server/http/errors.ts'
import { readParameters } from '../../server/http/parameters.ts'
import { titleProblem } from '../../server/shortlink/targets.ts'
import { type Browser, operator, signedIn } from '../support/console.ts'
import { post, startService, type TestAccount, type TestService } from '../support/service.ts'
import { minCpuMs, slowTexts } from '../support/slow-texts.ts'

const endpoints: readonly Endpoint[] = [shortlink, sms, identity, domainCheck]
const receiptSecret = 'a-secret-of-the-receipts-of-a-test'

describe('inputs', () => {
  let service: TestService
  let account: TestAccount
  let browser: Browser
  before(async () => {
    service = await startService('sqlite', {
      MCP: 'on',
      SMS_RECEIPT_SECRET_ALIYUN: receiptSecret,
      PAYMENTS: 'stripe',
      STRIPE_SECRET_KEY: 'sk_test_1',
      STRIPE_WEBHOOK_SECRET: 'whsec_of_the_test',
      STRIPE_ENDPOINT: 'http://127.0.0.1:9',
    })
    account = await service.account({ short_link: 1e6, sms: 1e6, id_verification: 1e6, domain_check: 1e6 })
    browser = await signedIn(service, account)
  })
  after(() => service[Symbol.asyncDispose]())

  const examplesOf = (parameters: Parameters) =>
    Object.fromEntries(Object.entries(parameters).map(([name, { example }]) => [name, example]))

  it('25 100 kB in any parameter of any operation take less than 50 ms', { timeout: 120_000 }, async () => {
    for (const endpoint of endpoints) {
      for (const [index, operation] of Object.values(endpoint.operations).entries()) {
        const action = operation.actions[0] === undefined ? {} : { action: operation.actions[0] }
        const valid = {
          ...examplesOf(operation.parameters),
          ...action,
          username: account.username,
          api_key: account.key,
        }
        for (const name of Object.keys({ ...(index === 0 && endpoint.common), ...operation.parameters })) {
          for (const text of slowTexts) {
            for (const value of name === 'template_params'
              ? [text, { [text]: '1' }, { code: text }]
              : [text]) {
              const send = () => post(`${service.url}${endpoint.path}`, { ...valid, [name]: value })
              const ms = await minCpuMs(send, 50)
              assert.ok(ms < 50, `${endpoint.name} ${name} ${text.slice(0, 12)}… ${ms} ms`)
            }
          }
        }
      }
    }
  })

  it('25 100 kB in any field of a console form take less than 50 ms', { timeout: 120_000 }, async () => {
    const operatorBrowser = await operator(service)
    const id = account.id
    const forms: [Browser, { method: 'POST' | 'PATCH'; path: string }, Record<string, unknown>][] = [
      [browser, { method: 'POST', path: creditRoutes.redeem.path }, { code: 'x' }],
      [
        operatorBrowser,
        { method: 'POST', path: operatorRoutes.createAccount.path },
        { username: '', password: '', expires_on: '', note: '' },
      ],
      [
        operatorBrowser,
        { method: 'PATCH', path: operatorRoutes.changeAccount.path },
        { expires_on: '', sign_name: '', note: '' },
      ],
      [
        operatorBrowser,
        { method: 'POST', path: operatorRoutes.changeCredits.path },
        { api_type: '', direction: '', note: '' },
      ],
      [
        operatorBrowser,
        { method: 'POST', path: operatorRoutes.makeRedeemBatch.path },
        { api_type: '', expires_on: '', note: '' },
      ],
      [browser, { method: 'POST', path: sessionRoutes.changePassword.path }, { new_password: '' }],
    ]
    for (const [client, route, fields] of forms) {
      for (const name of Object.keys(fields)) {
        for (const text of slowTexts) {
          const send = async () => {
            const reply = await client.call(route, { parts: { id }, sent: { ...fields, [name]: text } })
            assert.ok(reply.status < 500, `${route.path} ${name} ${reply.status}`)
          }
          const ms = await minCpuMs(send, 50)
          assert.ok(ms < 50, `${route.path} ${name} ${text.slice(0, 12)}… ${ms} ms`)
        }
      }
    }
  })

  it(
    '165 a megabyte in any form is decoded or refused in less than 50 ms',
    { timeout: 120_000 },
    async () => {
      const json = 'application/json'
      const urlencoded = 'application/x-www-form-urlencoded'
      const megabyte = (unit: string) => unit.repeat(1_000_000 / unit.length)
      const bodies: readonly (readonly [type: string, body: string])[] = [
        [json, `{"a":${megabyte('[')}`],
        [json, `{"a":1${megabyte('}x')}`],
        [json, `{"a":"${megabyte('\\"')}"}`],
        [json, `{"${'x'.repeat(900_000)}"${':'.repeat(20_000)}`],
        [json, `{"a":[${megabyte('{"":0},')}`],
        [json, `{${Array.from({ length: 90_000 }, (_, i) => `"k${i}":1`).join(',')}}`],
        [urlencoded, `a=${megabyte('+')}`],
        [urlencoded, `a${megabyte('[')}xconstructor=1`],
        [urlencoded, `a${megabyte('[xconstructor')}=1`],
        ['multipart/form-data; boundary=x', megabyte('\r\n--x\r\n')],
        ['multipart/form-data; boundary=x', `--x${megabyte(' ')}`],
      ]
      const cases = bodies.map(([contentType, body]) => {
        const input = { contentType, contentEncoding: undefined, body: Buffer.from(body), readForms: true }
        return [body, () => decodeBody(input)] as const
      })
      const { parameters } = domainCheck.operations.check
      const lines = '\n'.repeat(1_000_000)
      const readLines = () => readParameters({ headers: {}, json: { urls: `a${lines}b` } }, parameters)
      const rare = '𠮷'.repeat(250_000)
      const counted = [maskName, signNameProblem, titleProblem].map(
        (count) => [rare, () => count(rare)] as const,
      )
      for (const [text, work] of [...cases, ...counted, [lines, readLines] as const]) {
        const run = async () => {
          try {
            work()
          } catch (error) {
            assert.ok(error instanceof AppError)
          }
        }
        const ms = await minCpuMs(run, 50)
        assert.ok(ms < 50, `${text.slice(0, 12)}… ${ms} ms`)
      }
    },
  )

  it('168 a body of thousands of tiny chunks is refused, one of larger chunks is read', async () => {
    const send = async (path: string, chunk: string, count: number) => {
      const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
      const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n`
      const whole = `${chunk.length.toString(16)}\r\n${chunk}\r\n`.repeat(count)
      let text = ''
      socket.on('data', (data: Buffer) => (text += data.toString()))
      // The connection may be closed while the rest is sent.
      socket.on('error', () => undefined)
      socket.end(`${head}${whole}0\r\n\r\n`)
      await once(socket, 'close')
      return text
    }
    assert.match(await send(sms.path, ' ', 6_000), /^HTTP\/1\.1 400 [^]*分块过小/)
    assert.match(await send(sms.path, '?'.repeat(100), 6_000), /^HTTP\/1\.1 400 [^]*不是有效的 JSON/)
    for (const path of ['/mcp', `${consoleApi}${sessionRoutes.signIn.path}`]) {
      assert.doesNotMatch(await send(path, ' ', 6_000), /^HTTP\/1\.1 (?!400)/)
    }
  })

  it(
    '23 rejects a gzip bomb without decompressing it, and an endless body',
    { timeout: 60_000 },
    async () => {
      const bomb = gzipSync(Buffer.alloc(128 * 1_048_576), { level: 9 })
      const previous = process.memoryUsage.rss()
      for (const path of [...endpoints.map((endpoint) => endpoint.path), '/console/api/sign-in']) {
        for (const encoding of ['gzip', 'deflate', 'br', 'GZIP', 'identity, gzip', 'zstd']) {
          const response = await fetch(`${service.url}${path}`, {
            method: 'POST',
            headers: { 'content-type': 'application/json', 'content-encoding': encoding },
            body: bomb,
          })
          await response.arrayBuffer()
          assert.ok([400, 401, 413, 415].includes(response.status), `${path} ${encoding} ${response.status}`)
        }
        assert.equal(await sendEndlessBody(path), 413, path)
      }
      assert.ok(process.memoryUsage.rss() - previous < 200 * 1_048_576)
    },
  )

  /** Sends chunks until a response arrives or the connection ends. */
  function sendEndlessBody(path: string): Promise<number> {
    const chunk = Buffer.alloc(65_536, '[')
    return new Promise((resolve, reject) => {
      const sent = request(`${service.url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
      })
      let written = 0
      let hasResponse = false
      sent.on('response', (response) => {
        hasResponse = true
        response.resume()
        resolve(response.statusCode ?? 0)
        sent.destroy()
      })
      sent.on('error', (error) => {
        if (!hasResponse) reject(error)
      })
      const writeNext = () => {
        if (hasResponse) return
        written += chunk.length
        if (written > 256 * 1_048_576) reject(new Error('256 MiB were accepted'))
        else sent.write(chunk, () => setImmediate(writeNext))
      }
      writeNext()
    })
  }

  it('23 bounds the memory of the request log for large chunked bodies', async () => {
    const filler = 'x'.repeat(900_000)
    const key = `Bearer ${account.key}`
    const credentials = { username: account.username, api_key: account.key }
    const { cookie = '', csrf = '' } = browser
    const message = { phone_number: '13800138000', template_params: { filler: 'x'.repeat(900) } }
    const messages = Array.from({ length: 950 }, () => message)
    const bodies: readonly (readonly [path: string, body: object, headers: Record<string, string>])[] = [
      [sms.path, { ...credentials, action: 'get_credits', filler }, {}],
      [
        '/mcp',
        {
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: { name: 'sms_credits', arguments: { filler } },
        },
        { authorization: key },
      ],
      [
        `${consoleApi}${smsBatchRoutes.sendBatch.path}`,
        { template_code: 'SMS_NONE', messages },
        { cookie, 'x-csrf-token': csrf },
      ],
    ]
    for (const [path, body, headers] of bodies) {
      const text = JSON.stringify(body)
      const previous = service.app.requestLog.stats.dropped
      const send = () =>
        new Promise<void>((resolve, reject) => {
          const sent = request(`${service.url}${path}`, {
            method: 'POST',
            headers: { 'content-type': 'application/json', 'transfer-encoding': 'chunked', ...headers },
          })
          sent.on('response', (response) => response.resume().on('end', () => resolve()))
          sent.on('error', reject)
          sent.end(text)
        })
      // A session that was not used for a minute would wait for the database.
      await browser.call(sessionRoutes.me)
      // The calls of other tests may still be in the queue.
      await service.app.requestLog.flush()
      // The blocked database keeps all entries in the queue, which holds at most 16 MiB and drops the rest.
      const { db } = service.installation
      const { promise, resolve } = Promise.withResolvers<void>()
      const blocked = db.write(() => promise)
      try {
        for (let round = 0; round < 40; round += 1) await send()
      } finally {
        resolve()
      }
      const { waiting, dropped } = service.app.requestLog.stats
      await blocked
      assert.ok(dropped > previous, `${path}: no entries were dropped`)
      assert.ok(waiting <= 16, `${path}: ${waiting} bodies of 1 MB are queued`)
    }
  })

  it('146 large bodies of the console, receipts, payment notifications and /mcp wait for those of the same address', async () => {
    const { largeBodies } = service.app.services.http
    const filler = 'x'.repeat(100_000)
    const send = async (path: string, value: object, headers: Record<string, string> = {}) => {
      const response = await fetch(`${service.url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(value),
      })
      await response.arrayBuffer()
      return response.status
    }
    const { cookie = '', csrf = '' } = browser
    const targets: readonly ((values: object) => Promise<number>)[] = [
      (values) =>
        send('/mcp', { jsonrpc: '2.0', id: 1, method: 'ping', ...values }, { authorization: 'Bearer x' }),
      (values) => send(`/receipts/sms/aliyun/${receiptSecret}`, values),
      (values) => send('/payments/notify/stripe', values),
      (values) => send(`${consoleApi}/redeem`, { code: 'x', ...values }, { cookie, 'x-csrf-token': csrf }),
    ]
    const places = await Promise.all(Array.from({ length: 16 }, () => largeBodies.begin('127.0.0.1')))
    let isFree = false
    const large = targets.map(async (target) => {
      const status = await target({ filler })
      assert.ok(isFree, 'the body did not wait')
      return status
    })
    // These do not wait.
    const small = await Promise.all(targets.map((target) => target({})))
    isFree = true
    for (const end of places) end()
    assert.deepEqual(await Promise.all(large), small)
  })

  it('22 the console ignores names that reach a prototype', async () => {
    for (const body of [
      '{"__proto__":{"role":"operator"},"username":"a","password":"b"}',
      '{"constructor":{"prototype":{"role":"operator"}},"username":"a","password":"b"}',
      `{"username":${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)},"password":"b"}`,
    ]) {
      const response = await fetch(`${service.url}/console/api/sign-in`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      })
      assert.equal(response.status, 400, body.slice(0, 40))
    }
    for (const query of [
      '__proto__[role]=operator',
      'constructor.prototype.role=operator',
      `${'a&'.repeat(3_000)}`,
    ]) {
      const response = await fetch(`${service.url}/console/api/start?${query}`)
      assert.equal(response.status, 200)
    }
    assert.equal(({} as Record<string, unknown>)['role'], undefined)
  })

  it('21 targets, titles and file names cannot inject a header', async () => {
    const generate = (target_url: string) =>
      post(`${service.url}${shortlink.path}`, {
        username: account.username,
        api_key: account.key,
        action: 'generate',
        title: 't',
        target_url,
      })
    for (const invalid of [
      'https://a.test/\r\nSet-Cookie: a=b',
      'https://a.test/\nX: y',
      'https://a.test/\u2028X',
      'https://a.test/\0',
    ]) {
      assert.equal((await generate(invalid)).status, 400)
    }
    for (const unusual of [
      'https://a.test/%0d%0aSet-Cookie:%20a=b',
      'https://a.test/汉字?嗨=\u{1F600}#片',
      'https://例子.测试/',
    ]) {
      const { body } = await generate(unusual)
      const visit = await fetch(body.data.a_url, { redirect: 'manual' })
      assert.equal(visit.status, 302)
      assert.match(visit.headers.get('location') ?? '', /^[\x21-\x7e]+$/)
      assert.equal(visit.headers.get('set-cookie'), null)
    }
    const file = await browser.text(creditRoutes.ledgerCsv, {
      sent: { from: '2026-01-01', to: '2026-01-02' },
    })
    assert.equal(
      file.headers.get('content-disposition'),
      'attachment; filename="ledger-2026-01-01-2026-01-02.csv"',
    )
    const forged = await browser.text(creditRoutes.ledgerCsv, { sent: { from: '2026-01-01"\r\nX: y' } })
    assert.equal(forged.status, 400)
  })

  it('28 escapes full-width signs that start a formula', () => {
    for (const start of ['＝', '＋', '－', '＠']) assert.equal(csvLine([`${start}1+1`]), `'${start}1+1\r\n`)
  })
})

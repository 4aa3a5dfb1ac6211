// The MCP endpoint: tools, charges and errors.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { documentedEndpoints } from '../../contract/reference/interface.ts'
import { startService, type TestAccount, type TestService } from '../../test/support/service.ts'

interface McpReply {
  readonly status: number
  // oxlint-disable-next-line typescript/no-explicit-any -- responses have different shapes
  readonly body: any
}

describe('MCP endpoint', () => {
  let service: TestService
  let account: TestAccount

  before(async () => {
    service = await startService('sqlite', { MCP: 'on' })
    account = await service.account({ short_link: 5 })
  })
  after(() => service[Symbol.asyncDispose]())

  async function send(body: unknown, headers: Record<string, string> = {}): Promise<McpReply> {
    const response = await fetch(`${service.url}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${account.key}`, ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
  }

  const request = (method: string, params: unknown = {}) => ({ jsonrpc: '2.0', id: 1, method, params })
  const call = async (name: string, values: unknown, headers?: Record<string, string>) =>
    (await send(request('tools/call', { name, arguments: values }), headers)).body.result

  test('lists a tool for every operation of the interface', async () => {
    const { body } = await send(request('tools/list'))
    const names = (body.result.tools as { name: string }[]).map(({ name }) => name)
    const expected = documentedEndpoints.flatMap(({ endpoint }) =>
      Object.keys(endpoint.operations).map((name) => `${endpoint.name}_${name}`.replaceAll('-', '_')),
    )
    assert.deepEqual(names, expected)
    for (const tool of body.result.tools) {
      assert.match(tool.name, /^[a-zA-Z0-9_]{1,64}$/)
      assert.equal(tool.inputSchema.type, 'object')
      const paid = tool.inputSchema.required.includes('idempotency_key')
      assert.equal(tool.description.includes('Costs credits'), paid, tool.name)
      assert.ok(!('api_key' in tool.inputSchema.properties) && !('username' in tool.inputSchema.properties))
    }
  })

  test('charges a paid tool once for one idempotency key, and not without a key', async () => {
    const values = { target_url: 'https://example.com/a', title: 'A' }
    const refused = await call('shortlink_generate', values)
    assert.equal(refused.isError, true)
    assert.match(refused.structuredContent.message, /idempotency_key/)
    const first = await call('shortlink_generate', { ...values, idempotency_key: 'one' })
    const second = await call('shortlink_generate', { ...values, idempotency_key: 'one' })
    assert.equal(first.isError, false)
    assert.deepEqual(second.structuredContent, first.structuredContent)
    assert.equal(first.structuredContent.data.remaining_balance, 4)
    const credits = await call('sms_credits', { api_type: 'short_link' })
    assert.equal(credits.structuredContent.data.remaining, 4)
    assert.deepEqual(JSON.parse(credits.content[0].text), credits.structuredContent)
  })

  test('reports errors of the interface as tool errors, in the language of the caller', async () => {
    const wrong = await call('sms_credits', {}, { authorization: 'Bearer tg_wrong', 'accept-language': 'en' })
    assert.equal(wrong.isError, true)
    assert.equal(wrong.structuredContent.code, 1003)
    assert.match(wrong.structuredContent.message, /^Authentication failed/)
    const unknown = await call('shortlink_get', { link_id: 999_999 })
    assert.equal(unknown.isError, true)
    assert.equal(unknown.structuredContent.message, '链接不存在或无权修改')
  })

  test('reads nothing but the arguments as parameters', async () => {
    const other = await service.account()
    const result = await call(
      'sms_credits',
      { username: other.username, api_key: other.key, action: 'get_templates' },
      { api_type: 'domain_check', username: other.username, 'idempotency-key': 'not a key' },
    )
    assert.equal(result.structuredContent.data.api_type, 'sms')
  })

  test('requires a bearer key, an allowed origin and a known protocol version', async () => {
    assert.equal((await send(request('ping'), { authorization: '' })).status, 401)
    assert.equal((await send(request('ping'), { origin: 'https://evil.example' })).status, 403)
    assert.equal((await send(request('ping'), { origin: service.url })).status, 200)
    assert.equal((await send(request('ping'), { 'mcp-protocol-version': '1999-01-01' })).status, 400)
    const response = await fetch(`${service.url}/mcp`)
    assert.equal(response.status, 405)
    assert.equal(response.headers.get('allow'), 'POST')
  })

  test('answers malformed messages with JSON-RPC errors', async () => {
    assert.equal((await send('{')).body.error.code, -32_700)
    assert.equal((await send('[]')).body.error.code, -32_600)
    assert.equal((await send({ jsonrpc: '1.0', id: 1, method: 'ping' })).body.error.code, -32_600)
    assert.equal((await send({ jsonrpc: '2.0', id: {}, method: 'ping' })).body.error.code, -32_600)
    assert.equal((await send(request('resources/list'))).body.error.code, -32_601)
    assert.equal((await send(request('tools/call', { name: 'nothing' }))).body.error.code, -32_602)
    assert.equal(
      (await send(request('tools/call', { name: 'sms_credits', arguments: [] }))).body.error.code,
      -32_602,
    )
    const notification = await send({ jsonrpc: '2.0', method: 'notifications/initialized' })
    assert.deepEqual([notification.status, notification.body], [202, undefined])
  })

  test('does not exist unless it is switched on, and the documents name it only then', async () => {
    await using plain = await startService('sqlite')
    assert.equal((await fetch(`${plain.url}/mcp`)).status, 404)
    for (const [one, isNamed] of [
      [service, true],
      [plain, false],
    ] as const) {
      for (const path of ['/llms.txt', '/docs/en/index.md', '/docs/']) {
        const text = await (await fetch(`${one.url}${path}`)).text()
        assert.equal(text.includes(`${one.url}/mcp`), isNamed, path)
      }
    }
  })
})

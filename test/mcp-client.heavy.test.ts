// The MCP endpoint with the reference client.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { startService } from './support/service.ts'

test('the reference client lists and calls the tools', async () => {
  await using service = await startService('sqlite', { MCP: 'on' })
  const { key } = await service.account({ short_link: 2 })
  const client = new Client({ name: 'test', version: '1.0.0' })
  const transport = new StreamableHTTPClientTransport(new URL(`${service.url}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
  })
  // The SDK declares `sessionId` differently in the interface and in the class.
  await client.connect(transport as Parameters<typeof client.connect>[0])
  try {
    assert.equal(client.getServerVersion()?.name, 'tollgate')
    const { tools } = await client.listTools()
    assert.ok(tools.some(({ name }) => name === 'sms_send'))
    const values = { target_url: 'https://example.com/', title: 'T', idempotency_key: 'k' }
    const created = await client.callTool({ name: 'shortlink_generate', arguments: values })
    assert.equal(created.isError, false)
    const failed = await client.callTool({ name: 'shortlink_get', arguments: { link_id: 12_345 } })
    assert.equal(failed.isError, true)
  } finally {
    await client.close()
  }
})

// The MCP endpoint with the reference client. Needs the package registry or a filled npm cache.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { installOpenApiTools, toolModule } from './support/openapi-tools.ts'
import { startService } from './support/service.ts'

/** What the test uses of the reference client. */
interface ReferenceClient {
  connect(transport: object): Promise<void>
  close(): Promise<void>
  getServerVersion(): { readonly name: string } | undefined
  listTools(): Promise<{ readonly tools: readonly { readonly name: string }[] }>
  callTool(call: {
    readonly name: string
    readonly arguments: object
  }): Promise<{ readonly isError?: boolean }>
}

interface ClientModule {
  readonly Client: new (info: { readonly name: string; readonly version: string }) => ReferenceClient
}

interface TransportModule {
  readonly StreamableHTTPClientTransport: new (url: URL, options: object) => object
}

test('the reference client lists and calls the tools', async (context) => {
  const reason = await installOpenApiTools()
  if (reason !== undefined) return context.skip(reason)
  const { Client } = (await toolModule('@modelcontextprotocol/sdk/dist/esm/client/index.js')) as ClientModule
  const { StreamableHTTPClientTransport } = (await toolModule(
    '@modelcontextprotocol/sdk/dist/esm/client/streamableHttp.js',
  )) as TransportModule
  await using service = await startService('sqlite', { MCP: 'on' })
  const { key } = await service.account({ short_link: 2 })
  const client = new Client({ name: 'test', version: '1.0.0' })
  const requestInit = { headers: { authorization: `Bearer ${key}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${service.url}/mcp`), { requestInit }))
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

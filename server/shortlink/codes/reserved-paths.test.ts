// No short code can have the path of a route: every first segment is reserved.
import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { startService } from '../../../test/support/service.ts'
import { shortlink } from '../../../contract/shortlink.ts'
import { isChosenCode } from './chosen.ts'
import { isReserved, isReservedPath } from './code.ts'

test('85 the first segment of every route is reserved', async () => {
  const paths = new Set<string>([shortlink.path])
  const watch = (message: unknown) => {
    const { fastify } = message as { fastify: FastifyInstance }
    fastify.addHook('onRoute', ({ url }) => void paths.add(url))
  }
  subscribe('fastify.initialization', watch)
  try {
    await using service = await startService('sqlite', {
      MCP: 'on',
      SECURITY_CONTACT: 'https://example.com/',
    })
    assert.ok(service.url)
  } finally {
    unsubscribe('fastify.initialization', watch)
  }
  const segments = new Set([...paths].map((path) => path.split('/')[1]!).filter(isChosenCode))
  for (const known of [
    'console',
    'docs',
    'mcp',
    'metrics',
    'receipts',
    'report',
    'share',
    'status',
    'tls-ask',
  ])
    assert.ok(segments.has(known), `${known} is not among ${[...segments].join(' ')}`)
  for (const segment of segments) {
    assert.ok(isReserved(segment) && isReservedPath(segment), `/${segment} can be a short code`)
    assert.ok(isReserved(segment.toUpperCase()), segment)
  }
})

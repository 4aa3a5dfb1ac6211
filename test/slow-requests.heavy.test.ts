// Requests that never end are closed, and others are served meanwhile.
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { describe, it } from 'node:test'
import { sms } from '../contract/sms.ts'
import { get, startService } from './support/service.ts'
import { until } from './support/until.ts'

describe('slow and broken requests', () => {
  it('are closed within seconds and do not affect others', { timeout: 60_000 }, async () => {
    await using service = await startService('sqlite')
    const { port } = new URL(service.url)
    const head = `POST ${sms.path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`
    const sent = [
      `POST ${sms.path} HTTP/1.1\r\nHost: x\r\nX-Slow: `,
      `${head}Content-Length: 1000\r\n\r\n{"username": "half`,
    ]
    const closed = sent.map(
      (text) =>
        new Promise<void>((resolve) => {
          const socket = connect(Number(port), '127.0.0.1', () => socket.write(text))
          socket.on('close', () => resolve())
          socket.on('error', () => undefined)
          socket.resume()
        }),
    )
    // A body shorter than its Content-Length.
    const truncated = connect(Number(port), '127.0.0.1', () =>
      truncated.end(`${head}Content-Length: 50\r\n\r\n{"a":`),
    )
    truncated.on('error', () => undefined)
    truncated.resume()
    assert.equal((await get(`${service.url}/livez`)).status, 200)
    await Promise.all(closed)
    await until(async () => (await get(`${service.url}/readyz`)).status === 200)
  })
})

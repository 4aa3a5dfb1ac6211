// Idle connections and clients that stop reading.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startService } from '../../test/support/service.ts'
import { closeUnusedConnections } from './connection-timeouts.ts'
import { createServer } from './node-http.ts'
import { trackRequests } from './request-tracker.ts'

const idleMs = 1_000
const request = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'

test('an idle connection is closed', async (context) => {
  const { socket } = await connectTo(context, (_request, response) => response.end('hello'))
  const closed = once(socket, 'close')
  socket.write(request)
  await once(socket, 'data')
  await closed
})

test('a connection is kept while it is used', async (context) => {
  const { socket } = await connectTo(context, (_request, response) => response.end('hello'))
  for (let i = 0; i < 20; i += 1) {
    socket.write(request)
    await once(socket, 'data')
    await sleep(idleMs / 10)
  }
  assert.equal(socket.destroyed, false)
})

test('a request in progress keeps its connection', async (context) => {
  const { socket } = await connectTo(context, (_request, response) => {
    setTimeout(() => response.end('hello'), idleMs * 2)
  })
  socket.write(request)
  const closed = once(socket, 'close').then(() => assert.fail('the connection was closed'))
  const [data] = (await Promise.race([once(socket, 'data'), closed])) as [Buffer]
  assert.match(data.toString(), /hello$/)
})

test('a client that reads nothing is disconnected', async (context) => {
  const { socket, serverSocket } = await connectTo(context, (_request, response) => {
    response.end(Buffer.alloc(20_000_000))
  })
  socket.pause()
  const failed = once(socket, 'error')
  socket.write(request)
  await once(serverSocket, 'close')
  socket.resume()
  const [error] = (await failed) as [Error]
  assert.match(error.message, /ECONNRESET/)
})

async function connectTo(
  context: TestContext,
  listener: RequestListener,
): Promise<{ socket: Socket; serverSocket: Socket }> {
  const running = trackRequests()
  const server = createServer({ keepAliveTimeout: 0 }, (incoming, response) => {
    running.begin(response)
    listener(incoming, response)
  })
  closeUnusedConnections(server, { sendMs: idleMs / 2, idleMs, socketsInUse: running.sockets })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.on('error', () => undefined)
  context.after(() => {
    socket.destroy()
    server.closeAllConnections()
    server.close()
  })
  const [serverSocket] = (await once(server, 'connection')) as [Socket]
  return { socket, serverSocket }
}

test('responses of the API and of pages tell when an idle connection is closed, redirects do not', async () => {
  await using service = await startService('sqlite')
  const hintOf = async (path: string) => (await fetch(service.url + path)).headers.get('keep-alive')
  assert.equal(await hintOf('/api/sms_api.php'), 'timeout=65')
  assert.equal(await hintOf('/livez'), 'timeout=65')
  assert.equal(await hintOf('/aBcD234'), null)
})

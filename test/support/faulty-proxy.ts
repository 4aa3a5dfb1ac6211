// A TCP proxy to a database or Redis that can drop traffic while its sockets stay open.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface FaultyProxy extends AsyncDisposable {
  /** The URL of the target with the host and port of the proxy. */
  readonly url: string
  /** Drops all traffic of connections that have sent or will send this text, until `restoreTraffic`. */
  dropTraffic(text: string): void
  restoreTraffic(): void
  /** How many connections it has accepted. */
  accepted(): number
}

interface ProxiedConnection {
  readonly client: Socket
  readonly server: Socket
  sent: string
  isDropped: boolean
}

export async function openFaultyProxy(target: string): Promise<FaultyProxy> {
  const { hostname, port } = new URL(target)
  const connections = new Set<ProxiedConnection>()
  let droppedText: string | undefined
  let accepted = 0

  const applyDrop = (connection: ProxiedConnection) => {
    if (droppedText !== undefined && connection.sent.includes(droppedText)) connection.isDropped = true
  }

  const proxy = createServer((client) => {
    accepted += 1
    const server = connect(Number(port), hostname)
    const connection: ProxiedConnection = { client, server, sent: '', isDropped: false }
    connections.add(connection)
    client.on('data', (data) => {
      // Enough to find the text.
      if (connection.sent.length < 20_000) connection.sent += data.toString('latin1')
      applyDrop(connection)
      if (!connection.isDropped) server.write(data)
    })
    server.on('data', (data) => {
      if (!connection.isDropped) client.write(data)
    })
    for (const [socket, peer] of [
      [client, server],
      [server, client],
    ] as const) {
      socket.on('error', () => undefined)
      socket.on('close', () => {
        connections.delete(connection)
        if (!connection.isDropped) peer.destroy()
      })
    }
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const url = new URL(target)
  url.port = String((proxy.address() as AddressInfo).port)
  return {
    url: url.href,
    dropTraffic(text) {
      droppedText = text
      for (const connection of connections) applyDrop(connection)
    },
    restoreTraffic() {
      droppedText = undefined
    },
    accepted: () => accepted,
    async [Symbol.asyncDispose]() {
      proxy.close()
      for (const { client, server } of connections) {
        client.destroy()
        server.destroy()
      }
    },
  }
}

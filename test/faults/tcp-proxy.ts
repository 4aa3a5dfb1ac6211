// A TCP proxy in front of PostgreSQL that can switch to another server, like HAProxy or a floating IP address.
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

export interface TcpProxy extends AsyncDisposable {
  readonly port: number
  /** Closes every connection and forwards new ones to this port. */
  switchTo(port: number): void
}

export async function openTcpProxy(firstPort: number): Promise<TcpProxy> {
  let targetPort = firstPort
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(targetPort, '127.0.0.1')
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(one)
      one.on('error', () => other.destroy())
      one.on('close', () => {
        sockets.delete(one)
        other.destroy()
      })
      one.pipe(other)
    }
  })
  const closeAll = (): void => sockets.forEach((socket) => void socket.destroy())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    switchTo(port) {
      targetPort = port
      closeAll()
    },
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      closeAll()
      await closed
    },
  }
}

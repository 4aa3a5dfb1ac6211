// A TCP door in front of PostgreSQL that can be turned to another server, as HAProxy or a floating address would.
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

export interface Switchboard extends AsyncDisposable {
  readonly port: number
  /** Cuts every line and leads new ones there. */
  turnTo(port: number): void
}

export async function openSwitchboard(first: number): Promise<Switchboard> {
  let target = first
  const open = new Set<Socket>()
  const server = createServer((caller) => {
    const line = connect(target, '127.0.0.1')
    for (const [one, other] of [
      [caller, line],
      [line, caller],
    ] as const) {
      open.add(one)
      one.on('error', () => other.destroy())
      one.on('close', () => {
        open.delete(one)
        other.destroy()
      })
      one.pipe(other)
    }
  })
  const cut = (): void => open.forEach((socket) => void socket.destroy())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    turnTo(port) {
      target = port
      cut()
    },
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      cut()
      await closed
    },
  }
}

// Closes connections whose client has stopped reading the response: it would keep the response in memory indefinitely.
import type { Server } from 'node:http'
import type { Socket } from 'node:net'

interface ConnectionProgress {
  /** Bytes that were handed to the operating system. */
  sent: number
  at: number
}

/** Every response is covered: API, redirects, pages, downloads. Node's own timeout would also end calls that wait for a provider. */
export function closeStalledConnections(server: Server, timeoutMs: number): void {
  const open = new Set<Socket>()
  const stalled = new WeakMap<Socket, ConnectionProgress>()

  function check(): void {
    const now = performance.now()
    for (const socket of open) {
      if (socket.writableLength === 0) {
        stalled.delete(socket)
        continue
      }
      const sent = socket.bytesWritten - socket.writableLength
      const last = stalled.get(socket)
      if (last?.sent !== sent) stalled.set(socket, { sent, at: now })
      // With a reset: the operating system would keep what it has for the client for minutes.
      else if (now - last.at >= timeoutMs) socket.resetAndDestroy()
    }
  }

  function forget(this: Socket): void {
    open.delete(this)
  }
  server.on('connection', (socket) => {
    open.add(socket)
    socket.on('close', forget)
  })
  const timer = setInterval(check, Math.min(5_000, timeoutMs / 2)).unref()
  server.on('close', () => clearInterval(timer))
}

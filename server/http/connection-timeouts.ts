// Closes connections that nobody uses: those whose client has stopped reading a response, which would stay in memory indefinitely,
// and idle ones.
import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** Longer than the proxies of `deploy/` keep an idle connection, so that they never use one that is being closed. */
export const keepAliveMs = 65_000

/** Tells API clients when the service closes an idle connection, so that they send no call at that moment. */
export const keepAliveHint = `timeout=${keepAliveMs / 1000}`

export interface ConnectionTimeouts {
  /** For a client that reads nothing of a response. */
  readonly sendMs: number
  /** For a connection without a request. */
  readonly idleMs?: number
  /** The sockets of requests in progress: they are not idle. */
  readonly socketsInUse?: () => ReadonlySet<Socket>
}

interface Progress {
  /** Bytes that were handed to the operating system. */
  sent: number
  /** Bytes sent and received. */
  bytes: number
  /** Undefined while the operating system takes what is sent. */
  stalledSince: number | undefined
  idleSince: number
}

const maxCheckMs = 5_000

/**
 * Every response is covered: API, redirects, pages, downloads. One timer checks all connections, so a connection is closed up to five
 * seconds later. Node's `keepAliveTimeout` would set and clear a timer for each request, which takes 4 % of a redirect; its
 * `timeout` would also end calls that wait for a provider.
 */
export function closeUnusedConnections(
  server: Server,
  { sendMs, idleMs = Infinity, socketsInUse = () => new Set() }: ConnectionTimeouts,
): void {
  const open = new Map<Socket, Progress>()

  function check(): void {
    const now = performance.now()
    const inUse = socketsInUse()
    for (const [socket, progress] of open) {
      const waiting = socket.writableLength
      const sent = socket.bytesWritten - waiting
      const bytes = sent + socket.bytesRead
      if (waiting === 0) progress.stalledSince = undefined
      else if (sent !== progress.sent) progress.stalledSince = now
      else progress.stalledSince ??= now
      if (waiting > 0 || bytes !== progress.bytes || inUse.has(socket)) progress.idleSince = now
      progress.sent = sent
      progress.bytes = bytes
      // With a reset: the operating system would keep what it has for the client for minutes.
      if (now - (progress.stalledSince ?? now) >= sendMs) socket.resetAndDestroy()
      else if (now - progress.idleSince >= idleMs) socket.destroy()
    }
  }

  function forget(this: Socket): void {
    open.delete(this)
  }
  server.on('connection', (socket) => {
    open.set(socket, { sent: 0, bytes: 0, stalledSince: undefined, idleSince: performance.now() })
    socket.on('close', forget)
  })
  const timer = setInterval(check, Math.min(maxCheckMs, sendMs / 2, idleMs / 2)).unref()
  server.on('close', () => clearInterval(timer))
}

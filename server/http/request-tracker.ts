// The requests in progress, so that a stop can wait for them and their connections are not closed.
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export interface RequestTracker {
  begin(response: ServerResponse): void
  /** Includes requests whose client disconnected while they are still handled. */
  count(): number
  sockets(): ReadonlySet<Socket>
}

export function trackRequests(): RequestTracker {
  const open = new Set<ServerResponse>()
  const abandoned = new Set<ServerResponse>()

  function pruneAnswered(): void {
    for (const response of abandoned) if (isAnswered(response)) abandoned.delete(response)
  }

  function closed(this: ServerResponse): void {
    open.delete(this)
    pruneAnswered()
    if (!isAnswered(this)) abandoned.add(this)
  }

  return {
    begin(response) {
      open.add(response)
      // Unlike `finish`, `close` is also emitted when the client disconnects.
      response.on('close', closed)
    },
    count() {
      pruneAnswered()
      return open.size + abandoned.size
    },
    sockets: () => new Set(Array.from(open, ({ req }) => req.socket)),
  }
}

function isAnswered(response: ServerResponse): boolean {
  return response.headersSent || response.writableEnded
}

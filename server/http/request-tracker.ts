// Counts the requests in progress, so that a stop can wait for them.
import type { ServerResponse } from 'node:http'

export interface RequestTracker {
  begin(response: ServerResponse): void
  /** Includes requests whose client disconnected while they are still handled. */
  count(): number
}

export function trackRequests(): RequestTracker {
  let open = 0
  const abandoned = new Set<ServerResponse>()

  function pruneAnswered(): void {
    for (const response of abandoned) if (isAnswered(response)) abandoned.delete(response)
  }

  function closed(this: ServerResponse): void {
    open -= 1
    pruneAnswered()
    if (!isAnswered(this)) abandoned.add(this)
  }

  return {
    begin(response) {
      open += 1
      // Unlike `finish`, `close` is also emitted when the client disconnects.
      response.on('close', closed)
    },
    count() {
      pruneAnswered()
      return open + abandoned.size
    },
  }
}

function isAnswered(response: ServerResponse): boolean {
  return response.headersSent || response.writableEnded
}

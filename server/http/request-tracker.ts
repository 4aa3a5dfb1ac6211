// Which requests are still being worked on, so that a stop can wait for them and for nothing else.
import type { ServerResponse } from 'node:http'

export interface RequestTracker {
  begin(response: ServerResponse): void
  /** Requests whose answer is on its way, and those whose caller has gone while the work for them goes on. */
  count(): number
}

export function trackRequests(): RequestTracker {
  let open = 0
  const abandoned = new Set<ServerResponse>()

  function forgetAnswered(): void {
    for (const response of abandoned) if (isAnswered(response)) abandoned.delete(response)
  }

  function closed(this: ServerResponse): void {
    open -= 1
    forgetAnswered()
    if (!isAnswered(this)) abandoned.add(this)
  }

  return {
    begin(response) {
      open += 1
      // `finish` never comes when the caller hung up; `close` always does, and once.
      response.on('close', closed)
    },
    count() {
      forgetAnswered()
      return open + abandoned.size
    },
  }
}

function isAnswered(response: ServerResponse): boolean {
  return response.headersSent || response.writableEnded
}

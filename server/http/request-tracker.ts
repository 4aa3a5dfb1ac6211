// The requests in progress, so that a stop can wait for them and their connections are not closed.
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export interface RequestTracker {
  begin(response: ServerResponse): void
  /** Includes requests whose client disconnected while they are still handled. */
  count(): number
  sockets(): ReadonlySet<Socket>
}

/** Its position in the list of open responses. */
const position = Symbol('position')

interface Tracked extends ServerResponse {
  [position]?: number
}

export function trackRequests(): RequestTracker {
  // Not a Set: a full one moves to a new table, and the old table keeps pointers to its entries and to the new table. As the old ones
  // are in the old generation, no scavenge could free any response, and most memory of a request would wait for a full collection.
  const open: Tracked[] = []
  const abandoned = new Set<ServerResponse>()

  function remove(response: Tracked): void {
    const last = open.pop()!
    if (last === response) return
    const free = response[position]!
    last[position] = free
    open[free] = last
  }

  function pruneAnswered(): void {
    for (const response of abandoned) if (isAnswered(response)) abandoned.delete(response)
  }

  function closed(this: ServerResponse): void {
    remove(this)
    pruneAnswered()
    if (!isAnswered(this)) abandoned.add(this)
  }

  return {
    begin(response) {
      const tracked: Tracked = response
      tracked[position] = open.length
      open.push(tracked)
      // Unlike `finish`, `close` is also emitted when the client disconnects.
      response.on('close', closed)
    },
    count() {
      pruneAnswered()
      return open.length + abandoned.size
    },
    sockets: () => new Set(open.map(({ req }) => req.socket)),
  }
}

function isAnswered(response: ServerResponse): boolean {
  return response.headersSent || response.writableEnded
}

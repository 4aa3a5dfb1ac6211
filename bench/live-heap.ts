// What a process still holds after a full collection, asked through Node's inspector.
import { once } from 'node:events'
import { createServer } from 'node:net'

export interface LiveHeap {
  /** What the process has to be started with. */
  readonly environment: Readonly<Record<string, string>>
  /** Collects, and tells the megabytes that are left. */
  measure(): Promise<number>
}

export async function liveHeap(): Promise<LiveHeap> {
  const port = await freePort()
  return {
    environment: { NODE_OPTIONS: `--inspect=127.0.0.1:${port}` },
    async measure() {
      const targets = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as {
        webSocketDebuggerUrl: string
      }[]
      const socket = new WebSocket(targets[0]!.webSocketDebuggerUrl)
      await once(socket, 'open')
      try {
        await call(socket, 'HeapProfiler.collectGarbage')
        const { usedSize } = await call<{ usedSize: number }>(socket, 'Runtime.getHeapUsage')
        return usedSize / 1e6
      } finally {
        socket.close()
      }
    },
  }
}

async function call<T>(socket: WebSocket, method: string): Promise<T> {
  socket.send(JSON.stringify({ id: 1, method }))
  for (;;) {
    const [{ data }] = (await once(socket, 'message')) as [{ data: string }]
    const answer = JSON.parse(data) as { id?: number; result: T }
    if (answer.id === 1) return answer.result
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  return typeof address === 'object' && address ? address.port : 0
}

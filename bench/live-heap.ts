// Measures the heap of a process after a full garbage collection, through Node's inspector.
import { once } from 'node:events'
import { createServer } from 'node:net'

export interface LiveHeap {
  /** Environment with which the process must be started. */
  readonly environment: Readonly<Record<string, string>>
  /** Collects garbage and returns the used heap in megabytes. */
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
    const response = JSON.parse(data) as { id?: number; result: T }
    if (response.id === 1) return response.result
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  return typeof address === 'object' && address ? address.port : 0
}

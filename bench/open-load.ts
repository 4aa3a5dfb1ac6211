// Open-loop load in a separate process: requests start at a fixed rate, whether or not earlier ones were answered, and a latency
// counts from when its request was due. A closed loop would send less while the service is slow, and so miss the pause.
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type HttpLoad, isComplete, runGenerator, tailOf } from './load.ts'
import { type Measured, percentiles } from './measure.ts'

export interface OpenLoad extends Omit<HttpLoad, 'pauseMs' | 'connections'> {
  /** Requests per second. */
  readonly rate: number
}

/** Requests that are due while all of these wait for their response are sent when one is free; the wait counts. */
const maxConnections = 512

export async function runOpenLoad(load: OpenLoad): Promise<Required<Measured>> {
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-load-'))
  try {
    return await runGenerator<Required<Measured>>(import.meta.filename, load, directory)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

async function generate(load: OpenLoad): Promise<Required<Measured>> {
  const { hostname, port } = new URL(load.url)
  const tail = tailOf(load)
  const expected = `HTTP/1.1 ${load.status} `
  const total = Math.max(1, Math.round(load.rate * load.seconds))
  const latencies = new Float64Array(total)
  const idle: ((dueAt: number) => void)[] = []
  /** When the requests were due that wait for a connection. */
  const waiting: number[] = []
  let completed = 0
  const { promise: done, resolve: finish, reject: fail } = Promise.withResolvers<void>()

  function serve(socket: Socket): void {
    let dueAt = 0
    let response = ''
    const send = (due: number) => {
      dueAt = due
      response = ''
      const path = load.paths[Math.floor(Math.random() * load.paths.length)]!
      socket.write(`${load.method} ${path}${tail}`)
    }
    socket.on('data', (data) => {
      response += data.toString('latin1')
      if (!isComplete(response)) return
      if (!response.startsWith(expected)) {
        fail(new Error(response))
        return
      }
      latencies[completed] = performance.now() - dueAt
      completed += 1
      if (completed === total) finish()
      const next = waiting.shift()
      if (next === undefined) idle.push(send)
      else send(next)
    })
    socket.on('error', fail)
    socket.on('close', () => fail(new Error('the service closed a connection')))
    idle.push(send)
  }

  const sockets = await Promise.all(
    Array.from({ length: Math.min(maxConnections, total) }, async () => {
      const socket = connect(Number(port), hostname).setNoDelay(true)
      await once(socket, 'connect')
      return socket
    }),
  )
  sockets.forEach(serve)
  const startedAt = performance.now()
  let started = 0
  const timer = setInterval(() => {
    const due = Math.min(total, Math.floor(((performance.now() - startedAt) / 1000) * load.rate))
    for (; started < due; started += 1) {
      const dueAt = startedAt + ((started + 1) / load.rate) * 1000
      const send = idle.pop()
      if (send) send(dueAt)
      else waiting.push(dueAt)
    }
    if (started === total) clearInterval(timer)
  }, 1)
  await done
  const seconds = (performance.now() - startedAt) / 1000
  for (const socket of sockets)
    socket
      .removeAllListeners()
      .on('error', () => undefined)
      .destroy()
  return { perSecond: Math.round(completed / seconds), ...percentiles(latencies), calls: completed }
}

if (process.argv[1] === import.meta.filename) {
  const load = JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as OpenLoad
  process.stdout.write(JSON.stringify(await generate(load)))
}

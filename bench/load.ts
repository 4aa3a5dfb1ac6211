// Generates HTTP load in a separate process: with wrk if it is installed, else with a loop over sockets.
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Measured, percentiles } from './measure.ts'
import { isInstalled } from './machine.ts'

const defaultConnections = 64

/** As the value of a header: another text in every request. */
export const newKey = '{newkey}'

export interface HttpLoad {
  readonly url: string
  readonly seconds: number
  readonly method: 'GET' | 'POST'
  /** Each request uses a random one. */
  readonly paths: readonly string[]
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** The expected status; any other status is an error. */
  readonly status: number
  /** wrk always uses the default. */
  readonly connections?: number
  /** Pause between a response and the next request of a connection. wrk makes none. */
  readonly pauseMs?: number
}

/** The requests of a load, for any service. */
export type SameLoad = Omit<HttpLoad, 'url' | 'seconds'>

/** Uses wrk only for whole seconds. `calls` includes the responses of the check run. */
export async function runLoad(load: HttpLoad): Promise<Measured> {
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-load-'))
  try {
    return hasWrk() && Number.isInteger(load.seconds)
      ? await runWrk(load, directory)
      : (await runSockets([load], directory))[0]!
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Several loads at the same time, from one process. */
export async function runLoads(loads: readonly HttpLoad[]): Promise<Measured[]> {
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-load-'))
  try {
    return await runSockets(loads, directory)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

let wrkFound: boolean | undefined

export function hasWrk(): boolean {
  if (process.env['BENCH_WRK'] === 'off') return false
  return (wrkFound ??= isInstalled('wrk'))
}

async function runWrk(load: HttpLoad, directory: string): Promise<Measured> {
  writeFileSync(join(directory, 'paths'), load.paths.join('\n'))
  writeFileSync(join(directory, 'tail'), tailOf(load))
  writeFileSync(
    join(directory, 'load.lua'),
    `local paths, tail, bad = {}, io.open('${directory}/tail'):read('*a'), 0
     for line in io.lines('${directory}/paths') do paths[#paths + 1] = line end
     local count = #paths
     local single = '${load.method} ' .. paths[1] .. tail
     request = count == 1 and function() return single end or function()
       return '${load.method} ' .. paths[math.random(count)] .. tail
     end
     local head, rest = tail:match('^(.-)${newKey}(.*)$')
     if head then
       local sent, run = 0, '${randomUUID()}-' .. os.time() .. '-'
       request = function()
         sent = sent + 1
         return '${load.method} ' .. paths[math.random(count)] .. head .. run .. sent .. rest
       end
     end
     function response(status) if status ~= ${load.status} then bad = bad + 1 if bad < 5 then print('BAD ' .. status) end end end`,
  )
  // Checking every response costs the generator a third of its speed, so only a run of one second does it.
  const checkOutput = await wrk(load, directory, 1)
  const script = join(directory, 'load.lua')
  writeFileSync(script, readFileSync(script, 'utf8').replace(/\n\s*function response[^\n]*$/, ''))
  const output = await wrk(load, directory, load.seconds)
  const ms = (percent: string) => {
    const match = new RegExp(`${percent}%\\s+([\\d.]+)(us|ms|s)`).exec(output)
    return Number(match?.[1]) * { us: 0.001, ms: 1, s: 1000 }[match?.[2] as 'us' | 'ms' | 's']
  }
  const callsIn = (text: string) => Number(/(\d+) requests in/.exec(text)?.[1])
  return {
    perSecond: Math.round(Number(/Requests\/sec:\s+([\d.]+)/.exec(output)?.[1])),
    p50: ms('50'),
    p99: ms('99'),
    calls: callsIn(checkOutput) + callsIn(output),
  }
}

async function wrk(load: HttpLoad, directory: string, seconds: number): Promise<string> {
  const args = [
    '-t1',
    `-c${load.connections ?? defaultConnections}`,
    `-d${seconds}s`,
    '--latency',
    '-s',
    join(directory, 'load.lua'),
    load.url,
  ]
  const child = spawn('wrk', args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.on('data', (data: Buffer) => (output += data.toString()))
  await once(child, 'close')
  if (/BAD \d+|Non-2xx or 3xx|Socket errors: .*(read|write) [1-9]/.test(output)) {
    throw new Error(`the load generator reported errors: ${output}`)
  }
  return output
}

/** Everything of a request after its path. */
export function tailOf(load: Pick<HttpLoad, 'url' | 'headers' | 'body'>): string {
  const { host } = new URL(load.url)
  const body = load.body ?? ''
  const headers = {
    host,
    ...load.headers,
    ...(body === '' ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return ` HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`
}

const runSockets = (loads: readonly HttpLoad[], directory: string) =>
  runGenerator<Measured[]>(import.meta.filename, loads, directory)

/** Runs a load generator of this folder as a process of its own, which prints what it measured. */
export async function runGenerator<T>(script: string, load: unknown, directory: string): Promise<T> {
  const file = join(directory, 'load.json')
  writeFileSync(file, JSON.stringify(load))
  const child = spawn(process.execPath, [script, file], { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.on('data', (data: Buffer) => (output += data.toString()))
  await once(child, 'close')
  if (output === '') throw new Error('the load generator reported an error')
  return JSON.parse(output) as T
}

/** Sends one request at a time on each connection. */
async function generate(load: HttpLoad): Promise<Measured> {
  const { hostname, port } = new URL(load.url)
  const tail = tailOf(load)
  const latencies: number[] = []
  const startedAt = performance.now()
  const endAt = startedAt + load.seconds * 1000
  const expected = `HTTP/1.1 ${load.status} `
  await Promise.all(
    Array.from({ length: load.connections ?? defaultConnections }, async () => {
      const socket = connect(Number(port), hostname).setNoDelay(true)
      await once(socket, 'connect')
      let sentAt = 0
      let response = ''
      // The first response of a slow client includes the wait until its connection is accepted.
      let isMeasured = load.pauseMs === undefined
      const send = () => {
        sentAt = performance.now()
        response = ''
        const path = load.paths[Math.floor(Math.random() * load.paths.length)]!
        socket.write(`${load.method} ${path}${tail.replace(newKey, () => randomUUID())}`)
      }
      const ended = new Promise<void>((resolve, reject) => {
        socket.on('data', (data) => {
          response += data.toString('latin1')
          if (!isComplete(response)) return
          if (!response.startsWith(expected)) {
            reject(new Error(response))
            return
          }
          const now = performance.now()
          const hasMeasured = isMeasured
          if (isMeasured) latencies.push(now - sentAt)
          isMeasured = true
          if (now >= endAt && hasMeasured) {
            socket.destroy()
            resolve()
          } else if (load.pauseMs === undefined) send()
          else setTimeout(send, load.pauseMs)
        })
        socket.on('error', reject)
      })
      send()
      await ended
    }),
  )
  const seconds = (performance.now() - startedAt) / 1000
  return {
    perSecond: Math.round(latencies.length / seconds),
    ...percentiles(Float64Array.from(latencies)),
    calls: latencies.length,
  }
}

export function isComplete(response: string): boolean {
  const end = response.indexOf('\r\n\r\n')
  if (end === -1) return false
  const length = /\r\ncontent-length: (\d+)/i.exec(response)?.[1]
  return response.length >= end + 4 + Number(length ?? 0)
}

if (process.argv[1] === import.meta.filename) {
  const loads = JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as HttpLoad[]
  process.stdout.write(JSON.stringify(await Promise.all(loads.map(generate))))
}

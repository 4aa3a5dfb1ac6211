// Many connections that send requests of one kind without a pause, in a separate process, until they are told to end.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type HttpLoad, tailOf } from './load.ts'
import { type Running, start } from './processes.ts'

export type CrowdRequest = Pick<HttpLoad, 'method' | 'headers' | 'body'> & { readonly path: string }

interface CrowdLoad {
  readonly url: string
  readonly connections: number
  /** Each connection sends them in turn, from another one on. */
  readonly requests: readonly CrowdRequest[]
}

export interface Crowd {
  /** Ends the process. */
  end(): Promise<void>
}

/** Resolves when every connection has sent its first request. */
export async function startCrowd(load: CrowdLoad): Promise<Crowd> {
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-crowd-'))
  const file = join(directory, 'crowd.json')
  writeFileSync(file, JSON.stringify(load))
  let running: Running
  try {
    running = await start(['bench/crowd.ts', file], {}, /(ready)/, () => load.url)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
  return { end: running.end }
}

function sendUntilEnd({ url, connections, requests }: CrowdLoad): void {
  const { hostname, port } = new URL(url)
  const raw = requests.map((one) => Buffer.from(`${one.method} ${one.path}${tailOf({ url, ...one })}`))
  let opened = 0
  for (let connection = 0; connection < connections; connection += 1) {
    let next = connection
    let isCounted = false
    const open = () => {
      const socket = connect(Number(port), hostname).setNoDelay(true)
      let waitsFor = 0
      let head = ''
      const send = () => {
        waitsFor = -1
        head = ''
        socket.write(raw[(next += 1) % raw.length]!)
      }
      socket.on('connect', () => {
        send()
        if (isCounted) return
        isCounted = true
        opened += 1
        if (opened === connections) process.stdout.write('ready\n')
      })
      // A response is complete after its length, or its last chunk. Its content does not matter.
      socket.on('data', (data) => {
        if (waitsFor > 0) waitsFor -= data.length
        else {
          head += data.toString('latin1')
          const end = head.indexOf('\r\n\r\n')
          if (end === -1) return
          const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1]
          if (length === undefined) {
            head = head.slice(0, end + 4) + head.slice(end + 4).slice(-5)
            if (!head.endsWith('0\r\n\r\n')) return
            waitsFor = 0
          } else waitsFor = end + 4 + Number(length) - head.length
        }
        if (waitsFor <= 0) send()
      })
      socket.on('error', () => undefined)
      // The service may close a connection, such as after a body that is too large.
      socket.on('close', open)
    }
    open()
  }
}

if (process.argv[1] === import.meta.filename) {
  process.on('SIGTERM', () => process.exit(0))
  sendUntilEnd(JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as CrowdLoad)
}

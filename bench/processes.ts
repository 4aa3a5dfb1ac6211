// The two servers of a benchmark, each a process of its own.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')

export interface Running {
  readonly url: string
  readonly pid: number
  end(): Promise<void>
}

export function startBare(...words: string[]): Promise<Running> {
  return start(['bench/bare.ts', ...words], {}, /^ready (\d+)/m, (port) => `http://127.0.0.1:${port}`)
}

/** The service as `npm start` runs it, its log going nowhere but still being written. */
export function startServer(environment: Readonly<Record<string, string>>): Promise<Running> {
  const settings = { PORT: '0', RATE_LIMIT: 'off', SAMPLE_ACCOUNT: 'off', ...environment }
  return start(['start.js'], settings, /is running: (\S+)/, (url) => url)
}

async function start(
  words: readonly string[],
  environment: Readonly<Record<string, string>>,
  ready: RegExp,
  urlOf: (match: string) => string,
): Promise<Running> {
  const child = spawn(process.execPath, [...words], {
    cwd: root,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const match = await new Promise<string>((found, failed) => {
    let output = ''
    const look = (data: Buffer) => {
      output += data.toString()
      const text = ready.exec(output)?.[1]
      if (text === undefined) return
      child.stdout.off('data', look)
      child.stdout.resume()
      found(text)
    }
    child.stdout.on('data', look)
    child.once('exit', (code) => failed(new Error(`${words[0]} ended with ${code}: ${output}`)))
  })
  return { url: urlOf(match), pid: child.pid!, end: () => end(child) }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGTERM')
  await once(child, 'exit')
}

/** Megabytes in memory; undefined where there is no /proc. */
export function memoryOf(pid: number): number | undefined {
  try {
    const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return kilobytes === undefined ? undefined : Math.round(Number(kilobytes) / 1024)
  } catch {
    return undefined
  }
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((x, y) => x - y)
  return sorted[Math.floor(sorted.length / 2)]!
}

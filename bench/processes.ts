// The servers of a benchmark, each a process of its own, and what the system says of them.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
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

/** As in package.json's `start`. */
const youngHeap = '--max-semi-space-size=16'

/** The service as `npm start` runs it, its log going nowhere but still being written. */
export function startServer(environment: Readonly<Record<string, string>>, workers = 1): Promise<Running> {
  const settings = { PORT: '0', RATE_LIMIT: 'off', SAMPLE_ACCOUNT: 'off', ...environment }
  const words = workers === 1 ? [] : ['--workers', String(workers)]
  return start([youngHeap, 'start.js', ...words], settings, /is running: (\S+)/, (url) => url)
}

export async function start(
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

/** A process and all that came from it; only itself where there is no /proc. */
function familyOf(pid: number): number[] {
  if (process.platform !== 'linux') return [pid]
  const parents = new Map<number, number>()
  for (const one of readdirSync('/proc').map(Number)) {
    const fields = one > 0 ? statOf(one) : undefined
    if (fields) parents.set(one, Number(fields[1]))
  }
  const family = [pid]
  // Children are added behind their parents while the list is walked.
  for (const member of family) {
    for (const [child, parent] of parents) if (parent === member) family.push(child)
  }
  return family
}

/** The fields behind the name, which may hold anything. */
function statOf(pid: number): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    return undefined
  }
}

/** Megabytes in memory, of a process and its workers; undefined where there is no /proc. */
export function memoryOf(pid: number): number | undefined {
  let kilobytes: number | undefined
  for (const one of familyOf(pid)) {
    try {
      const found = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${one}/status`, 'utf8'))?.[1]
      kilobytes = (kilobytes ?? 0) + Number(found ?? 0)
    } catch {
      continue
    }
  }
  return kilobytes === undefined ? undefined : Math.round(kilobytes / 1024)
}

/** Processor time of a process and its workers so far, in ticks of 10 ms; undefined where there is no /proc. */
export function cpuMsOf(pid: number): number | undefined {
  const all = familyOf(pid)
    .map(statOf)
    .filter((fields) => fields !== undefined)
  if (all.length === 0) return undefined
  return all.reduce((sum, fields) => sum + (Number(fields[11]) + Number(fields[12])) * 10, 0)
}

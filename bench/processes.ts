// Starts the servers of a benchmark as separate processes and measures their memory and CPU time.
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

export function startBare(...args: string[]): Promise<Running> {
  return start(['bench/bare.ts', ...args], {}, /^ready (\d+)/m, (port) => `http://127.0.0.1:${port}`)
}

/** The same as in `start` of package.json. */
const nodeOptions = ['--max-semi-space-size=16', '--expose-gc']

/** Starts the service like `npm start`. Its log is written but discarded. */
export function startServer(environment: Readonly<Record<string, string>>, workers = 1): Promise<Running> {
  const settings = { PORT: '0', RATE_LIMIT: 'off', SAMPLE_ACCOUNT: 'off', ...environment }
  const args = workers === 1 ? [] : ['--workers', String(workers)]
  return start([...nodeOptions, 'start.js', ...args], settings, /is running: (\S+)/, (url) => url)
}

export async function start(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  ready: RegExp,
  urlOf: (match: string) => string,
): Promise<Running> {
  const child = spawn(process.execPath, [...args], {
    cwd: root,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const match = await new Promise<string>((resolveMatch, reject) => {
    let output = ''
    const onData = (data: Buffer) => {
      output += data.toString()
      const text = ready.exec(output)?.[1]
      if (text === undefined) return
      child.stdout.off('data', onData)
      child.stdout.resume()
      resolveMatch(text)
    }
    child.stdout.on('data', onData)
    child.once('exit', (code) => reject(new Error(`${args[0]} exited with ${code}: ${output}`)))
  })
  return { url: urlOf(match), pid: child.pid!, end: () => end(child) }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGTERM')
  await once(child, 'exit')
}

/** A process and all its descendants; only the process itself without /proc. */
function processTree(pid: number): number[] {
  if (process.platform !== 'linux') return [pid]
  const parents = new Map<number, number>()
  for (const one of readdirSync('/proc').map(Number)) {
    const fields = one > 0 ? statOf(one) : undefined
    if (fields) parents.set(one, Number(fields[1]))
  }
  const tree = [pid]
  // The loop also visits the children that it appends.
  for (const member of tree) {
    for (const [child, parent] of parents) if (parent === member) tree.push(child)
  }
  return tree
}

/** The fields after the process name, which may contain spaces. */
function statOf(pid: number): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    return undefined
  }
}

/** Resident memory of a process and its workers in megabytes; undefined without /proc. */
export function memoryOf(pid: number): number | undefined {
  let kilobytes: number | undefined
  for (const one of processTree(pid)) {
    try {
      const found = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${one}/status`, 'utf8'))?.[1]
      kilobytes = (kilobytes ?? 0) + Number(found ?? 0)
    } catch {
      continue
    }
  }
  return kilobytes === undefined ? undefined : Math.round(kilobytes / 1024)
}

/** CPU time of a process and its workers in milliseconds, in steps of 10; undefined without /proc. */
export function cpuMsOf(pid: number): number | undefined {
  const all = processTree(pid)
    .map(statOf)
    .filter((fields) => fields !== undefined)
  if (all.length === 0) return undefined
  return all.reduce((sum, fields) => sum + (Number(fields[11]) + Number(fields[12])) * 10, 0)
}

// Describes the machine of a run, without anything that identifies the machine or its owner.
import { execFileSync, spawnSync } from 'node:child_process'
import { availableParallelism, cpus, release, totalmem, type } from 'node:os'

export interface BenchMachine {
  readonly cpu: string
  readonly cores: number
  readonly memory: string
  readonly kernel: string
  readonly node: string
  readonly sqlite: string
  readonly postgres: string
  readonly wrk: string
  readonly nginx: string
  readonly pgbench: string
  readonly commit: string
}

const none = 'not installed'
let postgres = 'not used'

/** Called when a PostgreSQL server starts. */
export function recordPostgres(binary: string): void {
  postgres = versionOf(binary, '--version')
}

export function describeMachine(): BenchMachine {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memory: `${(totalmem() / 2 ** 30).toFixed(1)} GiB`,
    kernel: `${type()} ${release()}`,
    node: process.version,
    sqlite: process.versions['sqlite'] ?? 'unknown',
    postgres,
    wrk: versionOf('wrk', '--version'),
    nginx: versionOf('nginx', '-v'),
    pgbench: versionOf('pgbench', '--version'),
    commit: commit(),
  }
}

/** The exit code says nothing: wrk prints its version and exits with 1, and Debian's pgbench may be a script without the program. */
export function isInstalled(program: string, flag = '--version'): boolean {
  const { error, stdout, stderr } = spawnSync(program, [flag], { encoding: 'utf8' })
  return error === undefined && /\d+\.\d+/.test(`${stdout}${stderr}`)
}

function versionOf(program: string, flag: string): string {
  const { error, stdout, stderr } = spawnSync(program, [flag], { encoding: 'utf8' })
  if (error) return none
  const text = `${stdout}\n${stderr}`
  return /\d+(\.\d+)+[^\s,)]*/.exec(text)?.[0] ?? 'unknown'
}

function commit(): string {
  try {
    const git = (...args: string[]) =>
      execFileSync('git', args, {
        cwd: import.meta.dirname,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      })
    const changed = git('status', '--porcelain', '--untracked-files=no').trim() !== ''
    return `${git('rev-parse', '--short=12', 'HEAD').trim()}${changed ? ' and changes' : ''}`
  } catch {
    return 'unknown'
  }
}

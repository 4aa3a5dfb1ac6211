// A small tmpfs for tests that fill the disk completely.
import { execFileSync } from 'node:child_process'
import { chmodSync, closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'

export interface SmallDisk extends Disposable {
  readonly folder: string
  fill(): void
  freeSpace(): void
}

export function mountSmallDisk(megabytes: number): SmallDisk {
  // Not below a private TMPDIR: PostgreSQL's user must be able to access it.
  const folder = mkdtempSync('/tmp/tollgate-disk-')
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder], { stdio: 'pipe' })
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
  chmodSync(folder, 0o777)
  const ballast = join(folder, 'ballast')
  return {
    folder,
    fill() {
      const file = openSync(ballast, 'a')
      try {
        for (const size of [1 << 20, 1 << 12]) writeUntilFull(file, Buffer.alloc(size))
      } finally {
        closeSync(file)
      }
    },
    freeSpace: () => rmSync(ballast, { force: true }),
    [Symbol.dispose]() {
      execFileSync('umount', ['-l', folder])
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function writeUntilFull(file: number, chunk: Buffer): void {
  try {
    for (;;) writeSync(file, chunk)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
  }
}

/** Returns why no tmpfs can be mounted; undefined if one can. */
export function smallDiskProblem(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'mounting a tmpfs needs root on Linux'
  try {
    mountSmallDisk(1)[Symbol.dispose]()
    return undefined
  } catch {
    return 'this machine does not allow mounting a tmpfs'
  }
}

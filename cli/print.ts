// Prints the result of a command and sets the exit code.
import type { CommandResult } from './run-admin.ts'

export function print({ code, stdout, stderr }: CommandResult): void {
  process.exitCode = code ?? 1
  process.stderr.on('error', () => undefined)
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // The reader has seen enough: `| head -1`. The result is what the exit code says.
    if (error.code === 'EPIPE') return
    process.exitCode = 1
    process.stderr.write(`无法写出结果 / the output cannot be written (${error.code})\n`)
  })
  process.stdout.write(stdout)
  process.stderr.write(stderr)
}

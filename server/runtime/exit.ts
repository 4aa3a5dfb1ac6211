// Ends the process when everything is closed.

/**
 * `isBlocked`: stdout is not read, and a thread still waits to write the log. `process.exit` would wait for that thread indefinitely.
 * Replacing the program ends its threads; the new one only exits with the same code.
 */
export function exitProcess(code: number, isBlocked: boolean): void {
  if (isBlocked) process.execve?.(process.execPath, [process.execPath, '-e', `process.exit(${code})`], {})
  process.exit(code)
}

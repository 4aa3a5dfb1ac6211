// Ends the process when everything is closed.

/**
 * `isBlocked`: nobody reads stdout, and a thread still waits to write the log. `process.exit` would wait for that thread, and for ever.
 * Another program in the place of this one ends its threads; it does nothing but exit with the same code.
 */
export function exitProcess(code: number, isBlocked: boolean): void {
  if (isBlocked) process.execve?.(process.execPath, [process.execPath, '-e', `process.exit(${code})`], {})
  process.exit(code)
}

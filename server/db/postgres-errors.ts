// What the errors of PostgreSQL and of its driver mean. Without the driver: a service on SQLite does not load it.
import { DatabaseUnavailable } from './database.ts'

/** A row with the same key exists. */
export function isUniqueViolation(error: unknown): boolean {
  return codeOf(error) === '23505'
}

/** The server answered with an error: nothing of the statement or of its transaction is committed. */
export function isServerError(error: unknown): boolean {
  return error instanceof Error && !(error instanceof DatabaseUnavailable) && 'severity' in error
}

export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

export function isConnectionLoss(error: unknown): boolean {
  const code = codeOf(error)
  // 08 connection, 53 insufficient resources, 57P shutdown; the others come from the socket.
  return (
    /^(08|53|57P)/.test(code) ||
    /^(E[A-Z]+|ERR_(SSL|TLS|STREAM|SOCKET)_\w+)$/.test(code) ||
    (error instanceof Error && /connection|terminated|timeout/i.test(error.message) && code === '')
  )
}

/** Whether there was no server to answer, or it is starting or stopping: then no client changes anything through it. */
export function isUnreachable(error: unknown): boolean {
  const cause = error instanceof DatabaseUnavailable ? error.cause : error
  return isConnectionLoss(cause) && !codeOf(cause).startsWith('53')
}

export function unavailable(error: unknown): DatabaseUnavailable {
  if (error instanceof DatabaseUnavailable) return error
  const code = codeOf(error) || (hasNoTls(error) ? 'NO_TLS' : 'connection lost')
  return new DatabaseUnavailable(`PostgreSQL: ${code}`, error)
}

/** The server has no TLS. */
export function hasNoTls(error: unknown): boolean {
  return error instanceof Error && error.message.includes('does not support SSL')
}

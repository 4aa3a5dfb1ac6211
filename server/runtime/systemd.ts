// Notifies systemd when the service is ready, reloads or stops (sd_notify), and which failures it cannot solve by a restart.
import { spawn } from 'node:child_process'
import { fstatSync } from 'node:fs'
import type { Logger } from 'pino'

/** EX_CONFIG of sysexits.h. The unit does not restart after it. */
export const wrongSettingsExitCode = 78

let lastSent: Promise<void> = Promise.resolve()

/**
 * Sends one message, after those before it: the end of a reload that overtook its begin would leave the unit reloading. Node has
 * no datagram sockets in the file system, so systemd's own program sends it.
 */
export function notifySystemd(log: Logger, ...assignments: string[]): void {
  if (process.env['NOTIFY_SOCKET'] === undefined) return
  lastSent = lastSent.then(
    () =>
      new Promise((resolve) => {
        const child = spawn('systemd-notify', assignments, { stdio: 'ignore' })
        child.on('error', (error) => {
          log.error({ err: error }, 'failed to run systemd-notify')
          resolve()
        })
        child.on('exit', () => resolve())
        child.unref()
      }),
  )
}

/** Whether stdout is systemd's journal. Everything below a service inherits JOURNAL_STREAM, but not the stream that it names. */
export function isStdoutJournal(environment: Readonly<Record<string, string | undefined>>): boolean {
  const { JOURNAL_STREAM: stream } = environment
  if (stream === undefined) return false
  const { dev, ino } = fstatSync(process.stdout.fd, { bigint: true })
  return stream === `${dev}:${ino}`
}

/**
 * True in a process that systemd started. INVOCATION_ID alone is not enough: everything below a service inherits it, for example
 * what a cron job or a CI runner starts.
 */
export function isSystemdService(environment: Readonly<Record<string, string | undefined>>): boolean {
  const { NOTIFY_SOCKET: socket, INVOCATION_ID: invocation, SYSTEMD_EXEC_PID: pid } = environment
  if (socket !== undefined) return true
  return invocation !== undefined && (pid === undefined || pid === String(process.pid))
}

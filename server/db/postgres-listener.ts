// A connection that only listens for notifications. A connection can break without an error, so it is checked several
// times a second, and its messages count as complete only for a short time after the last check.
import { randomUUID } from 'node:crypto'
import { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Channel, ChannelEvents } from './database.ts'
import { freshMs, listenerName } from './notifications.ts'
import { createConnector } from './postgres-connection.ts'

/** The time between two checks. */
const checkIntervalMs = 200

/** After this time without a response, the connection is closed. Longer than `freshMs`, to survive short load peaks. */
const responseTimeoutMs = 2_000

const reconnectDelayMs = 200

/** `notify` uses the pool: a message sent that way must arrive here before the channel counts as up. */
export function listenOn(
  url: string,
  channel: string,
  events: ChannelEvents,
  notify: (payload: string) => Promise<void>,
): Channel {
  const connector = createConnector(url)
  const closing = new AbortController()
  let checkedAt = -Infinity
  let isUp = false

  async function listen(): Promise<void> {
    const socket = new Socket()
    const client = new pg.Client({
      ...connector.config(),
      application_name: 'tollgate connecting',
      stream: () => socket,
    })
    const guard = createWaitGuard()
    client.on('error', guard.fail)
    client.on('end', () => guard.fail(new Error('the connection was closed')))
    const stop = () => guard.fail(new Error('the channel was closed'))
    closing.signal.addEventListener('abort', stop)
    const { withTimeout } = guard
    try {
      await withTimeout(client.connect())
      const hello = `hello ${randomUUID()}`
      const received = new Promise<void>((resolve) => {
        client.on('notification', ({ payload = '' }) => {
          if (payload === hello) resolve()
          else if (!payload.startsWith('hello ')) events.onMessage(payload)
        })
      })
      await withTimeout(client.query(`LISTEN ${channel}`))
      // A connection pooler may accept LISTEN and never deliver a message.
      await withTimeout(notify(hello))
      await withTimeout(received)
      await withTimeout(client.query(`SET application_name = '${listenerName}'`))
      for (;;) {
        const startedAt = performance.now()
        const { rows } = await withTimeout(
          client.query<{ standby: boolean }>('SELECT pg_is_in_recovery() AS standby'),
        )
        // A demoted server receives no notifications of commits on the new primary.
        if (rows[0]?.standby !== false) throw new Error('the server is a standby')
        checkedAt = startedAt
        if (!isUp) {
          isUp = true
          events.onUp()
        }
        await withTimeout(sleep(checkIntervalMs, undefined, { ref: false }))
      }
    } finally {
      closing.signal.removeEventListener('abort', stop)
      const wasUp = isUp
      isUp = false
      if (wasUp) events.onDown()
      socket.destroy()
    }
  }

  async function keepListening(): Promise<void> {
    while (!closing.signal.aborted) {
      // `onDown` reported it; that the database is unavailable is reported by the queries that fail.
      await listen().catch(connector.adapt)
      await sleep(reconnectDelayMs, undefined, { ref: false })
    }
  }

  void keepListening()
  return {
    isFresh: () => isUp && performance.now() - checkedAt < freshMs,
    checkedAt: () => checkedAt,
    close: () => closing.abort(),
  }
}

/**
 * Awaits one promise after the other, each at most `responseTimeoutMs` and none after `fail`. `Promise.race` with a promise
 * that lives as long as the connection would retain every race: five each second.
 */
export function createWaitGuard() {
  let failure: Error | undefined
  let interrupt: ((error: Error) => void) | undefined
  return {
    fail(error: Error): void {
      failure ??= error
      interrupt?.(failure)
    },
    withTimeout<T>(promise: Promise<T>): Promise<T> {
      return new Promise<T>((resolve, reject) => {
        const timer = setTimeout(
          () => reject(new Error('the server does not respond')),
          responseTimeoutMs,
        ).unref()
        interrupt = reject
        if (failure) reject(failure)
        // It may fail later, when the result is no longer awaited; that is not an unhandled rejection.
        promise.then(resolve, reject).finally(() => clearTimeout(timer))
      })
    },
  }
}

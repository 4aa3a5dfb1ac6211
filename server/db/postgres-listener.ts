// A connection that does nothing but listen. A channel that broke without a word is the danger: so it is asked again and
// again whether it still stands, and what was heard counts only for a moment after the last answer.
import { randomUUID } from 'node:crypto'
import { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Channel, ChannelEvents } from './database.ts'

/** How often the server is asked. */
const beatMs = 200

/** For how long after an answered question (counted from its asking) nothing can have been missed unnoticed. */
export const freshMs = 800

/** How a connection is called in `pg_stat_activity` once it has shown that it hears; before that it is nobody to wait for. */
export const listenerName = 'tollgate listening'

/** Without an answer for so long the connection is given up. Longer than `freshMs`: a busy moment is no loss. */
const patienceMs = 2_000

const pauseMs = 200

/** `notify` goes another way, through the pool: what it sends must arrive here before the channel counts as open. */
export function listenOn(
  url: string,
  channel: string,
  events: ChannelEvents,
  notify: (payload: string) => Promise<void>,
): Channel {
  const ending = new AbortController()
  let provenAt = -Infinity

  async function listen(): Promise<void> {
    const socket = new Socket()
    const client = new pg.Client({
      connectionString: url,
      application_name: 'tollgate about to listen',
      stream: () => socket,
      keepAlive: true,
    })
    const wait = openWait()
    client.on('error', wait.giveUp)
    client.on('end', () => wait.giveUp(new Error('the channel was closed')))
    const stop = () => wait.giveUp(new Error('nobody listens any more'))
    ending.signal.addEventListener('abort', stop)
    const { inTime } = wait
    let isUp = false
    try {
      await inTime(client.connect())
      const hello = `hello ${randomUUID()}`
      const heard = new Promise<void>((resolve) => {
        client.on('notification', ({ payload = '' }) => {
          if (payload === hello) resolve()
          else if (!payload.startsWith('hello ')) events.onMessage(payload)
        })
      })
      await inTime(client.query(`LISTEN ${channel}`))
      // A pooler in between may accept LISTEN and never pass anything on.
      await inTime(notify(hello))
      await inTime(heard)
      await inTime(client.query(`SET application_name = '${listenerName}'`))
      for (;;) {
        const askedAt = performance.now()
        const { rows } = await inTime(
          client.query<{ standby: boolean }>('SELECT pg_is_in_recovery() AS standby'),
        )
        // A server that was demoted hears nothing of the commits on the new one.
        if (rows[0]?.standby !== false) throw new Error('the server is a standby')
        provenAt = askedAt
        if (!isUp) {
          isUp = true
          events.onUp()
        }
        await inTime(sleep(beatMs, undefined, { ref: false }))
      }
    } finally {
      ending.signal.removeEventListener('abort', stop)
      provenAt = -Infinity
      if (isUp) events.onDown()
      socket.destroy()
    }
  }

  async function keepListening(): Promise<void> {
    while (!ending.signal.aborted) {
      // Whoever listens is told by onDown; that the database is away is said by those who ask it something.
      await listen().catch(() => undefined)
      await sleep(pauseMs, undefined, { ref: false })
    }
  }

  void keepListening()
  return {
    isFresh: () => performance.now() - provenAt < freshMs,
    close: () => ending.abort(),
  }
}

/**
 * One thing after the other is waited for, none for longer than `patienceMs` and none beyond the end. A promise of the end
 * to race against would live as long as the connection and remember every race: five in each second.
 */
export function openWait() {
  let end: Error | undefined
  let interrupt: ((error: Error) => void) | undefined
  return {
    giveUp(error: Error): void {
      end ??= error
      interrupt?.(end)
    },
    inTime<T>(answer: Promise<T>): Promise<T> {
      return new Promise<T>((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error('the channel does not answer')), patienceMs).unref()
        interrupt = reject
        if (end) reject(end)
        // It may still fail when nobody waits for it any more.
        answer.then(resolve, reject).finally(() => clearTimeout(timer))
      })
    },
  }
}

// Waits until every process that caches links has acknowledged a change.
//
// The request is sent on the channel of the changes after the commit, so a process that acknowledges it has received the change. A
// process that does not acknowledge within `freshMs` does not use its cache any more.
import { randomUUID } from 'node:crypto'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { Queries } from '../../db/database.ts'
import { freshMs, listenerName } from '../../db/notifications.ts'

export const linkChannel = 'tollgate_links'

export interface ChangeBroadcast {
  /** To be awaited after a commit: then every process uses the change. */
  awaitAcks(): Promise<void>
  /** Returns false when the message is not part of a broadcast. */
  handleMessage(payload: string): boolean
}

interface Round {
  /** The number of listening processes; infinite until the database has returned it. */
  wantedAcks: number
  acks: number
  readonly end: () => void
}

const notifySql = `SELECT pg_notify('${linkChannel}', CAST(? AS text))`

const requestSql = `${notifySql}, (SELECT count(*) FROM pg_stat_activity
  WHERE application_name = '${listenerName}' AND datname = current_database()) AS listeners`

/** A message has at most 8,000 bytes. */
const maxNamesPerMessage = 100

const requestPrefix = 'request '
const ackPrefix = 'ack '

export function createChangeBroadcast(queries: Queries): ChangeBroadcast {
  const processName = randomUUID()
  const rounds = new Map<string, Round>()
  let lastRound = 0
  let nextRound: Promise<void> | undefined
  let lastRequest: Promise<void> = Promise.resolve()
  let unacknowledged: string[] = []

  /** Changes of one turn of the event loop share a round, and so do changes during a request. */
  async function startRound(): Promise<void> {
    await Promise.all([nextTurn(), lastRequest])
    nextRound = undefined
    lastRound += 1
    const name = `${processName}/${lastRound}`
    const { promise, resolve } = Promise.withResolvers<void>()
    const round: Round = { wantedAcks: Infinity, acks: 0, end: resolve }
    rounds.set(name, round)
    const timeout = new AbortController()
    lastRequest = queries.one<{ listeners: number }>(requestSql, [`${requestPrefix}${name}`]).then(
      (row) => {
        round.wantedAcks = row?.listeners ?? Infinity
        addAcks(name, 0)
      },
      // No process received the request, so only the timeout ends the round.
      () => undefined,
    )
    await Promise.race([
      promise,
      sleep(freshMs, undefined, { signal: timeout.signal }).catch(() => undefined),
    ])
    timeout.abort()
    rounds.delete(name)
  }

  function addAcks(name: string, acks: number): void {
    const round = rounds.get(name)
    if (!round) return
    round.acks += acks
    if (round.acks >= round.wantedAcks) round.end()
  }

  async function acknowledge(): Promise<void> {
    await nextTurn()
    const names = unacknowledged
    unacknowledged = []
    for (let start = 0; start < names.length; start += maxNamesPerMessage) {
      const some = names.slice(start, start + maxNamesPerMessage)
      await queries.one(notifySql, [`${ackPrefix}${some.join(' ')}`])
    }
  }

  return {
    awaitAcks: () => (nextRound ??= startRound()),
    handleMessage(payload) {
      if (payload.startsWith(ackPrefix)) {
        for (const name of payload.slice(ackPrefix.length).split(' ')) addAcks(name, 1)
        return true
      }
      if (!payload.startsWith(requestPrefix)) return false
      const name = payload.slice(requestPrefix.length)
      if (name.startsWith(processName)) addAcks(name, 1)
      // When this fails, the other process waits until its timeout.
      else if (unacknowledged.push(name) === 1) acknowledge().catch(() => undefined)
      return true
    },
  }
}

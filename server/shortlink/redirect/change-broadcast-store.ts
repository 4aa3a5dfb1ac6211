// Whoever has changed a link asks every process that remembers links whether it has heard of the change.
//
// The question is told on the same channel after the commit, so whoever answers it has heard of the change before. Who has not
// answered after `freshMs` trusts its memory no longer by then.
import { randomUUID } from 'node:crypto'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { Queries } from '../../db/database.ts'
import { freshMs, listenerName } from '../../db/postgres-listener.ts'

export const linkChannel = 'tollgate_links'

export interface Word {
  /** To be awaited after a commit: from then on every process goes by it. */
  goRound(): Promise<void>
  /** False when the message is about something else. */
  hear(payload: string): boolean
}

interface Round {
  /** How many processes listened when it was asked; unknown until the database has said so. */
  wanted: number
  heard: number
  readonly end: () => void
}

const tell = `SELECT pg_notify('${linkChannel}', CAST(? AS text))`

const askSql = `${tell}, (SELECT count(*) FROM pg_stat_activity
  WHERE application_name = '${listenerName}' AND datname = current_database()) AS listeners`

/** A message has at most 8,000 bytes. */
const mostNames = 100

export function openWord(queries: Queries): Word {
  const me = randomUUID()
  const rounds = new Map<string, Round>()
  let started = 0
  let next: Promise<void> | undefined
  let lastAsked: Promise<void> = Promise.resolve()
  let toAnswer: string[] = []

  /** The changes of one turn of the event loop go round together, and those that come while a question is on its way. */
  async function startRound(): Promise<void> {
    await Promise.all([nextTurn(), lastAsked])
    next = undefined
    started += 1
    const name = `${me}/${started}`
    const { promise, resolve } = Promise.withResolvers<void>()
    const round: Round = { wanted: Infinity, heard: 0, end: resolve }
    rounds.set(name, round)
    const waiting = new AbortController()
    lastAsked = queries.one<{ listeners: number }>(askSql, [`ask ${name}`]).then(
      (row) => {
        round.wanted = row?.listeners ?? Infinity
        count(name, 0)
      },
      // Nobody was asked, so nobody answers: time alone has to do.
      () => undefined,
    )
    await Promise.race([
      promise,
      sleep(freshMs, undefined, { signal: waiting.signal }).catch(() => undefined),
    ])
    waiting.abort()
    rounds.delete(name)
  }

  function count(name: string, heard: number): void {
    const round = rounds.get(name)
    if (!round) return
    round.heard += heard
    if (round.heard >= round.wanted) round.end()
  }

  async function answer(): Promise<void> {
    await nextTurn()
    const names = toAnswer
    toAnswer = []
    for (let at = 0; at < names.length; at += mostNames) {
      await queries.one(tell, [`heard ${names.slice(at, at + mostNames).join(' ')}`])
    }
  }

  return {
    goRound: () => (next ??= startRound()),
    hear(payload) {
      if (payload.startsWith('heard ')) {
        for (const name of payload.slice(6).split(' ')) count(name, 1)
        return true
      }
      if (!payload.startsWith('ask ')) return false
      const name = payload.slice(4)
      if (name.startsWith(me)) count(name, 1)
      // Who cannot answer is waited for no longer than anyone.
      else if (toAnswer.push(name) === 1) answer().catch(() => undefined)
      return true
    },
  }
}

// Uses up the visits of links with `max_clicks`: exactly that many people get the destination, over all processes.
//
// Visits that arrive while a claim is being written share the next one, so a busy link costs one transaction at a time.
import type { Database, Tx } from '../../db/database.ts'
import { forUpdate, idList, orderedUpdate, valueTable } from '../../db/dialect.ts'
import type { Tables } from '../../db/schema.ts'
import { emitEvents } from '../../events/emit.ts'
import { exhaustedEvent } from './store.ts'

export interface Claims {
  /** Uses one visit up; false when none is left. */
  claim(linkId: number): Promise<boolean>
  /** Whether a visit is left. */
  hasLeft(linkId: number): Promise<boolean>
}

interface WaitingClaim {
  readonly linkId: number
  readonly resolve: (granted: boolean) => void
  readonly reject: (error: unknown) => void
}

/** Links of one transaction, and visits that may wait in one process. */
const maxLinks = 500
const maxWaiting = 10_000

class TooManyClaims extends Error {}

export function createClaims(db: Database): Claims {
  let waiting: WaitingClaim[] = []
  let isWriting = false

  async function writeNext(): Promise<void> {
    isWriting = true
    while (waiting.length > 0) {
      const counts = new Map<number, number>()
      const taken: WaitingClaim[] = []
      const later: WaitingClaim[] = []
      for (const one of waiting) {
        const known = counts.get(one.linkId)
        if (known === undefined && counts.size >= maxLinks) later.push(one)
        else {
          counts.set(one.linkId, (known ?? 0) + 1)
          taken.push(one)
        }
      }
      waiting = later
      try {
        const granted = await db.write((tx) => useVisits(tx, counts))
        for (const { linkId, resolve } of taken) {
          const left = granted.get(linkId) ?? 0
          granted.set(linkId, left - 1)
          resolve(left > 0)
        }
      } catch (error) {
        for (const { reject } of taken) reject(error)
      }
    }
    isWriting = false
  }

  return {
    claim: (linkId) =>
      new Promise((resolve, reject) => {
        if (waiting.length >= maxWaiting) {
          reject(new TooManyClaims('too many visits of links with a limit'))
          return
        }
        waiting.push({ linkId, resolve, reject })
        // In the next turn, so that visits of this turn share the transaction.
        if (!isWriting) {
          isWriting = true
          setImmediate(() => void writeNext())
        }
      }),
    async hasLeft(linkId) {
      const row = await db.one<UsageRow>(`${usageSql} WHERE u.link_id = ?`, [linkId])
      return row !== undefined && row.max_clicks !== null && row.used < row.max_clicks
    },
  }
}

type UsageRow = Tables['link_usage'] &
  Pick<Tables['link'], 'id' | 'account_id' | 'code' | 'title' | 'external_id' | 'max_clicks'>

const usageSql = `SELECT u.link_id, u.used, l.id, l.account_id, l.code, l.title, l.external_id, l.max_clicks
  FROM link_usage u JOIN link l ON l.id = u.link_id`

/** Returns how many of the wanted visits each link still had. */
async function useVisits(tx: Tx, wanted: ReadonlyMap<number, number>): Promise<Map<number, number>> {
  const list = idList(tx, [...wanted.keys()])
  const rows = await tx.all<UsageRow>(
    `${usageSql} WHERE u.link_id IN ${list.sql} ORDER BY u.link_id${forUpdate(tx, 'FOR UPDATE OF u')}`,
    [list.value],
  )
  const granted = new Map<number, number>()
  const changes: { changed_id: number; added: number }[] = []
  const exhausted: UsageRow[] = []
  for (const row of rows) {
    const left = row.max_clicks === null ? 0 : Math.max(0, row.max_clicks - row.used)
    const added = Math.min(left, wanted.get(row.link_id) ?? 0)
    granted.set(row.link_id, added)
    if (added > 0) changes.push({ changed_id: row.link_id, added })
    if (added > 0 && added === left) exhausted.push(row)
  }
  if (changes.length > 0) {
    const table = valueTable(tx, { changed_id: 'bigint', added: 'bigint' }, changes)
    const update = orderedUpdate(tx, 'link_usage', { link_id: 'changed_id' }, table)
    await tx.run(
      `${update.with} UPDATE link_usage SET used = used + t.added FROM ${update.from} WHERE ${update.where}`,
      update.values,
    )
  }
  await emitEvents(tx, exhausted.map(exhaustedEvent))
  return granted
}

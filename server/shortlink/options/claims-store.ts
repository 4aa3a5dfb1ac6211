// Uses up the visits of links with `max_clicks`: exactly that many people get the destination, over all processes.
//
// Visits that arrive while a claim is being written share the next one, so a busy link costs one transaction at a time.
import { createBatcher } from '../../db/batcher.ts'
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

/** Visits of one transaction, and visits that may wait in one process. */
const maxVisits = 1_000
const maxWaiting = 10_000

class TooManyClaims extends Error {}

export function createClaims(db: Database): Claims {
  const useVisit = createBatcher(db, {
    maxBatch: maxVisits,
    queueKeyOf: (linkId: number) => linkId,
    run: useEach,
  })
  let waiting = 0
  return {
    async claim(linkId) {
      if (waiting >= maxWaiting) throw new TooManyClaims('too many visits of links with a limit')
      waiting += 1
      try {
        return await useVisit(linkId)
      } finally {
        waiting -= 1
      }
    },
    async hasLeft(linkId) {
      const row = await db.one<UsageRow>(`${usageSql} WHERE u.link_id = ?`, [linkId])
      return row !== undefined && row.max_clicks !== null && row.used < row.max_clicks
    },
  }
}

/** One visit for each entry of the list; true while the link has visits left. */
async function useEach(tx: Tx, linkIds: readonly number[]): Promise<boolean[]> {
  const wanted = new Map<number, number>()
  for (const id of linkIds) wanted.set(id, (wanted.get(id) ?? 0) + 1)
  const granted = await useVisits(tx, wanted)
  return linkIds.map((id) => {
    const left = granted.get(id) ?? 0
    granted.set(id, left - 1)
    return left > 0
  })
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

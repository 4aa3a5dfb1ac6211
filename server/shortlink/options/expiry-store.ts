// Emits `link.expired` once for every link that has passed its `expires_at`.
import { isoTime } from '../../../contract/time.ts'
import type { Database, Tx } from '../../db/database.ts'
import { forUpdate, idList } from '../../db/dialect.ts'
import type { Tables } from '../../db/schema.ts'
import { rowsPerSlice, writeInSlices } from '../../db/slices.ts'
import { emitEvents } from '../../events/emit.ts'
import { eventData } from './store.ts'

export const expiryEveryMs = 2_000

/** Links that are considered together, and how many of them one account may have: many expired links of one account do not delay those of others. */
const linksPerLook = 5_000
const linksPerAccount = 100

export function reportExpiredLinks(db: Database, signal?: AbortSignal): Promise<void> {
  return writeInSlices(db, async (tx) => (await reportSome(tx)) > 0, signal)
}

type ExpiredLink = Pick<Tables['link'], 'id' | 'account_id' | 'code' | 'title' | 'external_id'> &
  Pick<Tables['link_expiry'], 'expires_at'>

async function reportSome(tx: Tx): Promise<number> {
  const due = await tx.all<Pick<Tables['link_expiry'], 'link_id'>>(
    `SELECT link_id FROM (SELECT link_id, ROW_NUMBER() OVER (PARTITION BY account_id ORDER BY expires_at, link_id) AS position
       FROM (SELECT link_id, account_id, expires_at FROM link_expiry WHERE expires_at <= ${tx.now}
         ORDER BY expires_at LIMIT ${linksPerLook}) AS first_due) AS numbered
     WHERE position <= ${linksPerAccount} ORDER BY position, link_id LIMIT ${rowsPerSlice}`,
  )
  if (due.length === 0) return 0
  const list = idList(
    tx,
    due.map(({ link_id }) => link_id),
  )
  // Another process may have reported some of them, and an update may have moved their expiry.
  const links = await tx.all<ExpiredLink>(
    `SELECT l.id, l.account_id, l.code, l.title, l.external_id, e.expires_at
     FROM link_expiry e JOIN link l ON l.id = e.link_id
     WHERE e.link_id IN ${list.sql} AND e.expires_at <= ${tx.now}
     ORDER BY e.link_id${forUpdate(tx, 'FOR UPDATE OF e SKIP LOCKED')}`,
    [list.value],
  )
  if (links.length === 0) return 0
  const reported = idList(
    tx,
    links.map(({ id }) => id),
  )
  await tx.run(`DELETE FROM link_expiry WHERE link_id IN ${reported.sql}`, [reported.value])
  await emitEvents(
    tx,
    links.map((link) => ({
      accountId: link.account_id,
      type: 'link.expired' as const,
      data: { ...eventData(link), expires_at: isoTime(link.expires_at) },
      alertKey: `link.expired ${link.id}`,
    })),
  )
  return links.length
}

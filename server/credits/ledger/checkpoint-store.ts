// The checkpoint of the ledger: the sums of each balance up to an entry that was checked. A check after it reads only newer
// entries. `ledger check` on the command line never uses it and counts everything.
import { dayMs, minuteMs } from '../../../contract/time.ts'
import type { Database, Queries } from '../../db/database.ts'
import { forUpdate } from '../../db/dialect.ts'
import type { Tables } from '../../db/schema.ts'
import { findSetting, insertSetting, putSetting } from '../../db/setting-store.ts'

export interface Checkpoint {
  readonly entryId: number
  readonly operationId: number
  /** Of the last entry, in milliseconds. */
  readonly at: number
}

export const noCheckpoint: Checkpoint = { entryId: 0, operationId: 0, at: 0 }

const settingName = 'ledger_checkpoint'

/** A younger transaction may still be running and commit an entry with a smaller id. */
const settledAfterMs = 10 * minuteMs

/** Compaction changes entries that are older than 400 days or more, and must not find any after the checkpoint. */
const maxAgeMs = 300 * dayMs

/** So that paid calls wait for one step only a few milliseconds. */
const entriesPerStep = 10_000

export async function findCheckpoint(queries: Queries): Promise<Checkpoint> {
  const value = await findSetting(queries, settingName)
  const found = value === undefined ? noCheckpoint : (JSON.parse(value) as Checkpoint)
  return Date.now() - found.at > maxAgeMs ? noCheckpoint : found
}

/** Where the next checkpoint may be: the last entry and operation that no running transaction can precede. */
export async function nextCheckpoint(
  queries: Queries,
  now: number,
  afterMs = settledAfterMs,
): Promise<Checkpoint> {
  const cut = now - afterMs
  const entry = await queries.one<Pick<Tables['ledger'], 'id' | 'at'>>(
    'SELECT id, at FROM ledger WHERE at < ? ORDER BY id DESC LIMIT 1',
    [cut],
  )
  const operation = await queries.one<Pick<Tables['operation'], 'id'>>(
    'SELECT id FROM operation WHERE created_at < ? ORDER BY id DESC LIMIT 1',
    [cut],
  )
  return entry ? { entryId: entry.id, operationId: operation?.id ?? 0, at: entry.at } : noCheckpoint
}

/** Moves the checkpoint from `from` to `to`, in steps. Stops when another process has moved it. */
export async function moveCheckpoint(db: Database, from: Checkpoint, to: Checkpoint): Promise<void> {
  let current = from
  while (current.entryId < to.entryId) {
    const moved = await db.write(async (tx) => {
      await insertSetting(tx, settingName, JSON.stringify(noCheckpoint))
      await tx.one(`SELECT value FROM setting WHERE name = ?${forUpdate(tx)}`, [settingName])
      if ((await findCheckpoint(tx)).entryId !== current.entryId) return undefined
      if (current.entryId === 0) await tx.run('DELETE FROM ledger_checkpoint')
      const next = Math.min(current.entryId + entriesPerStep, to.entryId)
      await tx.run(
        `INSERT INTO ledger_checkpoint (account_id, api_type, entry_id, bought, spent)
         SELECT account_id, api_type, CAST(? AS bigint), SUM(CASE WHEN kind IN ('grant', 'adjust') THEN amount ELSE 0 END),
           SUM(CASE WHEN kind IN ('charge', 'refund') THEN -amount ELSE 0 END)
         FROM ledger WHERE id > ? AND id <= ? GROUP BY account_id, api_type
         ON CONFLICT (account_id, api_type) DO UPDATE SET entry_id = excluded.entry_id,
           bought = ledger_checkpoint.bought + excluded.bought, spent = ledger_checkpoint.spent + excluded.spent`,
        [next, current.entryId, next],
      )
      // The operations of a step in between are not known: until the last one, all of them count as new.
      const reached = next === to.entryId ? to : { entryId: next, operationId: from.operationId, at: to.at }
      await putSetting(tx, settingName, JSON.stringify(reached))
      return reached
    })
    if (moved === undefined) return
    current = moved
  }
}

/** Forgets the checkpoint: the next check of the service counts everything. */
export async function removeCheckpoint(db: Database): Promise<void> {
  await db.write((tx) => putSetting(tx, settingName, JSON.stringify(noCheckpoint)))
}

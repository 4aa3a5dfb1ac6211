// Clicks that came faster than they can be counted: written down as they are, and added to the counters a little later.
//
// A row for each thousand clicks is cheap and durable at once. Adding up afterwards what came in two seconds costs each link one
// counter instead of one for each of its visits, and neighbours are written together.
import type { Database, Queries, Tx } from '../db/database.ts'
import { type ClickBatch, combine, cut } from './click-batch.ts'
import { addClicks, hashVisitors } from './click-store.ts'

/** So many rows are added up together, and so many counters changed in one transaction: nobody waits long for its end. */
const rowsTogether = 128
const countersTogether = 1_000

export async function noteClicks(tx: Tx, batch: ClickBatch<string>): Promise<void> {
  await insertRow(tx, 0, await hashVisitors(tx, combine([batch]).batch))
}

/**
 * A step from the journal into the counters, each click once: a row is deleted in the transaction that counts it. What was
 * added up and is too much for one transaction goes back as pieces. The first step settles how far to go, however many come
 * meanwhile; it is answered for the next step, undefined when all is counted.
 */
export function foldStep(db: Database, upTo?: number): Promise<number | undefined> {
  return db.write(async (tx) => {
    const end = upTo ?? (await lastRow(tx))
    if (end === undefined) return undefined
    const [piece] = await takeRows(tx, 1, Number.MAX_SAFE_INTEGER, 1)
    if (piece) {
      await addClicks(tx, piece)
      return end
    }
    const rows = await takeRows(tx, 0, end, rowsTogether)
    if (rows.length === 0) return undefined
    const { batch } = combine(rows)
    if (batch.linkIds.length <= countersTogether) await addClicks(tx, batch)
    else for (const part of cut(batch, countersTogether)) await insertRow(tx, 1, part)
    return end
  })
}

export async function foldAll(db: Database): Promise<void> {
  let upTo = await foldStep(db)
  while (upTo !== undefined) upTo = await foldStep(db, upTo)
}

async function lastRow(queries: Queries): Promise<number | undefined> {
  const row = await queries.one<{ id: number | null }>('SELECT MAX(id) AS id FROM link_click_journal')
  return row?.id ?? undefined
}

export async function isJournalEmpty(queries: Queries): Promise<boolean> {
  return (await lastRow(queries)) === undefined
}

async function insertRow(tx: Tx, isPiece: 0 | 1, batch: ClickBatch<number>): Promise<void> {
  await tx.run('INSERT INTO link_click_journal (is_piece, clicks) VALUES (?, ?)', [
    isPiece,
    JSON.stringify(batch),
  ])
}

/** On PostgreSQL what another process is about to count is left to it. */
async function takeRows(tx: Tx, isPiece: 0 | 1, upTo: number, most: number): Promise<ClickBatch<number>[]> {
  const rows = await tx.all<{ clicks: string }>(
    `DELETE FROM link_click_journal WHERE id IN (SELECT id FROM link_click_journal WHERE is_piece = ? AND id <= ?
     ORDER BY id LIMIT ${most}${tx.engine === 'postgres' ? ' FOR UPDATE SKIP LOCKED' : ''}) RETURNING clicks`,
    [isPiece, upTo],
  )
  return rows.map((row) => JSON.parse(row.clicks) as ClickBatch<number>)
}

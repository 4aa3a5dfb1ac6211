// Clicks that came faster than they can be counted: written down as they are, and added to the counters a little later.
//
// A row for each thousand clicks is cheap and durable at once. Adding up afterwards what came in five seconds costs each link one
// counter instead of one for each of its visits, and neighbours are written together.
import type { Database, Queries, Tx } from '../../db/database.ts'
import { type ClickBatch, combine, cut, listOf } from './batch.ts'
import { addClicks, hashVisitors } from './store.ts'

/** So many rows are added up together, and so many counters changed in one transaction: nobody waits long for its end. */
const rowsTogether = 256
const countersTogether = 1_000

export async function noteClicks(tx: Tx, batch: ClickBatch<string>): Promise<void> {
  await insertRow(tx, 0, await hashVisitors(tx, batch))
}

/**
 * A step from the journal into the counters, each click once: a row is deleted in the transaction that counts it. What was
 * added up and is too much for one transaction goes back as pieces. The first step settles how far to go, however many come
 * meanwhile; it is answered for the next step, undefined when all is counted.
 */
export async function foldStep(db: Database, upTo?: number): Promise<number | undefined> {
  const end = upTo ?? (await lastRow(db))
  if (end === undefined) return undefined
  const [piece] = await readRows(db, 1, Number.MAX_SAFE_INTEGER, 1)
  const rows = piece ? [piece] : await readRows(db, 0, end, rowsTogether)
  if (rows.length === 0) return undefined
  // Before the transaction: adding up takes longer than anybody should wait.
  const parts = piece
    ? [piece.batch]
    : [...cut(combine(rows.map(({ batch }) => batch)).batch, countersTogether)]
  const work = db.write(async (tx) => {
    await deleteRows(tx, rows)
    if (parts.length === 1) await addClicks(tx, parts[0]!)
    else for (const part of parts) await insertRow(tx, 1, part)
  })
  await work.catch((error: unknown) => {
    if (!(error instanceof TakenByAnother)) throw error
  })
  return end
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
  await tx.run('INSERT INTO link_click_journal (is_aggregated, clicks) VALUES (?, ?)', [
    isPiece,
    textOf(batch),
  ])
}

/** Numbers of a Float64Array would be written with their places. */
function textOf(batch: ClickBatch<number>): string {
  return JSON.stringify({
    ...batch,
    linkIds: listOf(batch.linkIds),
    hours: listOf(batch.hours),
    agents: listOf(batch.agents),
    referrers: listOf(batch.referrers),
    clicks: listOf(batch.clicks),
    visitorLinkIds: listOf(batch.visitorLinkIds),
    visitorDays: listOf(batch.visitorDays),
    visitors: listOf(batch.visitors),
  } satisfies ClickBatch<number>)
}

interface Row {
  readonly id: number
  readonly batch: ClickBatch<number>
}

async function readRows(queries: Queries, isPiece: 0 | 1, upTo: number, most: number): Promise<Row[]> {
  const rows = await queries.all<{ id: number; clicks: string }>(
    `SELECT id, clicks FROM link_click_journal WHERE is_aggregated = ? AND id <= ? ORDER BY id LIMIT ${most}`,
    [isPiece, upTo],
  )
  return rows.map(({ id, clicks }) => ({ id, batch: JSON.parse(clicks) as ClickBatch<number> }))
}

class TakenByAnother extends Error {}

/** Whoever deletes rows counts them; another process that added up the same ones may have been quicker. */
async function deleteRows(tx: Tx, rows: readonly Row[]): Promise<void> {
  const ids = rows.map(({ id }) => id)
  const deleted =
    tx.engine === 'postgres'
      ? await tx.run('DELETE FROM link_click_journal WHERE id = ANY(CAST(? AS bigint[]))', [ids])
      : await tx.run('DELETE FROM link_click_journal WHERE id IN (SELECT value FROM json_each(?))', [
          JSON.stringify(ids),
        ])
  if (deleted < rows.length) throw new TakenByAnother()
}

// Imports of links and the rows of their files.
import { bulkInsert, insertRows } from '../../db/bulk-insert.ts'
import type { Database, Queries, Tx } from '../../db/database.ts'
import { byEngine, valueTable } from '../../db/dialect.ts'
import { isReached } from '../../db/reached.ts'
import type { Tables } from '../../db/schema.ts'
import { rowsPerSlice, writeInSlices } from '../../db/slices.ts'

export type Import = Readonly<Tables['link_import']>
export type ImportRow = Readonly<Tables['link_import_row']>
export type ImportState = Import['state']

const columns = `id, account_id, file_name, format, encoding, options, state, total, invalid, created, failed, next_row,
  pause_reason, lease_until, created_at, ended_at`

export function listImports(queries: Queries, accountId: number, limit: number): Promise<Import[]> {
  return queries.all<Import>(
    `SELECT ${columns} FROM link_import WHERE account_id = ? ORDER BY id DESC LIMIT ?`,
    [accountId, limit],
  )
}

export function findImport(queries: Queries, accountId: number, id: number): Promise<Import | undefined> {
  return queries.one<Import>(`SELECT ${columns} FROM link_import WHERE id = ? AND account_id = ?`, [
    id,
    accountId,
  ])
}

export type NewImport = Pick<
  Import,
  'account_id' | 'file_name' | 'format' | 'encoding' | 'options' | 'total' | 'invalid'
>

export function insertImport(tx: Tx, one: NewImport): Promise<number> {
  return tx.insert(
    `INSERT INTO link_import (account_id, file_name, format, encoding, options, state, total, invalid, created_at)
     VALUES (?, ?, ?, ?, ?, 'uploading', ?, ?, ${tx.now})`,
    [one.account_id, one.file_name, one.format, one.encoding, one.options, one.total, one.invalid],
  )
}

const rowInsert = bulkInsert('link_import_row', {
  import_id: 'bigint',
  row_index: 'bigint',
  line: 'bigint',
  input: 'text',
  state: 'text',
  problem: 'text',
})

export type NewImportRow = Omit<ImportRow, 'link_id'>

export async function insertImportRows(tx: Tx, rows: readonly NewImportRow[]): Promise<void> {
  await insertRows(tx, rowInsert, rows)
}

/** Returns false when the import is not in one of these states any more. */
export async function moveImport(
  tx: Tx,
  id: number,
  from: readonly ImportState[],
  to: ImportState,
  reason = '',
): Promise<boolean> {
  const isEnd = to === 'finished' || to === 'cancelled'
  const changed = await tx.run(
    `UPDATE link_import SET state = ?, pause_reason = ?, ended_at = ${isEnd ? tx.now : 'NULL'}, lease_until = 0
     WHERE id = ? AND state IN (${from.map(() => '?').join(', ')})`,
    [to, reason, id, ...from],
  )
  return changed === 1
}

/** The import that no process works on and that has waited longest, for this process alone until the lease ends. */
export async function claimImport(tx: Tx, leaseMs: number): Promise<Import | undefined> {
  const free = `state IN ('checking', 'running') AND ${isReached(tx, 'lease_until', 2 * leaseMs)}`
  return tx.one<Import>(
    `UPDATE link_import SET lease_until = ${tx.now} + CAST(? AS bigint)
     WHERE id = (SELECT id FROM link_import WHERE ${free} ORDER BY lease_until, id LIMIT 1) AND ${free} RETURNING ${columns}`,
    [leaseMs],
  )
}

export async function renewLease(tx: Tx, id: number, leaseMs: number): Promise<Import | undefined> {
  return tx.one<Import>(
    `UPDATE link_import SET lease_until = ${tx.now} + CAST(? AS bigint) WHERE id = ? RETURNING ${columns}`,
    [leaseMs, id],
  )
}

/** Those that have waited longer come first. */
export async function releaseLease(tx: Tx, id: number): Promise<void> {
  await tx.run(`UPDATE link_import SET lease_until = ${tx.now} WHERE id = ?`, [id])
}

/** Rows from an index on, in order. */
export function listRows(
  queries: Queries,
  importId: number,
  from: number,
  limit: number,
  state?: ImportRow['state'],
): Promise<ImportRow[]> {
  const rowColumns = 'import_id, row_index, line, input, state, problem, link_id'
  return state === undefined
    ? queries.all<ImportRow>(
        `SELECT ${rowColumns} FROM link_import_row WHERE import_id = ? AND row_index >= ? ORDER BY row_index LIMIT ?`,
        [importId, from, limit],
      )
    : queries.all<ImportRow>(
        `SELECT ${rowColumns} FROM link_import_row WHERE import_id = ? AND row_index >= ? AND state = ?
         ORDER BY row_index LIMIT ?`,
        [importId, from, state, limit],
      )
}

export interface RowResult {
  readonly rowIndex: number
  readonly state: ImportRow['state']
  readonly problem: string
  readonly linkId: number | null
}

export interface SliceResult {
  /** The first row after the slice. */
  readonly to: number
  readonly results: readonly RowResult[]
  readonly leaseMs: number
}

/** The slice was processed meanwhile, or the import was stopped: nothing of it may be written. */
export class SliceLost extends Error {}

/** Writes the results of a slice, in the transaction of what they report, and renews the lease. Returns the import after it. */
export async function recordSlice(
  tx: Tx,
  { id, state, next_row: from }: Pick<Import, 'id' | 'state' | 'next_row'>,
  { to, results, leaseMs }: SliceResult,
): Promise<Import> {
  const count = (wanted: ImportRow['state']) => results.filter((row) => row.state === wanted).length
  const after = await tx.one<Import>(
    `UPDATE link_import SET next_row = ?, invalid = invalid + ?, created = created + ?, failed = failed + ?,
       lease_until = ${tx.now} + CAST(? AS bigint)
     WHERE id = ? AND next_row = ? AND state = ? RETURNING ${columns}`,
    [to, count('invalid'), count('created'), count('failed'), leaseMs, id, from, state],
  )
  if (!after) throw new SliceLost()
  await byEngine(tx, { sqlite: writeEach, postgres: writeTogether })(tx, id, { from, to, results })
  return after
}

type WriteResults = (
  tx: Tx,
  id: number,
  slice: Pick<SliceResult, 'to' | 'results'> & { readonly from: number },
) => Promise<void>

/** For a list of values SQLite would read all rows of the import. */
const writeEach: WriteResults = async (tx, id, { results }) => {
  for (const { rowIndex, state, problem, linkId } of results)
    await tx.run(
      'UPDATE link_import_row SET state = ?, problem = ?, link_id = ? WHERE import_id = ? AND row_index = ?',
      [state, problem, linkId, id, rowIndex],
    )
}

const writeTogether: WriteResults = async (tx, id, { from, to, results }) => {
  if (results.length === 0) return
  const table = valueTable(
    tx,
    { row_index: 'bigint', state: 'text', problem: 'text', link_id: 'bigint' },
    results.map(({ rowIndex, linkId, state, problem }) => ({
      row_index: rowIndex,
      state,
      problem,
      link_id: linkId,
    })),
  )
  await tx.run(
    `UPDATE link_import_row SET state = t.state, problem = t.problem, link_id = t.link_id
     FROM ${table.sql} AS t WHERE link_import_row.import_id = ? AND link_import_row.row_index = t.row_index
       AND link_import_row.row_index >= ? AND link_import_row.row_index < ?`,
    [...table.values, id, from, to],
  )
}

/** The dry run is over: the import starts with its first row again. */
export async function endCheck(tx: Tx, id: number): Promise<void> {
  await tx.run(
    `UPDATE link_import SET state = 'checked', next_row = 0, lease_until = 0 WHERE id = ? AND state = 'checking'`,
    [id],
  )
}

/** Removes an import with its rows, in slices. */
export async function deleteImport(db: Database, id: number, signal?: AbortSignal): Promise<void> {
  await writeInSlices(
    db,
    async (tx) => {
      const deleted = await tx.run(
        `DELETE FROM link_import_row WHERE import_id = ? AND row_index IN
           (SELECT row_index FROM link_import_row WHERE import_id = ? ORDER BY row_index LIMIT ?)`,
        [id, id, rowsPerSlice],
      )
      return deleted === rowsPerSlice
    },
    signal,
  )
  await db.write((tx) => tx.run('DELETE FROM link_import WHERE id = ?', [id]))
}

/** Ended or left for so long, and uploads that were interrupted an hour ago. */
export async function findOldImports(queries: Queries, keepMs: number, limit: number): Promise<number[]> {
  const rows = await queries.all<Pick<Tables['link_import'], 'id'>>(
    `SELECT id FROM link_import WHERE COALESCE(ended_at, created_at) <= ${queries.now} - CAST(? AS bigint)
       AND state NOT IN ('checking', 'running')
       OR (state = 'uploading' AND created_at <= ${queries.now} - 3600000) LIMIT ?`,
    [keepMs, limit],
  )
  return rows.map(({ id }) => id)
}

// Imports of links and the rows of their files.
import { bulkInsert, insertRows } from '../../db/bulk-insert.ts'
import type { Database, Queries, Tx } from '../../db/database.ts'
import { valueTable } from '../../db/dialect.ts'
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

/** An import that no process works on, for this process alone until the lease ends. */
export async function claimImport(tx: Tx, leaseMs: number): Promise<Import | undefined> {
  const free = `state IN ('checking', 'running') AND lease_until <= ${tx.now}`
  return tx.one<Import>(
    `UPDATE link_import SET lease_until = ${tx.now} + CAST(? AS bigint)
     WHERE id = (SELECT id FROM link_import WHERE ${free} ORDER BY id LIMIT 1) AND ${free} RETURNING ${columns}`,
    [leaseMs],
  )
}

export async function renewLease(tx: Tx, id: number, leaseMs: number): Promise<Import | undefined> {
  return tx.one<Import>(
    `UPDATE link_import SET lease_until = ${tx.now} + CAST(? AS bigint) WHERE id = ? RETURNING ${columns}`,
    [leaseMs, id],
  )
}

export async function releaseLease(tx: Tx, id: number): Promise<void> {
  await tx.run('UPDATE link_import SET lease_until = 0 WHERE id = ?', [id])
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

export interface ImportProgress {
  readonly id: number
  readonly state: 'checking' | 'running'
  /** The first row of the slice, and the first one after it. */
  readonly from: number
  readonly to: number
  readonly results: readonly RowResult[]
}

/** The slice was processed meanwhile, or the import was stopped: nothing of it may be written. */
export class SliceLost extends Error {}

/** Writes the results of a slice, in the transaction of what they report. */
export async function recordSlice(tx: Tx, { id, state, from, to, results }: ImportProgress): Promise<void> {
  const count = (wanted: ImportRow['state']) => results.filter((row) => row.state === wanted).length
  const changed = await tx.run(
    `UPDATE link_import SET next_row = ?, invalid = invalid + ?, created = created + ?, failed = failed + ?
     WHERE id = ? AND next_row = ? AND state = ?`,
    [to, count('invalid'), count('created'), count('failed'), id, from, state],
  )
  if (changed !== 1) throw new SliceLost()
  if (results.length === 0) return
  const table = valueTable(
    tx,
    { row_index: 'bigint', state: 'text', problem: 'text', link_id: 'bigint' },
    results.map(({ rowIndex, linkId, ...row }) => ({
      row_index: rowIndex,
      state: row.state,
      problem: row.problem,
      link_id: linkId,
    })),
  )
  await tx.run(
    `UPDATE link_import_row SET state = t.state, problem = t.problem, link_id = t.link_id
     FROM ${table.sql} AS t WHERE link_import_row.import_id = ? AND link_import_row.row_index = t.row_index`,
    [...table.values, id],
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
  const rows = await queries.all<{ id: number }>(
    `SELECT id FROM link_import WHERE COALESCE(ended_at, created_at) <= ${queries.now} - CAST(? AS bigint)
       AND state NOT IN ('checking', 'running')
       OR (state = 'uploading' AND created_at <= ${queries.now} - 3600000) LIMIT ?`,
    [keepMs, limit],
  )
  return rows.map(({ id }) => id)
}

// Reports of links by visitors.
import type { Database, Queries, Tx } from '../../db/database.ts'
import type { Tables } from '../../db/schema.ts'
import { rowsPerSlice, writeInSlices } from '../../db/slices.ts'

export type Report = Readonly<Tables['link_report']>

export type ListedReport = Report & {
  readonly code: string | null
  readonly target_url: string | null
  readonly banned: number | null
  readonly username: string | null
}

export type NewReport = Pick<Report, 'link_id' | 'address' | 'reason' | 'details' | 'contact'>

/** Returns how many open reports the address has and how many there are, at most `limit`. */
export async function countOpenReports(
  queries: Queries,
  address: string,
  limit: number,
): Promise<{ ofAddress: number; all: number }> {
  const row = await queries.one<{ ofAddress: number; total: number }>(
    `SELECT (SELECT COUNT(*) FROM link_report WHERE address = ? AND state = 'open') AS "ofAddress",
       (SELECT COUNT(*) FROM (SELECT 1 AS one FROM link_report WHERE state = 'open' LIMIT ?) AS found) AS total`,
    [address, limit],
  )
  return { ofAddress: row?.ofAddress ?? 0, all: row?.total ?? 0 }
}

/** Open reports, counted up to the limit. */
export async function countReports(queries: Queries, limit: number): Promise<number> {
  return (await countOpenReports(queries, '', limit)).all
}

export function insertReport(tx: Tx, report: NewReport): Promise<number> {
  return tx.insert(
    `INSERT INTO link_report (link_id, address, reason, details, contact, state, at)
     VALUES (?, ?, ?, ?, ?, 'open', ${tx.now})`,
    [report.link_id, report.address, report.reason, report.details, report.contact],
  )
}

const listed = `SELECT r.id, r.link_id, r.address, r.reason, r.details, r.contact, r.state, r.decided_by, r.decided_at, r.at,
    l.code, l.target_url, l.banned, a.username
  FROM link_report r LEFT JOIN link l ON l.id = r.link_id LEFT JOIN account a ON a.id = l.account_id`

/** The newest first. */
export function listReports(
  queries: Queries,
  { state, before, limit }: { state: Report['state']; before: number | undefined; limit: number },
): Promise<ListedReport[]> {
  return queries.all<ListedReport>(`${listed} WHERE r.state = ? AND r.id < ? ORDER BY r.id DESC LIMIT ?`, [
    state,
    before ?? Number.MAX_SAFE_INTEGER,
    limit,
  ])
}

export function findReport(queries: Queries, id: number): Promise<ListedReport | undefined> {
  return queries.one<ListedReport>(`${listed} WHERE r.id = ?`, [id])
}

/** All open reports of the same address. Returns how many. */
export function decideReports(
  tx: Tx,
  address: string,
  state: 'banned' | 'dismissed',
  by: string,
): Promise<number> {
  return tx.run(
    `UPDATE link_report SET state = ?, decided_by = ?, decided_at = ${tx.now} WHERE address = ? AND state = 'open'`,
    [state, by, address],
  )
}

export function deleteOldReports(
  db: Database,
  keep: { readonly decidedMs: number; readonly openMs: number },
  signal: AbortSignal,
): Promise<void> {
  return writeInSlices(
    db,
    async (tx) => {
      const deleted = await tx.run(
        `DELETE FROM link_report WHERE id IN (SELECT id FROM link_report
           WHERE (state <> 'open' AND decided_at <= ${tx.now} - CAST(? AS bigint)) OR at <= ${tx.now} - CAST(? AS bigint)
           ORDER BY id LIMIT ?)`,
        [keep.decidedMs, keep.openMs, rowsPerSlice],
      )
      return deleted === rowsPerSlice
    },
    signal,
  )
}

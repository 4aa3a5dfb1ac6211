// Signatures and templates at vendors: what is to be submitted or queried, and the results.
import { hourMs } from '../../../contract/time.ts'
import type { Queries, Tx } from '../../db/database.ts'
import { forUpdate, idList } from '../../db/dialect.ts'
import { isReached } from '../../db/reached.ts'
import type { Tables } from '../../db/schema.ts'

export type VendorReviewRow = Tables['sms_vendor_review']

export type ReviewedKind = VendorReviewRow['kind']

/** Of these signatures or templates. */
export function findVendorReviews(
  queries: Queries,
  kind: ReviewedKind,
  ids: readonly number[],
): Promise<VendorReviewRow[]> {
  const list = idList(queries, ids)
  return queries.all<VendorReviewRow>(
    `SELECT * FROM sms_vendor_review WHERE kind = ? AND subject_id IN ${list.sql} ORDER BY gateway`,
    [kind, list.value],
  )
}

/** The revision of the template that the review is about. Undefined when the review was removed. */
export async function findRevision(queries: Queries, id: number): Promise<number | undefined> {
  const row = await queries.one<Pick<VendorReviewRow, 'revision'>>(
    'SELECT revision FROM sms_vendor_review WHERE id = ?',
    [id],
  )
  return row?.revision
}

/** Submits it with the next run of the job. What is being reviewed stays as it is: false. */
export async function insertSubmission(
  tx: Tx,
  row: Pick<VendorReviewRow, 'kind' | 'subject_id' | 'revision' | 'gateway'>,
): Promise<boolean> {
  const changed = await tx.run(
    `INSERT INTO sms_vendor_review (kind, subject_id, revision, gateway, state, due_at, created_at, updated_at)
     VALUES (?, ?, ?, ?, 'waiting', ${tx.now}, ${tx.now}, ${tx.now})
     ON CONFLICT (kind, subject_id, gateway) DO UPDATE SET revision = excluded.revision, vendor_id = '', state = 'waiting',
       reason = '', attempts = 0, due_at = excluded.due_at, lease_until = 0, updated_at = excluded.updated_at
     WHERE sms_vendor_review.state NOT IN ('waiting', 'reviewing')`,
    [row.kind, row.subject_id, row.revision, row.gateway],
  )
  return changed > 0
}

/** Longer than any wait until the next attempt or query. */
const maxWaitMs = 3 * hourMs

/** Leases a due row, so that one process asks. Returns it as it was before. */
export async function claimDue(tx: Tx, leaseMs: number): Promise<VendorReviewRow | undefined> {
  const row = await tx.one<VendorReviewRow>(
    `SELECT * FROM sms_vendor_review WHERE due_at IS NOT NULL AND ${isReached(tx, 'due_at', maxWaitMs)}
       AND ${isReached(tx, 'lease_until', 2 * leaseMs)}
     ORDER BY due_at LIMIT 1${forUpdate(tx, 'FOR UPDATE SKIP LOCKED')}`,
  )
  if (row)
    await tx.run(`UPDATE sms_vendor_review SET lease_until = ${tx.now} + ${leaseMs} WHERE id = ?`, [row.id])
  return row
}

/** Ends the lease. `waitMs` undefined: nothing is left to do. */
export async function updateVendorReview(
  tx: Tx,
  row: Pick<VendorReviewRow, 'id' | 'vendor_id' | 'state' | 'reason' | 'attempts'>,
  waitMs: number | undefined,
): Promise<void> {
  await tx.run(
    `UPDATE sms_vendor_review SET vendor_id = ?, state = ?, reason = ?, attempts = ?, lease_until = 0,
       due_at = ${waitMs === undefined ? 'NULL' : `${tx.now} + ${Math.round(waitMs)}`}, updated_at = ${tx.now} WHERE id = ?`,
    [row.vendor_id, row.state, row.reason, row.attempts, row.id],
  )
}

export async function removeVendorReviews(tx: Tx, kind: ReviewedKind, subjectId: number): Promise<void> {
  await tx.run('DELETE FROM sms_vendor_review WHERE kind = ? AND subject_id = ?', [kind, subjectId])
}

/** An edit that leaves the text as it is: what the vendors have reviewed, or review now, is still this template. */
export async function keepVendorReviews(tx: Tx, templateId: number, revision: number): Promise<void> {
  await tx.run(`UPDATE sms_vendor_review SET revision = ? WHERE kind = 'template' AND subject_id = ?`, [
    revision,
    templateId,
  ])
}

// Deletes the clicks of deleted links.
import { dayMs } from '../../../contract/time.ts'
import type { Tx } from '../../db/database.ts'
import { forUpdate } from '../../db/dialect.ts'
import type { Tables } from '../../db/schema.ts'

/** Then the last clicks are folded, and the visitors of the day are counted. */
const waitMs = 2 * dayMs

/** Rows and links of one transaction: other writers wait for its end. */
const rowsPerStep = 5_000
const linksPerStep = 50

/** One step; returns undefined when nothing is left. A link without clicks loses its `deleted_at`. */
export async function deleteClicksOfDeleted(tx: Tx): Promise<number | undefined> {
  const links = await tx.all<Pick<Tables['link'], 'id'>>(
    `SELECT id FROM link WHERE deleted_at IS NOT NULL AND deleted_at < ${tx.now} - ${waitMs}
     ORDER BY deleted_at LIMIT ${linksPerStep}${forUpdate(tx, 'FOR UPDATE SKIP LOCKED')}`,
  )
  let rows = 0
  for (const { id } of links) {
    rows += await tx.run(
      `DELETE FROM link_click WHERE link_id = ? AND hour <= COALESCE((SELECT hour FROM link_click
         WHERE link_id = ? ORDER BY hour LIMIT 1 OFFSET ${rowsPerStep}), ${Number.MAX_SAFE_INTEGER})`,
      [id, id],
    )
    if (rows >= rowsPerStep) return links.length
    for (const table of ['link_click_part', 'link_visitor_day', 'link_total'])
      rows += await tx.run(`DELETE FROM ${table} WHERE link_id = ?`, [id])
    await tx.run('UPDATE link SET deleted_at = NULL WHERE id = ?', [id])
  }
  return links.length === 0 ? undefined : links.length
}

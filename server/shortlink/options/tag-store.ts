// Adds a tag to a link or removes it, whatever other tags the link has.
import { linkLimits } from '../../../contract/shortlink.ts'
import type { Tx } from '../../db/database.ts'
import { forUpdate } from '../../db/dialect.ts'
import type { Tables } from '../../db/schema.ts'
import { readTags } from './record.ts'
import { formatList } from './store.ts'

export type TagResult = 'changed' | 'not_found' | 'too_many'

export async function changeTag(
  tx: Tx,
  accountId: number,
  id: number,
  { tag, isAdded }: { readonly tag: string; readonly isAdded: boolean },
): Promise<TagResult> {
  const link = await tx.one<Pick<Tables['link'], 'tags'>>(
    `SELECT tags FROM link WHERE id = ? AND account_id = ?${forUpdate(tx)}`,
    [id, accountId],
  )
  if (!link) return 'not_found'
  const tags = readTags(link)
  if (tags.includes(tag) === isAdded) return 'changed'
  if (isAdded && tags.length >= linkLimits.tags) return 'too_many'
  const next = isAdded ? [...tags, tag] : tags.filter((one) => one !== tag)
  await tx.run(`UPDATE link SET tags = ?, updated_at = ${tx.now} WHERE id = ?`, [formatList(next), id])
  await tx.run(
    isAdded
      ? 'INSERT INTO link_tag (account_id, tag, link_id) VALUES (?, ?, ?) ON CONFLICT (account_id, tag, link_id) DO NOTHING'
      : 'DELETE FROM link_tag WHERE account_id = ? AND tag = ? AND link_id = ?',
    [accountId, tag, id],
  )
  return 'changed'
}

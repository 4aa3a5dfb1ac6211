// Finds the deleted links whose clicks are still stored.
import type { Migration } from './migration.ts'

export const deletedLinks: Migration = {
  name: '0021-deleted-links',
  async run(tx) {
    await tx.run('CREATE INDEX link_deleted ON link (deleted_at) WHERE deleted_at IS NOT NULL')
  },
}

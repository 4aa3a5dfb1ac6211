// A role that may only read and write rows takes numbers of links from the sequence itself, before it inserts them.
import type { Migration } from './migration.ts'

export const linkNumbers: Migration = {
  name: '0028-link-numbers',
  async run(tx) {
    if (tx.engine === 'postgres') await tx.run('GRANT USAGE ON SEQUENCE link_id_seq TO PUBLIC')
  },
}

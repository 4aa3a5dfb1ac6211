// A role that may only read and write rows takes numbers of operations from the sequence itself, before it inserts them.
import type { Migration } from './migration.ts'

export const operationNumbers: Migration = {
  name: '0027-operation-numbers',
  async run(tx) {
    if (tx.engine === 'postgres') await tx.run('GRANT USAGE ON SEQUENCE operation_id_seq TO PUBLIC')
  },
}

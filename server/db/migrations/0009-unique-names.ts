// New user names are unique without regard to case and width. Names that differ only in that from an older one stay as they are.
import { uniqueNameOf } from '../../../contract/usernames.ts'
import type { Tx } from '../database.ts'
import type { Tables } from '../schema.ts'
import type { Migration } from './migration.ts'

const rowsPerRead = 1_000

export const uniqueNames: Migration = {
  name: '0009-unique-names',
  async run(tx) {
    await tx.run('ALTER TABLE account ADD COLUMN unique_name text')
    await tx.run('CREATE UNIQUE INDEX account_unique_name ON account (unique_name)')
    let last = 0
    for (;;) {
      const rows = await findAccounts(tx, last)
      for (const { id, username } of rows) await setUniqueName(tx, id, uniqueNameOf(username))
      last = rows.at(-1)?.id ?? last
      if (rows.length < rowsPerRead) return
    }
  },
}

function findAccounts(tx: Tx, after: number): Promise<Pick<Tables['account'], 'id' | 'username'>[]> {
  return tx.all(`SELECT id, username FROM account WHERE id > ? ORDER BY id LIMIT ${rowsPerRead}`, [after])
}

/** The oldest account gets the name. */
async function setUniqueName(tx: Tx, id: number, uniqueName: string): Promise<void> {
  await tx.run(
    `UPDATE account SET unique_name = ? WHERE id = ?
       AND NOT EXISTS (SELECT 1 FROM account other WHERE other.unique_name = ?)`,
    [uniqueName, id, uniqueName],
  )
}

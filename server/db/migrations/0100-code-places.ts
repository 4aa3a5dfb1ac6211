// Codes stand in the index by their place in a secret order, no longer by themselves: new ones stand side by side.
import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import type { Tx } from '../database.ts'
import type { Migration } from '../migrate.ts'
import { secretOrder } from '../permutation.ts'
import { insertSetting } from '../setting-store.ts'

/** As codes were when this was written. */
const alphabet = '23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

const perRound = 10_000

export const migration: Migration = async (tx) => {
  const run = (text: string) => sql.raw(text).execute(tx.kysely)
  const key = randomBytes(16)
  await insertSetting(tx, 'link_code_key', key.toString('hex'))

  // Index and triggers go with the table whose they are; those of PostgreSQL go under their own names.
  await run('ALTER TABLE link_code RENAME TO link_code_by_code')
  await run('DROP INDEX link_code_retired')
  if (tx.engine === 'postgres') await run('ALTER INDEX link_code_pkey RENAME TO link_code_by_code_pkey')

  // Rows are never deleted: the primary key is what keeps a code from being given out twice.
  await tx.kysely.schema
    .createTable('link_code')
    .addColumn('place', tx.engine === 'sqlite' ? 'integer' : 'bigint', (c) => c.primaryKey())
    .addColumn('link_id', 'bigint', (c) => c.notNull())
    .addColumn('retired_at', 'bigint')
    .addColumn('live_until', 'bigint')
    .execute()
  await copyCodes(tx, key)
  await run('DROP TABLE link_code_by_code')

  await tx.kysely.schema
    .createIndex('link_code_retired')
    .on('link_code')
    .column('link_id')
    .where(sql.ref('retired_at'), 'is not', null)
    .execute()
  if (tx.engine === 'sqlite') await watchChanges(run)
  else await tellOfChanges(run)
}

interface OldRow {
  readonly code: string
  readonly link_id: number
  readonly retired_at: number | null
  readonly live_until: number | null
}

async function copyCodes(tx: Tx, key: Buffer): Promise<void> {
  const order = secretOrder(key, alphabet.length ** 3, alphabet.length ** 4)
  const numberOf = (code: string) =>
    [...code].reduceRight((number, character) => number * alphabet.length + alphabet.indexOf(character), 0)
  const insert = 'INSERT INTO link_code (place, link_id, retired_at, live_until) VALUES (?, ?, ?, ?)'
  for (let last = ''; ;) {
    const some = await tx.all<OldRow>(
      `SELECT code, link_id, retired_at, live_until FROM link_code_by_code WHERE code > ? ORDER BY code LIMIT ${perRound}`,
      [last],
    )
    if (some.length === 0) return
    last = some.at(-1)!.code
    for (const row of some) {
      const place = order.gather(numberOf(row.code))
      await tx.run(insert, [place, row.link_id, row.retired_at, row.live_until])
    }
  }
}

type Run = (text: string) => Promise<unknown>

async function watchChanges(run: Run): Promise<void> {
  for (const [index, event] of ['UPDATE', 'DELETE'].entries()) {
    await run(`CREATE TRIGGER link_change_on_link_code_${index} AFTER ${event} ON link_code
      BEGIN UPDATE link_change SET version = abs(random() % 9007199254740991); END`)
  }
}

async function tellOfChanges(run: Run): Promise<void> {
  await run(`CREATE TRIGGER tell_of_update AFTER UPDATE ON link_code REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION tollgate_tell_links()`)
  await run(`CREATE TRIGGER tell_of_delete AFTER DELETE ON link_code REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION tollgate_tell_links()`)
  await run(`CREATE TRIGGER tell_of_truncate AFTER TRUNCATE ON link_code
    FOR EACH STATEMENT EXECUTE FUNCTION tollgate_tell('*')`)
}

// Which IDs are used is looked up in the index, however many links with IDs the account has.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { freshDatabase } from '../../../test/support/engines.ts'
import type { Queries, Value } from '../../db/database.ts'
import { findUsedExternalIds } from './store.ts'

it('the used IDs are found without reading all of the account', async () => {
  await using fresh = await freshDatabase('sqlite')
  const { db } = fresh
  await db.write(async (tx) => {
    for (const id of ['a', 'b', 'c'])
      await tx.run(
        `INSERT INTO link (account_id, code, title, target_url, redirect_url_a, redirect_type, location_a, location_b,
           host_a, host_b, created_at, updated_at, external_id)
         VALUES (7, 'x', 't', 'u', '', 'direct', 'u', 'u', '', '', 1, 1, ?)`,
        [id],
      )
  })
  const statements: [string, readonly Value[]][] = []
  const watched: Queries = {
    ...db,
    all: <R>(sql: string, values: readonly Value[] = []) => {
      statements.push([sql, values])
      return db.all<R>(sql, values)
    },
  }
  assert.deepEqual(await findUsedExternalIds(watched, 7, ['b', 'd', 'a']), new Set(['a', 'b']))
  assert.deepEqual(await findUsedExternalIds(watched, 8, ['a']), new Set())
  const [sql, values] = statements[0]!
  const plan = await db.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, values)
  assert.match(plan.map(({ detail }) => detail).join('\n'), /account_id=\? AND external_id=\?/)
})

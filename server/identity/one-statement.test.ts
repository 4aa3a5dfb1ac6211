// A paid verification on PostgreSQL: settled and recorded with one statement, under the seed that is valid then.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { countStatements } from '../../test/support/count-statements.ts'
import { freshDatabase } from '../../test/support/engines.ts'
import { createAccount } from '../accounts/accounts.ts'
import { systemActor } from '../audit/audit.ts'
import { registerWriter } from '../credits/batch-writer.ts'
import { createCredits } from '../credits/credits.ts'
import { checkLedger } from '../credits/ledger/check-store.ts'
import type { EndResult } from '../credits/operation.ts'
import { createIdentityRecords, type RecordInput } from './records.ts'
import { replaceHashSeed } from './store.ts'

const secret = 'a secret of thirty-two characters or more'
const person = { name: '张三', number: '11010519491231002X' }

async function open() {
  const fresh = await freshDatabase('postgres')
  const statements = countStatements(fresh.db)
  const credits = createCredits(statements.db, secret)
  const records = createIdentityRecords(fresh.db, secret)
  const insert = registerWriter<RecordInput, EndResult, void>(
    (tx, items) =>
      records.insert(
        tx,
        items.map(({ item }) => item),
      ),
    records.part,
  )
  const { id } = await createAccount(fresh.db, systemActor, { username: 'payer' })
  await credits.grant({ actor: systemActor, accountId: id, apiType: 'id_verification', amount: 100 })
  return {
    ...fresh,
    id,
    statements,
    records,
    async verify(requestId: string, verdict: 'match' | 'mismatch' = 'match'): Promise<EndResult> {
      const charged = await credits.charge({
        accountId: id,
        apiType: 'id_verification',
        action: 'identity.verify',
        cost: 1,
        requestId,
        leaseMs: 60_000,
      })
      assert.ok(charged.kind === 'charged')
      const { operationId } = charged
      const record = {
        accountId: id,
        person,
        operationId,
        requestId,
        gateway: 'sandbox',
        verdict,
        reason: undefined,
      }
      return credits.end({
        accountId: id,
        operationId,
        end: { state: 'settled' },
        sends: 1,
        inSameTransaction: insert(record),
      })
    },
    rowOf: async (requestId: string) =>
      (await fresh.db.one<Record<string, unknown>>(
        `SELECT r.account_id, r.name_mask, r.number_mask, r.person_hash, r.generation, r.verdict, r.gateway, r.reason,
           r.at - o.ended_at BETWEEN -1000 AND 1000 AS is_in_time
         FROM identity_record r JOIN operation o ON o.id = r.operation_id WHERE r.request_id = ?`,
        [requestId],
      ))!,
    [Symbol.asyncDispose]: () => fresh[Symbol.asyncDispose](),
  }
}

describe('verifications with one statement', () => {
  it('have the same records as with a transaction', async () => {
    await using t = await open()
    // No seed is known before the first transaction.
    assert.equal((await t.verify('a')).ended, true)
    const { done, failed } = t.statements
    const ends = await Promise.all([t.verify('b'), t.verify('c', 'mismatch'), t.verify('d')])
    assert.ok(ends.every(({ ended }) => ended))
    assert.deepEqual([t.statements.done, t.statements.failed], [done + 2, failed], 'a charge and an end')
    const first = await t.rowOf('a')
    assert.equal(first['is_in_time'], true)
    assert.deepEqual(await t.rowOf('b'), first)
    assert.deepEqual(await t.rowOf('c'), { ...first, verdict: 'mismatch' })
    assert.equal((await t.records.list(t.id, { limit: 10 })).length, 4)
    assert.equal(await t.records.findLastVerdict(t.id, person, 60_000), 'match')
    assert.deepEqual((await checkLedger(t.db, 0)).problems, [])
  })

  it('use the new seed as soon as it has been replaced', async () => {
    await using t = await open()
    for (const requestId of ['a', 'b']) await t.verify(requestId)
    const other = t.storage.open()
    await other.write((tx) => replaceHashSeed(tx, systemActor))
    const { failed } = t.statements
    assert.equal((await t.verify('c')).ended, true)
    assert.equal((await t.verify('d')).ended, true)
    assert.equal(t.statements.failed, failed + 1)
    const [old, first, second] = await Promise.all(['b', 'c', 'd'].map((one) => t.rowOf(one)))
    assert.deepEqual([old!['generation'], first!['generation']], [1, 2])
    assert.notEqual(first!['person_hash'], old!['person_hash'])
    assert.deepEqual(second, first)
    await other.close()
  })
})

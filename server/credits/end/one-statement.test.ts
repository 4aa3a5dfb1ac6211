// Ends with one statement on PostgreSQL: the same rows as the transaction with decisions, whatever changed before.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { countStatements } from '../../../test/support/count-statements.ts'
import { freshDatabase } from '../../../test/support/engines.ts'
import { createAccount } from '../../accounts/accounts.ts'
import { systemActor } from '../../audit/audit.ts'
import { findSetting, putSetting } from '../../db/setting-store.ts'
import { registerWriter } from '../batch-writer.ts'
import { createCredits } from '../credits.ts'
import { checkLedger } from '../ledger/check-store.ts'
import type { EndRequest, EndResult } from '../operation.ts'

const secret = 'a secret of thirty-two characters or more'
const settled: EndResult = { ended: true, refunded: 0, remaining: undefined }
const late: EndResult = { ended: false, refunded: 0, remaining: undefined }

async function open() {
  const fresh = await freshDatabase('postgres')
  const statements = countStatements(fresh.db)
  const credits = createCredits(statements.db, secret)
  const { id } = await createAccount(fresh.db, systemActor, { username: 'payer' })
  await credits.grant({ actor: systemActor, accountId: id, apiType: 'sms', amount: 100 })
  return {
    ...fresh,
    id,
    statements,
    credits,
    async charge(key?: string): Promise<number> {
      const charged = await credits.charge({
        accountId: id,
        apiType: 'sms',
        action: 'test',
        cost: 2,
        requestId: 'r',
        leaseMs: 60_000,
        idempotency: key === undefined ? undefined : { key, fingerprint: 'f' },
      })
      assert.ok(charged.kind === 'charged')
      return charged.operationId
    },
    settle: (operationId: number, change: Partial<EndRequest> = {}) =>
      credits.end({ accountId: id, operationId, end: { state: 'settled' }, ...change }),
    rowOf: (operationId: number) =>
      fresh.db.one<Record<string, unknown>>(
        `SELECT state, given_back, sends, ended_at - created_at BETWEEN 0 AND 60000 AS ended_in_time,
           lease_until - created_at AS lease_ms, response IS NOT NULL AS answered FROM operation WHERE id = ?`,
        [operationId],
      ),
    problems: async () => (await checkLedger(fresh.db, 0)).problems,
    [Symbol.asyncDispose]: () => fresh[Symbol.asyncDispose](),
  }
}

/** A product that stores the text of each end; `transaction` when it was not written by the statement. */
const storeText = registerWriter<string, EndResult, void>(
  async (tx, items) => {
    for (const { item } of items) await putSetting(tx, item, 'transaction')
  },
  (items) => ({
    ctes: `, stored AS (INSERT INTO setting (name, value) SELECT unnest(CAST(? AS text[])), 'statement' FROM settled LIMIT ?)`,
    values: [items, items.length],
    returning: `''`,
    read: () => [],
  }),
)

describe('ends with one statement', () => {
  it('write the same rows as the transaction', async () => {
    await using t = await open()
    const ids = [await t.charge(), await t.charge('key-1'), await t.charge('key-2')]
    const done = t.statements.done
    const response = { status: 200, body: { code: 0 } }
    const ends = ids.map((id) => t.settle(id, { response, sends: 1 }))
    assert.deepEqual(await Promise.all(ends), [settled, settled, settled])
    assert.equal(t.statements.done, done + 1)
    assert.equal(t.statements.failed, 0)
    const reference = [await t.charge(), await t.charge('key-3')]
    await t.db.write((tx) =>
      t.credits.endIn(
        tx,
        reference.map((operationId) => ({
          accountId: t.id,
          operationId,
          end: { state: 'settled' },
          response,
          sends: 1,
        })),
      ),
    )
    assert.deepEqual(await t.rowOf(ids[0]!), await t.rowOf(reference[0]!))
    assert.deepEqual(await t.rowOf(ids[1]!), await t.rowOf(reference[1]!))
    assert.deepEqual((await t.rowOf(ids[2]!))!, {
      state: 'settled',
      given_back: 0,
      sends: 1,
      ended_in_time: true,
      lease_ms: 60_000,
      answered: true,
    })
    const replay = await t.credits.findPreviousCall(t.id, { key: 'key-1', fingerprint: 'f' })
    assert.deepEqual(replay, { kind: 'replay', response })
    assert.deepEqual(await t.problems(), [])
  })

  it('leave the decision to a transaction when an operation was decided before', async () => {
    await using t = await open()
    const [first, second, third] = [await t.charge(), await t.charge(), await t.charge()]
    await t.settle(second, { end: { state: 'refunded' } })
    const { done, failed } = t.statements
    const results = await Promise.all([t.settle(first), t.settle(second), t.settle(third), t.settle(third)])
    assert.deepEqual(results, [settled, late, settled, late])
    assert.deepEqual([t.statements.done, t.statements.failed], [done, failed + 1])
    assert.equal((await t.rowOf(second))!['state'], 'refunded')
    assert.equal((await t.credits.balance(t.id, 'sms')).remaining, 96)
    assert.deepEqual(await t.problems(), [])
  })

  const decisions: readonly [name: string, change: Partial<EndRequest>][] = [
    ['a refund', { end: { state: 'refunded' } }],
    ['a refund of a part', { end: { state: 'settled', refund: 1 } }],
    ['a longer lease', { end: { state: 'held', leaseMs: 120_000 } }],
    ['a response with the balance', { response: () => ({ status: 200, body: {} }) }],
    ['a least number of requests', { minSends: 1 }],
    ['a function that writes', { inSameTransaction: async () => undefined }],
  ]
  for (const [name, change] of decisions) {
    it(`are not used for ${name}`, async () => {
      await using t = await open()
      const [plain, other] = [await t.charge(), await t.charge()]
      const { done } = t.statements
      const results = await Promise.all([t.settle(plain), t.settle(other, change)])
      assert.deepEqual(
        results.map(({ ended }) => ended),
        [true, true],
      )
      assert.deepEqual([t.statements.done, t.statements.failed], [done + 1, 0], 'only for the other end')
      assert.deepEqual(await t.problems(), [])
    })
  }

  it('write the rows of a product, or none of them', async () => {
    await using t = await open()
    const ids = [await t.charge(), await t.charge(), await t.charge()]
    const [a, b] = await Promise.all(
      ['a', 'b'].map((text, i) => t.settle(ids[i]!, { inSameTransaction: storeText(text) })),
    )
    assert.deepEqual([a, b], [settled, settled])
    assert.deepEqual([await findSetting(t.db, 'a'), await findSetting(t.db, 'b')], ['statement', 'statement'])
    // The row exists, so the statement fails and the transaction writes another one.
    const failed = t.statements.failed
    assert.deepEqual(await t.settle(ids[2]!, { inSameTransaction: storeText('a') }), settled)
    assert.equal(t.statements.failed, failed + 1)
    assert.equal(await findSetting(t.db, 'a'), 'transaction')
    assert.equal((await t.rowOf(ids[2]!))!['state'], 'settled')
  })

  it('and the sweeper decide each operation once', async () => {
    await using t = await open()
    const ids: number[] = []
    for (let n = 0; n < 20; n += 1) ids.push(await t.charge())
    const other = createCredits(t.db, secret)
    const refunds = ids.map((operationId) =>
      other.end({ accountId: t.id, operationId, end: { state: 'refunded' } }),
    )
    const ends = ids.map((id) => t.settle(id))
    const [refunded, kept] = await Promise.all([Promise.all(refunds), Promise.all(ends)])
    for (const [i, { ended }] of kept.entries()) assert.notEqual(ended, refunded[i]!.ended)
    const paid = kept.filter(({ ended }) => ended).length
    assert.equal((await t.credits.balance(t.id, 'sms')).remaining, 100 - 2 * paid)
    assert.deepEqual(await t.problems(), [])
  })
})

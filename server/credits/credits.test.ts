// The ledger on both engines: exact under concurrency, one end per operation, one charge per idempotency key.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemActor } from '../audit/audit.ts'
import { freshDatabase, onEachEngine } from '../../test/support/engines.ts'
import { createAccount, resetKey } from '../accounts/accounts.ts'
import { hashKey } from '../accounts/key.ts'
import type { Database, Engine } from '../db/database.ts'
import { findSetting, putSetting } from '../db/setting-store.ts'
import { AppError } from '../http/errors.ts'
import { checkLedger } from './ledger/check-store.ts'
import { createCredits } from './credits.ts'
import { startLeases, stopLeases } from './store.ts'
import { type BatchWriter, registerWriter } from './batch-writer.ts'
import type { Charge, ChargeRequest, EndRequest, MovedCredits, Written } from './operation.ts'

const secret = 'a secret of thirty-two characters or more'

async function open(engine: Engine, amount = 0) {
  const fresh = await freshDatabase(engine)
  const credits = createCredits(fresh.db, secret)
  const { id } = await createAccount(fresh.db, systemActor, { username: 'payer' })
  if (amount > 0) await credits.grant({ actor: systemActor, accountId: id, apiType: 'sms', amount })
  const request = (more: Partial<ChargeRequest> = {}): ChargeRequest => ({
    accountId: id,
    apiType: 'sms',
    action: 'test',
    cost: 1,
    requestId: 'r',
    ...more,
  })
  const remaining = async () => (await credits.balance(id, 'sms')).remaining
  return {
    ...fresh,
    credits,
    id,
    request,
    remaining,
    [Symbol.asyncDispose]: () => fresh[Symbol.asyncDispose](),
  }
}

async function requireGoodLedger(db: Database): Promise<void> {
  const report = await checkLedger(db, 0)
  assert.deepEqual(report.problems, [])
}

onEachEngine('credits', (engine) => {
  it('accepts exactly ten of a hundred concurrent charges on ten credits', async () => {
    await using t = await open(engine, 10)
    const results = await Promise.all(Array.from({ length: 100 }, () => t.credits.charge(t.request())))
    assert.equal(results.filter((result) => result.kind === 'charged').length, 10)
    assert.equal(results.filter((result) => result.kind === 'insufficient').length, 90)
    const balances = results.flatMap((result) => (result.kind === 'charged' ? [result.remaining] : []))
    assert.deepEqual(
      balances.toSorted((a, b) => b - a),
      [9, 8, 7, 6, 5, 4, 3, 2, 1, 0],
    )
    assert.equal(await t.remaining(), 0)
    await requireGoodLedger(t.db)
  })

  it('stays exact when several processes charge the same account', async () => {
    await using t = await open(engine, 30)
    const others = [t.storage.open(), t.storage.open()]
    const all = [t.credits, ...others.map((db) => createCredits(db, secret))]
    const results = await Promise.all(
      all.flatMap((credits) => Array.from({ length: 40 }, () => credits.charge(t.request()))),
    )
    assert.equal(results.filter((result) => result.kind === 'charged').length, 30)
    await requireGoodLedger(t.db)
    await Promise.all(others.map((db) => db.close()))
  })

  it('accepts a small charge after a larger one was rejected in the same batch', async () => {
    await using t = await open(engine, 5)
    const results = await Promise.all([3, 4, 2].map((cost) => t.credits.charge(t.request({ cost }))))
    assert.deepEqual(
      results.map((result) => result.kind),
      ['charged', 'insufficient', 'charged'],
    )
    assert.equal(await t.remaining(), 0)
  })

  it('charges several operations together or not at all, and holds them without a lease', async () => {
    await using t = await open(engine, 10)
    const idempotency = { key: 'k', fingerprint: 'f' }
    const several = t.request({ costs: [3, 1, 4], cost: 8, waits: true, idempotency })
    let charged: Charge | undefined
    const inSameTransaction = async (_tx: unknown, charge: Charge): Promise<Written<undefined>> => {
      charged = charge
      return { value: undefined, response: { status: 200, body: 'ok' } }
    }
    const first = await t.credits.charge({ ...several, inSameTransaction })
    assert.equal(first.kind === 'charged' && first.remaining, 2)
    assert.equal(charged!.operationIds!.length, 3)
    const rows = await t.db.all<{ cost: number; state: string; lease_until: number | null }>(
      'SELECT cost, state, lease_until FROM operation ORDER BY id',
    )
    assert.deepEqual(
      rows.map((row) => [row.cost, row.state, row.lease_until]),
      [3, 1, 4].map((cost) => [cost, 'held', null]),
    )
    const balances = await t.db.all<{ balance_after: number }>('SELECT balance_after FROM ledger ORDER BY id')
    assert.deepEqual(
      balances.map((row) => row.balance_after),
      [10, 7, 6, 2],
    )
    assert.equal((await t.credits.charge(several)).kind, 'replay')
    assert.equal(
      (await t.credits.charge(t.request({ costs: [2, 1], cost: 3, waits: true }))).kind,
      'insufficient',
    )
    assert.equal(await t.remaining(), 2)
    const ids = charged!.operationIds!
    assert.equal((await t.db.write((tx) => startLeases(tx, ids, 60_000))).size, 3)
    assert.equal((await t.db.write((tx) => startLeases(tx, ids, 60_000))).size, 0)
    await t.credits.end({ accountId: t.id, operationId: ids[0]!, end: { state: 'refunded' } })
    assert.deepEqual(await t.db.write((tx) => stopLeases(tx, ids)), new Set(ids.slice(1)))
    await t.db.write((tx) =>
      t.credits.endIn(
        tx,
        ids.map((operationId) => ({ accountId: t.id, operationId, end: { state: 'refunded' } })),
      ),
    )
    assert.equal(await t.remaining(), 10)
    await requireGoodLedger(t.db)
  })

  it('rejects a charge with a key that was reset meanwhile', async () => {
    await using t = await open(engine, 10)
    const old = hashKey(await resetKey(t.db, systemActor, t.id))
    assert.equal((await t.credits.charge(t.request({ keyHash: old }))).kind, 'charged')
    const fresh = hashKey(await resetKey(t.db, systemActor, t.id))
    const results = await Promise.all([
      t.credits.charge(t.request({ keyHash: old })),
      t.credits.charge(t.request({ keyHash: fresh })),
    ])
    assert.deepEqual(
      results.map((result) => result.kind),
      ['key_invalid', 'charged'],
    )
    assert.equal(await t.remaining(), 8)
  })

  it('never charges with the old key once the reset has returned', async () => {
    await using t = await open(engine, 1_000)
    const old = hashKey(await resetKey(t.db, systemActor, t.id))
    let hasReset = false
    let late = 0
    const charges = (async () => {
      for (let i = 0; i < 60; i++) {
        const startedAfter = hasReset
        const result = await t.credits.charge(t.request({ keyHash: old }))
        if (startedAfter && result.kind === 'charged') late += 1
      }
    })()
    await sleep(5)
    await resetKey(t.db, systemActor, t.id)
    hasReset = true
    await charges
    assert.equal(late, 0)
  })

  it('commits rows of the product with the charge, and nothing when the write fails', async () => {
    await using t = await open(engine, 10)
    const good = t.request({
      inSameTransaction: async (tx, charge) => {
        await putSetting(tx, `link ${charge.operationId}`, 'there')
        return { value: undefined }
      },
    })
    const bad = t.request({
      inSameTransaction: async (tx) => {
        await putSetting(tx, 'half', 'done')
        throw new AppError(1002, { zh: '不行', en: 'no' })
      },
    })
    const results = await Promise.allSettled([good, bad, good].map((request) => t.credits.charge(request)))
    assert.deepEqual(
      results.map((result) => result.status),
      ['fulfilled', 'rejected', 'fulfilled'],
    )
    assert.ok(results[1]?.status === 'rejected' && results[1].reason instanceof AppError)
    assert.equal(await t.remaining(), 8)
    const rows = await t.db.all<{ name: string }>(`SELECT name FROM setting WHERE value IN ('there', 'done')`)
    assert.equal(rows.length, 2)
    await requireGoodLedger(t.db)
  })

  it('writes the rows of a batch together, and rejects only the failing call', async () => {
    await using t = await open(engine, 1_000)
    const calls: number[] = []
    const writeAll: BatchWriter<string, Charge, Written<string>> = async (tx, items) => {
      calls.push(items.length)
      for (const { item } of items) {
        if (item === 'bad') throw new AppError(1002, { zh: '坏', en: 'bad' })
        await putSetting(tx, item, 'there')
      }
      return items.map(({ item, result }) => ({ value: `${item} ${result.operationId}` }))
    }
    const write = registerWriter(writeAll)
    const charge = (item: string) =>
      t.credits.charge<string>({ ...t.request(), inSameTransaction: write(item) })

    const together = await Promise.all(Array.from({ length: 50 }, (_, i) => charge(`good ${i}`)))
    assert.ok(Math.max(...calls) > 1, 'some were written together')
    assert.equal(
      calls.reduce((sum, count) => sum + count, 0),
      50,
    )
    for (const [i, result] of together.entries()) {
      assert.ok(result.kind === 'charged')
      assert.equal(result.value, `good ${i} ${result.operationId}`)
    }

    const mixed = await Promise.allSettled(['one', 'bad', 'two', 'bad'].map(charge))
    assert.deepEqual(
      mixed.map((result) => result.status),
      ['fulfilled', 'rejected', 'fulfilled', 'rejected'],
    )
    assert.equal(await findSetting(t.db, 'two'), 'there')
    assert.equal(await findSetting(t.db, 'bad'), undefined)
    assert.equal(await t.remaining(), 948)
    await requireGoodLedger(t.db)
  })

  it('ends an operation once', async () => {
    await using t = await open(engine, 10)
    const charged = await t.credits.charge(t.request({ cost: 4, leaseMs: 60_000 }))
    assert.ok(charged.kind === 'charged')
    const end = (state: 'settled' | 'refunded') =>
      t.credits.end({ accountId: t.id, operationId: charged.operationId, end: { state } })
    const results = await Promise.all([end('refunded'), end('settled'), end('refunded')])
    assert.equal(results.filter((result) => result.ended).length, 1)
    const late = await end('settled')
    assert.deepEqual(late, { ended: false, refunded: 0, remaining: undefined })
    await requireGoodLedger(t.db)
  })

  it('refunds a part', async () => {
    await using t = await open(engine, 10)
    const charged = await t.credits.charge(t.request({ cost: 5, leaseMs: 60_000 }))
    assert.ok(charged.kind === 'charged' && charged.remaining === 5)
    const result = await t.credits.end({
      accountId: t.id,
      operationId: charged.operationId,
      end: { state: 'settled', refund: 2 },
    })
    assert.deepEqual(result, { ended: true, refunded: 2, remaining: 7 })
    await requireGoodLedger(t.db)
  })

  it('refunds a batch of operations exactly, and each operation once', async () => {
    await using t = await open(engine, 100)
    const held: EndRequest[] = []
    for (let cost = 1; cost <= 10; cost++) {
      const charged = await t.credits.charge(t.request({ cost, leaseMs: 60_000 }))
      assert.ok(charged.kind === 'charged')
      const refund = { state: 'settled', refund: cost - 1 } as const
      const { operationId } = charged
      held.push({ accountId: t.id, operationId, end: cost % 2 === 0 ? { state: 'refunded' } : refund })
    }
    assert.equal(await t.remaining(), 45)
    const results = await Promise.all([...held, ...held].map((request) => t.credits.end(request)))
    assert.equal(results.filter(({ ended }) => ended).length, 10)
    assert.equal(
      results.reduce((sum, { refunded }) => sum + refunded, 0),
      50,
    )
    assert.equal(await t.remaining(), 95)
    await requireGoodLedger(t.db)
  })

  it('reports charges and refunds once, after they have committed', async () => {
    await using t = await open(engine, 10)
    const moved: MovedCredits[] = []
    t.credits.onMoved = (credits) => moved.push(credits)
    const charged = await t.credits.charge(t.request({ cost: 4, leaseMs: 60_000 }))
    assert.ok(charged.kind === 'charged')
    const { operationId } = charged
    const end: EndRequest = { accountId: t.id, operationId, end: { state: 'refunded' } }
    const rollBack = () => Promise.reject(new Error('rolled back'))
    await assert.rejects(t.credits.end({ ...end, inSameTransaction: rollBack }))
    await t.credits.end(end)
    await t.credits.end(end)
    assert.deepEqual(moved, [
      { kind: 'charge', apiType: 'sms', amount: 4 },
      { kind: 'refund', apiType: 'sms', amount: 4 },
    ])
  })

  it('replays the stored response, and charges once', async () => {
    await using t = await open(engine, 10)
    const idempotency = { key: 'order-1', fingerprint: t.credits.fingerprint('test', { a: 1 }) }
    const response = { status: 200, body: { code: 0, 姓名: '张三' } }
    const request = t.request({
      idempotency,
      inSameTransaction: async () => ({ value: undefined, response }),
    })
    const results = await Promise.all(Array.from({ length: 5 }, () => t.credits.charge(request)))
    assert.equal(results.filter((result) => result.kind === 'charged').length, 1)
    for (const result of results) {
      if (result.kind !== 'charged') assert.deepEqual(result, { kind: 'replay', response })
    }
    assert.equal(await t.remaining(), 9)
    const other = { ...idempotency, fingerprint: t.credits.fingerprint('test', { a: 2 }) }
    assert.deepEqual(await t.credits.charge(t.request({ idempotency: other })), { kind: 'other_parameters' })
    // The stored response is encrypted.
    const [row] = await t.db.all<{ response: string }>(
      'SELECT response FROM operation WHERE idempotency_key IS NOT NULL',
    )
    assert.equal(row!.response.includes('张三'), false)
    await requireGoodLedger(t.db)
  })

  it('separates the keys of accounts, and forgets them after a day', async () => {
    await using t = await open(engine, 10)
    const { id: other } = await createAccount(t.db, systemActor, { username: 'other' })
    await t.credits.grant({ actor: systemActor, accountId: other, apiType: 'sms', amount: 5 })
    const idempotency = { key: 'same', fingerprint: 'f' }
    assert.equal((await t.credits.charge(t.request({ idempotency }))).kind, 'charged')
    assert.equal((await t.credits.charge(t.request({ idempotency, accountId: other }))).kind, 'charged')
    assert.deepEqual(await t.credits.charge(t.request({ idempotency })), { kind: 'interrupted' })
    await t.db.write((tx) => tx.run('UPDATE operation SET created_at = created_at - 86400001'))
    assert.equal(await t.credits.findPreviousCall(t.id, idempotency), undefined)
    assert.equal((await t.credits.charge(t.request({ idempotency }))).kind, 'charged')
    await requireGoodLedger(t.db)
  })

  it('looks for the earlier calls of one turn with one query', async () => {
    await using t = await open(engine, 10)
    const { id: other } = await createAccount(t.db, systemActor, { username: 'other' })
    await t.credits.grant({ actor: systemActor, accountId: other, apiType: 'sms', amount: 5 })
    const idempotencyOf = (key: string) => ({ key, fingerprint: 'f' })
    const response = { status: 200, body: { code: 0 } }
    const inSameTransaction = () => Promise.resolve({ value: undefined, response })
    await t.credits.charge(t.request({ idempotency: idempotencyOf('a'), inSameTransaction }))
    await t.credits.charge(t.request({ idempotency: idempotencyOf('b'), accountId: other }))
    let queries = 0
    const counting: typeof t.db = {
      ...t.db,
      all(sql, values) {
        queries += 1
        return t.db.all(sql, values)
      },
    }
    const { findPreviousCall } = createCredits(counting, secret)
    const found = await Promise.all([
      findPreviousCall(t.id, idempotencyOf('a')),
      findPreviousCall(other, idempotencyOf('a')),
      findPreviousCall(t.id, idempotencyOf('b')),
      findPreviousCall(other, idempotencyOf('b')),
      findPreviousCall(t.id, { key: 'a', fingerprint: 'another' }),
    ])
    assert.deepEqual(
      found.map((one) => one?.kind),
      ['replay', undefined, undefined, 'interrupted', 'other_parameters'],
    )
    assert.equal(queries, 1)
  })

  it('returns that the first call is running, and later that it is overdue', async () => {
    await using t = await open(engine, 10)
    const idempotency = { key: 'slow', fingerprint: 'f' }
    const charged = await t.credits.charge(t.request({ idempotency, leaseMs: 60_000 }))
    assert.ok(charged.kind === 'charged')
    const running = await t.credits.charge(t.request({ idempotency, leaseMs: 60_000 }))
    assert.ok(running.kind === 'running' && running.retryAfterMs > 0 && running.retryAfterMs <= 60_000)
    await t.db.write((tx) => tx.run('UPDATE operation SET lease_until = created_at'))
    const overdue = await t.credits.charge(t.request({ idempotency, leaseMs: 60_000 }))
    assert.deepEqual(overdue, { kind: 'overdue', operationId: charged.operationId })
  })

  it('replays the response of an ambiguous call while it stays held', async () => {
    await using t = await open(engine, 10)
    const idempotency = { key: 'unsure', fingerprint: 'f' }
    const charged = await t.credits.charge(t.request({ idempotency, leaseMs: 60_000 }))
    assert.ok(charged.kind === 'charged')
    const response = { status: 502, body: { code: 1005 } }
    const end = (request: Omit<EndRequest, 'accountId' | 'operationId'>) =>
      t.credits.end({ accountId: t.id, operationId: charged.operationId, ...request })
    const held = await end({ end: { state: 'held', leaseMs: 900_000 }, response, sends: 1 })
    assert.equal(held.ended, true)
    assert.deepEqual(await t.credits.findPreviousCall(t.id, idempotency), { kind: 'replay', response })
    assert.equal((await checkLedger(t.db, 0)).open, 1)
    await end({ end: { state: 'refunded' } })
    assert.equal((await end({ end: { state: 'held', leaseMs: 1 } })).ended, false)
    assert.deepEqual(await t.credits.findPreviousCall(t.id, idempotency), { kind: 'replay', response })
    assert.equal(await t.remaining(), 10)
    await requireGoodLedger(t.db)
  })

  it('grants and takes whole amounts only, and never takes more than is left', async () => {
    await using t = await open(engine, 10)
    const change = (amount: number) => ({
      actor: systemActor,
      accountId: t.id,
      apiType: 'sms' as const,
      amount,
    })
    for (const amount of [0, -1, 1.5, 1e309, Number.NaN, 2 ** 53, 1_000_000_001]) {
      await assert.rejects(t.credits.grant(change(amount)), AppError, String(amount))
      await assert.rejects(t.credits.take(change(amount)), AppError, String(amount))
    }
    await t.credits.charge(t.request({ cost: 4 }))
    await assert.rejects(t.credits.take(change(7)), AppError)
    const balance = await t.credits.take(change(6))
    assert.deepEqual({ ...balance }, { api_type: 'sms', total: 4, used: 4, remaining: 0 })
    await requireGoodLedger(t.db)
  })
})

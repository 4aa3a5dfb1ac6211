// Charges with an Idempotency-Key on PostgreSQL: one statement when the key is new, a transaction that finds the earlier call when not.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { countStatements } from '../../../test/support/count-statements.ts'
import { freshDatabase } from '../../../test/support/engines.ts'
import { createAccount } from '../../accounts/accounts.ts'
import { systemActor } from '../../audit/audit.ts'
import { putSetting } from '../../db/setting-store.ts'
import { registerWriter } from '../batch-writer.ts'
import { createCredits } from '../credits.ts'
import { checkLedger } from '../ledger/check-store.ts'
import { createResponseCipher } from './response-cipher.ts'
import { chargeBatch } from './store.ts'
import { type Charge, type ChargeRequest, keyLifetimeMs, type Written } from '../operation.ts'

const secret = 'a secret of thirty-two characters or more'
const keyed = (key: string, fingerprint = 'f') => ({ idempotency: { key, fingerprint } })
const responseTo = (name: string, { remaining }: Charge) => ({ status: 200, body: { name, remaining } })

/** A product that stores the name of each charge and responds with it. */
const storeName = registerWriter<string, Charge, Written<string>>(
  async (tx, items) => {
    for (const { item, result } of items) await putSetting(tx, item, String(result.operationId))
    return items.map(({ item, result }) => ({ value: item, response: responseTo(item, result) }))
  },
  (items) => ({
    ctes: `, named AS (INSERT INTO setting (name, value)
      SELECT name, id FROM (SELECT unnest(CAST(? AS text[])) AS name, unnest(CAST(? AS bigint[])) AS place) t
      JOIN charge ON charge.position = t.place)`,
    values: [items, items.map((_item, place) => place)],
    returning: `''`,
    read: (_text, charges) =>
      items.map((item, place) => ({ value: item, response: responseTo(item, charges[place]!) })),
  }),
)

async function open(amount = 1_000) {
  const fresh = await freshDatabase('postgres')
  const statements = countStatements(fresh.db)
  const credits = createCredits(statements.db, secret)
  const { id } = await createAccount(fresh.db, systemActor, { username: 'payer' })
  await credits.grant({ actor: systemActor, accountId: id, apiType: 'sms', amount })
  const request: ChargeRequest = { accountId: id, apiType: 'sms', action: 'test', cost: 2, requestId: 'r' }
  const charge = (change: Partial<ChargeRequest> = {}) => credits.charge({ ...request, ...change })
  // From now on the balance is known.
  await charge()
  return {
    ...fresh,
    id,
    statements,
    credits,
    request,
    charge,
    chargeNamed: (name: string, key: string) =>
      credits.charge<string>({ ...request, ...keyed(key), inSameTransaction: storeName(name) }),
    find: (key: string) => credits.findPreviousCall(id, { key, fingerprint: 'f' }),
    remaining: async () => (await credits.balance(id, 'sms')).remaining,
    problems: async () => (await checkLedger(fresh.db, 0)).problems,
    [Symbol.asyncDispose]: () => fresh[Symbol.asyncDispose](),
  }
}

describe('charges with an Idempotency-Key', () => {
  it('write the same rows with one statement as in a transaction', async () => {
    await using t = await open()
    const rowOf = async (result: { kind: string; operationId?: number }) =>
      t.db.one<Record<string, unknown>>(
        `SELECT state, idempotency_key, fingerprint, lease_until - created_at AS lease_ms, ended_at - created_at AS took,
           response IS NULL AS is_open FROM operation WHERE id = ?`,
        [result.operationId!],
      )
    const held = { ...keyed('k1'), leaseMs: 60_000 }
    const first = await t.charge(held)
    assert.deepEqual([t.statements.done, t.statements.failed], [1, 0])
    const context = { cipher: createResponseCipher(secret), known: undefined, onMoved() {} }
    const again = { ...t.request, ...held, ...keyed('k2') }
    const [second] = await t.db.write((tx) => chargeBatch(tx, [again], context))
    assert.ok(first.kind === 'charged' && second?.kind === 'charged')
    assert.deepEqual(await rowOf(first), { ...(await rowOf(second)), idempotency_key: 'k1' })
    assert.equal((await t.find('k1'))?.kind, 'running')
    const end = { accountId: t.id, operationId: first.operationId, end: { state: 'settled' } } as const
    await t.credits.end({ ...end, response: { status: 200, body: 'answer' } })
    assert.deepEqual(await t.find('k1'), { kind: 'replay', response: { status: 200, body: 'answer' } })
    assert.deepEqual(await t.problems(), [])
  })

  it('commit together with the response', async () => {
    await using t = await open()
    const names = ['a', 'b', 'c']
    const results = await Promise.all(names.map((name) => t.chargeNamed(name, `key-${name}`)))
    assert.deepEqual([t.statements.done, t.statements.failed], [1, 0])
    for (const [i, result] of results.entries()) {
      assert.ok(result.kind === 'charged')
      assert.equal(result.value, names[i])
      const body = { name: names[i], remaining: result.remaining }
      const replay = { kind: 'replay', response: { status: 200, body } }
      assert.deepEqual(await t.find(`key-${names[i]}`), replay)
      assert.deepEqual(await t.chargeNamed('another', `key-${names[i]}`), replay)
    }
    assert.equal(await t.remaining(), 1_000 - 8)
    assert.deepEqual(await t.problems(), [])
  })

  const pause = 'PERFORM pg_sleep(0.1)'
  const end = `PERFORM pg_terminate_backend(pg_backend_pid()); ${pause}`
  const failOnce = (code: string) =>
    `IF nextval('tries') < 2 THEN RAISE EXCEPTION 'again' USING ERRCODE = '${code}'; END IF`
  const faults: readonly [name: string, body: string, isAtCommit: boolean, charged: number][] = [
    ['a connection that ends while the response is stored', end, false, 0],
    ['a connection that ends during the commit', end, true, 0],
    ['an error of the commit', "RAISE EXCEPTION 'refused'", true, 0],
    ['a serialization failure while the response is stored', failOnce('40001'), false, 3],
    ['a deadlock during the commit', failOnce('40P01'), true, 3],
  ]
  for (const [name, body, isAtCommit, charged] of faults) {
    it(`are charged with their responses or not at all: ${name}`, async () => {
      await using t = await open()
      const run = (sql: string) => t.db.write((tx) => tx.run(sql))
      await run('CREATE SEQUENCE tries')
      await run(
        `CREATE FUNCTION fault() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body}; RETURN NEW; END $$`,
      )
      const [when, how] = isAtCommit
        ? ['CONSTRAINT TRIGGER fault AFTER UPDATE', 'DEFERRABLE INITIALLY DEFERRED']
        : ['TRIGGER fault BEFORE UPDATE', '']
      await run(`CREATE ${when} ON operation ${how} FOR EACH ROW WHEN (NEW.response IS NOT NULL)
        EXECUTE FUNCTION fault()`)
      const names = ['a', 'b', 'c']
      const results = await Promise.allSettled(names.map((one) => t.chargeNamed(one, one)))
      assert.equal(results.filter(({ status }) => status === 'fulfilled').length, charged)
      await run('DROP TRIGGER fault ON operation')
      for (const one of names) {
        const { kind } = await t.chargeNamed(one, one)
        assert.equal(kind, charged > 0 ? 'replay' : 'charged')
        const stored = await t.find(one)
        assert.ok(stored?.kind === 'replay')
        assert.equal((stored.response.body as { name: string }).name, one)
      }
      assert.equal(await t.remaining(), 1_000 - 8)
      assert.deepEqual(await t.problems(), [])
    })
  }

  it('write nothing when the response cannot be stored', async () => {
    await using t = await open()
    const create = `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$`
    await t.db.write((tx) => tx.run(create))
    await t.db.write((tx) =>
      tx.run(`CREATE TRIGGER refuse BEFORE UPDATE ON operation FOR EACH ROW
        WHEN (NEW.response IS NOT NULL) EXECUTE FUNCTION refuse()`),
    )
    await assert.rejects(t.chargeNamed('a', 'k'), /refused/)
    assert.deepEqual([t.statements.done, t.statements.failed], [0, 1])
    assert.equal(await t.find('k'), undefined)
    assert.equal(await t.remaining(), 998)
    await t.db.write((tx) => tx.run('DROP TRIGGER refuse ON operation'))
    assert.equal((await t.chargeNamed('a', 'k')).kind, 'charged')
    assert.deepEqual(await t.problems(), [])
  })

  it('find the earlier call, also in the same batch, and do not concern calls without a key', async () => {
    await using t = await open()
    await t.charge(keyed('used'))
    const { done } = t.statements
    const results = await Promise.all([
      t.charge(keyed('used')),
      t.charge(keyed('used', 'of other parameters')),
      t.charge(keyed('new')),
      t.charge(keyed('new')),
      t.charge(),
      t.charge(),
    ])
    assert.deepEqual(
      results.map(({ kind }) => kind),
      // Without a product there is no response.
      ['interrupted', 'other_parameters', 'charged', 'interrupted', 'charged', 'charged'],
    )
    assert.deepEqual([t.statements.done, t.statements.failed], [done + 1, 1], 'the calls without a key')
    assert.equal(await t.remaining(), 1_000 - 10)
    assert.deepEqual(await t.problems(), [])
  })

  it('of an account that repeats keys do not keep those of others from sharing statements', async () => {
    await using t = await open()
    const { id } = await createAccount(t.db, systemActor, { username: 'repeating' })
    await t.credits.grant({ actor: systemActor, accountId: id, apiType: 'sms', amount: 1_000 })
    await t.charge({ accountId: id })
    for (let n = 0; n < 20; n += 1) {
      const twice = { accountId: id, ...keyed(`twice-${n}`) }
      const [own, ...others] = await Promise.all([t.charge(keyed(`k${n}`)), t.charge(twice), t.charge(twice)])
      assert.equal(own.kind, 'charged')
      assert.deepEqual(others.map(({ kind }) => kind).sort(), ['charged', 'interrupted'])
    }
    assert.equal(t.statements.failed, 1)
    assert.ok(t.statements.done >= 19)
    assert.deepEqual(await t.problems(), [])
  })

  it('use a key again when it has expired', async () => {
    await using t = await open()
    await t.charge(keyed('old'))
    await t.db.write((tx) => tx.run('UPDATE operation SET created_at = created_at - ?', [keyLifetimeMs]))
    assert.equal((await t.charge(keyed('old'))).kind, 'charged')
    assert.equal((await t.charge(keyed('old'))).kind, 'interrupted')
    assert.equal(await t.remaining(), 1_000 - 6)
  })

  it('are charged once for each key, over several processes', async () => {
    await using t = await open(10_000)
    const others = [t.storage.open(), t.storage.open()]
    const ledgers = [t.credits, ...others.map((db) => createCredits(db, secret))]
    for (const ledger of ledgers) await ledger.charge(t.request)
    const [keys, calls] = [60, 300]
    const results = await Promise.all(
      Array.from({ length: calls }, (_one, n) => {
        // 7 and 60 have no common factor, so the calls with one key are far apart and on different processes.
        const key = `k${(n * 7) % keys}`
        return ledgers[n % 3]!.charge<string>({
          ...t.request,
          ...keyed(key),
          inSameTransaction: storeName(key),
        })
      }),
    )
    const charged = results.filter(({ kind }) => kind === 'charged')
    const replays = results.filter(({ kind }) => kind === 'replay')
    assert.deepEqual([charged.length, replays.length], [keys, calls - keys])
    assert.ok(t.statements.done > 0)
    assert.equal(await t.remaining(), 10_000 - 2 * (4 + keys))
    assert.deepEqual(await t.problems(), [])
    for (const db of others) await db.close()
  })
})

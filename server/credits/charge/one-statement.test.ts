// Charges with one statement on PostgreSQL: the same results as the transaction with decisions, whatever changed before.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { countStatements } from '../../../test/support/count-statements.ts'
import { freshDatabase } from '../../../test/support/engines.ts'
import { until } from '../../../test/support/until.ts'
import { createAccount } from '../../accounts/accounts.ts'
import { systemActor } from '../../audit/audit.ts'
import type { Value } from '../../db/database.ts'
import { findSetting, putSetting } from '../../db/setting-store.ts'
import { registerWriter } from '../batch-writer.ts'
import { createCredits } from '../credits.ts'
import { checkLedger } from '../ledger/check-store.ts'
import type { Charge, ChargeRequest, Written } from '../operation.ts'
import { createKnownBalances } from './known-balances.ts'
import { chargeWithOneStatement } from './one-statement-store.ts'
import { createResponseCipher } from './response-cipher.ts'
import { chargeBatch } from './store.ts'

const secret = 'a secret of thirty-two characters or more'
const keyHash = 'h'.repeat(64)

async function open(amount = 1_000) {
  const fresh = await freshDatabase('postgres')
  const statements = countStatements(fresh.db)
  const credits = createCredits(statements.db, secret)
  const { id } = await createAccount(fresh.db, systemActor, { username: 'payer' })
  await fresh.db.write((tx) => tx.run('UPDATE account SET key_hash = ? WHERE id = ?', [keyHash, id]))
  await credits.grant({ actor: systemActor, accountId: id, apiType: 'sms', amount })
  const request: ChargeRequest = {
    accountId: id,
    apiType: 'sms',
    action: 'test',
    cost: 2,
    requestId: 'r',
    keyHash,
    keyLimits: { scopes: null, allow_ips: null },
  }
  return {
    ...fresh,
    id,
    statements,
    credits,
    request,
    charge: (change: Partial<ChargeRequest> = {}) => credits.charge({ ...request, ...change }),
    remaining: async () => (await credits.balance(id, 'sms')).remaining,
    usage: () =>
      fresh.db.one<{ used: number; used_on_day: number; used_in_month: number }>(
        "SELECT used, used_on_day, used_in_month FROM credit WHERE account_id = ? AND api_type = 'sms'",
        [id],
      ),
    [Symbol.asyncDispose]: () => fresh[Symbol.asyncDispose](),
  }
}

describe('charges with one statement', () => {
  it('begin with the second charge of a balance, and write the same rows', async () => {
    await using t = await open()
    const first = await t.charge({ leaseMs: 60_000 })
    assert.equal(t.statements.done, 0)
    const second = await t.charge({ leaseMs: 60_000 })
    assert.equal(t.statements.done, 1)
    assert.ok(first.kind === 'charged' && second.kind === 'charged')
    assert.deepEqual([first.remaining, second.remaining], [998, 996])
    const rowsOf = (id: number) =>
      t.db.all<Record<string, unknown>>(
        `SELECT o.account_id, o.api_type, o.action, o.cost, o.state, o.idempotency_key, o.request_id, o.ended_at, o.given_back,
           o.lease_until - o.created_at AS lease_ms, l.kind, l.amount, l.at - o.created_at AS delay
         FROM operation o JOIN ledger l ON l.operation_id = o.id WHERE o.id = ?`,
        [id],
      )
    const rows = await rowsOf(second.operationId)
    assert.equal(rows.length, 1)
    assert.deepEqual(rows, await rowsOf(first.operationId))
    const settled = await t.charge()
    assert.ok(settled.kind === 'charged')
    assert.equal((await rowsOf(settled.operationId))[0]!['state'], 'settled')
    assert.deepEqual(await t.usage(), { used: 6, used_on_day: 6, used_in_month: 6 })
    assert.deepEqual((await checkLedger(t.db, 0)).problems, [])
  })

  it('are not kept from it by a charge that has to be decided', async () => {
    await using t = await open()
    const other = await createAccount(t.db, systemActor, { username: 'other' })
    await t.credits.grant({ actor: systemActor, accountId: other.id, apiType: 'sms', amount: 3 })
    const ofOther = { accountId: other.id, keyHash: undefined, keyLimits: undefined }
    await Promise.all([t.charge(), t.charge(ofOther)])
    // The other account has credits for none of these, its first charge of an API type or an Idempotency-Key.
    for (const change of [
      {},
      { apiType: 'id_verification' },
      { idempotency: { key: 'k', fingerprint: 'f' } },
    ] as const) {
      const { done, failed } = t.statements
      const [own, others] = await Promise.all([t.charge(), t.charge({ ...ofOther, ...change })])
      assert.deepEqual([own.kind, others.kind], ['charged', 'insufficient'])
      assert.deepEqual([t.statements.done, t.statements.failed], [done + 1, failed])
    }
  })

  const changes: readonly [name: string, sql: string, result: object][] = [
    ['another key', "key_hash = 'another'", { kind: 'key_invalid' }],
    ['a cleared key', 'key_hash = NULL', { kind: 'key_invalid' }],
    ['a suspension', 'suspended = 1', { kind: 'not_allowed', reason: 'suspended' }],
    ['an expiry', "expires_on = '2020-01-01'", { kind: 'not_allowed', reason: 'expired' }],
    ['SMS switched off', 'sms_enabled = 0', { kind: 'not_allowed', reason: 'sms_disabled' }],
    [
      'scopes of the key',
      "scopes = 'sms:read'",
      { kind: 'key_limits_changed', keyLimits: { scopes: 'sms:read', allow_ips: null } },
    ],
    [
      'addresses of the key',
      "allow_ips = '192.0.2.1'",
      { kind: 'key_limits_changed', keyLimits: { scopes: null, allow_ips: '192.0.2.1' } },
    ],
  ]
  for (const [name, sql, result] of changes) {
    it(`notice ${name}`, async () => {
      await using t = await open()
      await t.charge()
      await t.charge()
      await t.db.write((tx) => tx.run(`UPDATE account SET ${sql} WHERE id = ?`, [t.id]))
      for (let n = 0; n < 2; n += 1) {
        const { kind, ...rest } = await t.charge()
        const keyLimits = 'keyLimits' in rest && {
          keyLimits: { scopes: rest.keyLimits.scopes, allow_ips: rest.keyLimits.allow_ips },
        }
        assert.deepEqual({ kind, ...rest, ...keyLimits }, result)
      }
      // The second time the balance is known to have settings.
      assert.deepEqual([t.statements.done, t.statements.failed], [1, 1])
      assert.equal(await t.remaining(), 996)
      assert.deepEqual((await checkLedger(t.db, 0)).problems, [])
    })
  }

  const versionOf = async (t: Awaited<ReturnType<typeof open>>) =>
    (await t.db.one<{ version: string }>('SELECT CAST(xmin AS text) AS version FROM account WHERE id = ?', [
      t.id,
    ]))!.version

  it('check the version of the account, if a charge names one', async () => {
    await using t = await open()
    const first = await versionOf(t)
    for (let n = 0; n < 3; n += 1)
      assert.equal((await t.charge({ accountVersion: first })).kind, 'charged', 'locks change no version')
    assert.deepEqual([t.statements.done, t.statements.failed], [2, 0])
    await t.db.write((tx) => tx.run("UPDATE account SET prices = '{}' WHERE id = ?", [t.id]))
    const second = await versionOf(t)
    assert.notEqual(first, second)
    const results = await Promise.all([
      t.charge({ accountVersion: second }),
      t.charge({ accountVersion: first }),
      t.charge(),
    ])
    assert.deepEqual(
      results.map(({ kind }) => kind),
      ['charged', 'account_changed', 'charged'],
    )
    assert.deepEqual(await t.charge({ accountVersion: first }), { kind: 'account_changed' })
    const { kind } = await t.charge({ accountVersion: first, idempotency: { key: 'k', fingerprint: 'f' } })
    assert.equal(kind, 'account_changed', 'the transaction checks it too')
    assert.equal(await t.remaining(), 990)
    assert.deepEqual((await checkLedger(t.db, 0)).problems, [])
  })

  it('180 notice a change of the account that commits while they wait for its lock', async () => {
    await using t = await open()
    const accountVersion = await versionOf(t)
    for (let n = 0; n < 2; n += 1) await t.charge({ accountVersion })
    const other = t.storage.open()
    let waiting: ReturnType<typeof t.charge> | undefined
    await other.write(async (tx) => {
      await tx.run("UPDATE account SET prices = '{}' WHERE id = ?", [t.id])
      waiting = t.charge({ accountVersion })
      await until(async () => {
        const blocked = await other.one('SELECT pid FROM pg_locks WHERE NOT granted')
        return blocked !== undefined
      })
    })
    assert.deepEqual(await waiting, { kind: 'account_changed' })
    assert.equal(await t.remaining(), 996)
    await other.close()
  })

  it('check the key of every charge of a batch', async () => {
    await using t = await open()
    await t.charge()
    const results = await Promise.all([
      t.charge(),
      t.charge({ keyHash: 'an old one' }),
      t.charge({ keyHash: undefined }),
    ])
    assert.deepEqual(
      results.map((result) => result.kind),
      ['charged', 'key_invalid', 'charged'],
    )
    assert.equal(await t.remaining(), 994)
  })

  it('notice a cap, and count the usage before it', async () => {
    await using t = await open()
    for (let n = 0; n < 3; n += 1) await t.charge()
    await t.db.write((tx) => tx.run('UPDATE credit SET daily_cap = 7 WHERE account_id = ?', [t.id]))
    assert.deepEqual(await t.charge(), { kind: 'capped', period: 'day' })
    const { kind } = await t.charge({ cost: 1 })
    assert.equal(kind, 'charged')
    assert.deepEqual(await t.usage(), { used: 7, used_on_day: 7, used_in_month: 7 })
  })

  it('notice that credits were taken, and new ones', async () => {
    await using t = await open(10)
    await t.charge()
    await t.charge()
    const other = createCredits(t.db, secret)
    await other.take({ actor: systemActor, accountId: t.id, apiType: 'sms', amount: 5 })
    assert.deepEqual(await t.charge(), { kind: 'insufficient', remaining: 1 })
    await other.grant({ actor: systemActor, accountId: t.id, apiType: 'sms', amount: 5 })
    const result = await t.charge()
    assert.equal(result.kind === 'charged' && result.remaining, 4)
    assert.deepEqual((await checkLedger(t.db, 0)).problems, [])
  })

  it('start a new day of usage', async () => {
    await using t = await open()
    await t.charge()
    const setDay = (day: string) =>
      t.db.write((tx) => tx.run('UPDATE credit SET usage_day = ? WHERE account_id = ?', [day, t.id]))
    await setDay('2020-02-29')
    await t.charge()
    assert.deepEqual(await t.usage(), { used: 4, used_on_day: 2, used_in_month: 2 })
    await t.charge()
    assert.deepEqual(await t.usage(), { used: 6, used_on_day: 4, used_in_month: 4 })
    assert.deepEqual([t.statements.done, t.statements.failed], [1, 1])
  })

  it('emit no fewer events', async () => {
    await using t = await open(10)
    await t.charge()
    await t.charge()
    await t.db.write((tx) => tx.run("UPDATE account SET event_types = 'credits.empty' WHERE id = ?", [t.id]))
    for (let n = 0; n < 3; n += 1) await t.charge()
    const events = await t.db.all('SELECT id FROM event WHERE account_id = ?', [t.id])
    assert.equal(events.length, 1)
  })

  it('never charge more than there is, over several processes', async () => {
    await using t = await open(601)
    const others = [t.storage.open(), t.storage.open()]
    const ledgers = [t.credits, ...others.map((db) => createCredits(db, secret))]
    for (const ledger of ledgers) await ledger.charge({ ...t.request, cost: 1 })
    const results = await Promise.all(
      Array.from({ length: 400 }, (_one, n) =>
        ledgers[n % 3]!.charge({ ...t.request, cost: 2, requestId: `r${n}` }),
      ),
    )
    assert.equal(results.filter(({ kind }) => kind === 'charged').length, 299)
    assert.equal(results.filter(({ kind }) => kind === 'insufficient').length, 101)
    assert.equal(await t.remaining(), 0)
    assert.ok(t.statements.done > 0)
    assert.deepEqual((await checkLedger(t.db, 0)).problems, [])
    for (const db of others) await db.close()
  })

  it('write the rows of the product, or nothing at all', async () => {
    await using t = await open()
    let value = 'first'
    const write = registerWriter<string, Charge, Written<string>>(
      async (tx, items) => {
        for (const { item } of items) await putSetting(tx, item, 'transaction')
        return items.map(({ item }) => ({ value: item }))
      },
      (items) => ({
        ctes: `, product AS (INSERT INTO setting (name, value) SELECT ? || position, id FROM charge)`,
        values: [value],
        returning: `'written'`,
        read: (text, charges) =>
          charges.map(({ remaining }, i) => ({ value: `${items[i]} ${text} ${remaining}` })),
      }),
    )
    const charge = async (name: string) => {
      const result = await t.credits.charge<string>({ ...t.request, inSameTransaction: write(name) })
      assert.ok(result.kind === 'charged')
      return result
    }
    assert.equal((await charge('a')).value, 'a')
    const { value: answer, operationId } = await charge('b')
    assert.equal(answer, 'b written 996')
    assert.equal(await findSetting(t.db, 'first0'), String(operationId))
    // The row exists, so the statement fails and the transaction writes another one.
    assert.equal((await charge('c')).value, 'c')
    assert.equal(await findSetting(t.db, 'c'), 'transaction')
    assert.deepEqual([t.statements.done, t.statements.failed], [1, 1])
    value = 'later'
    assert.equal((await charge('d')).value, 'd written 992')
    assert.equal(await t.remaining(), 992)
    assert.deepEqual((await checkLedger(t.db, 0)).problems, [])
  })

  it('are not repeated when the result of a product cannot be read', async () => {
    await using t = await open()
    const write = registerWriter<string, Charge, Written<string>>(
      async () => [{ value: 'transaction' }],
      () => ({
        ctes: '',
        values: [],
        returning: `'x'`,
        read() {
          throw new Error('unreadable')
        },
      }),
    )
    await t.charge()
    const charge = () => t.credits.charge<string>({ ...t.request, inSameTransaction: write('a') })
    const results = await Promise.allSettled([charge(), charge()])
    for (const result of results)
      assert.match(String(result.status === 'rejected' && result.reason), /unreadable/)
    assert.equal(await t.remaining(), 994)
  })

  it('fail alone when the database refuses one of them', async () => {
    await using t = await open()
    await t.charge()
    const results = await Promise.allSettled([
      t.charge(),
      // PostgreSQL stores no such text.
      t.charge({ requestId: 'r\u0000' }),
      t.charge(),
    ])
    assert.deepEqual(
      results.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    )
    assert.equal(await t.remaining(), 994)
    assert.deepEqual([t.statements.done, t.statements.failed], [0, 1])
    assert.deepEqual((await checkLedger(t.db, 0)).problems, [])
  })

  it('are not repeated after an error that does not come from the server', async () => {
    await using t = await open()
    const credits = createCredits(
      {
        ...t.db,
        async writeStatement<R>(sql: string, values: readonly Value[]): Promise<R[]> {
          await t.db.writeStatement!(sql, values)
          throw new Error('the answer was not readable')
        },
      },
      secret,
    )
    await credits.charge(t.request)
    await assert.rejects(credits.charge(t.request), /not readable/)
    assert.equal(await t.remaining(), 996)
    assert.deepEqual((await checkLedger(t.db, 0)).problems, [])
  })

  it('tell whether another process has charged the same balance', async () => {
    await using t = await open()
    const context = { cipher: createResponseCipher(secret), known: createKnownBalances(), onMoved() {} }
    await t.db.write((tx) => chargeBatch(tx, [t.request], context))
    const isContended = async () =>
      (await chargeWithOneStatement(t.db, [t.request, t.request], context))?.isContended
    assert.equal(await isContended(), false)
    assert.equal(await isContended(), false)
    await t.charge()
    assert.equal(await isContended(), true)
    assert.equal(await isContended(), false)
    assert.equal(await t.remaining(), 1_000 - 20)
  })
})

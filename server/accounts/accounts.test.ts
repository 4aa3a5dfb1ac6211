// Accounts, keys and passwords on both engines.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { systemActor } from '../audit/audit.ts'
import { lockOperator } from '../audit/store.ts'
import { freshDatabase, onEachEngine } from '../../test/support/engines.ts'
import { AppError } from '../http/errors.ts'
import { changeAccount, clearKey, createAccount, isExpired, requireAccount, resetKey } from './accounts.ts'
import { hashKey } from './key.ts'
import { verifyPassword } from './password.ts'
import { systemShare } from './password-turns.ts'
import { findPasswordHash, createKeyLookup, listAccounts } from './store.ts'

onEachEngine('accounts', (engine) => {
  it('creates an account with four empty balances and stores only a hash of its password', async () => {
    await using fresh = await freshDatabase(engine)
    const made = await createAccount(fresh.db, systemActor, { username: '张三公司', expiresOn: '2030-12-31' })
    const stored = await findPasswordHash(fresh.db, made.id)
    assert.match(stored!, /^\$argon2id\$/)
    assert.ok(await verifyPassword(stored!, made.password, systemShare))
    assert.equal(await verifyPassword(stored!, `${made.password}x`, systemShare), false)
    const balances = await fresh.db.all('SELECT * FROM credit WHERE account_id = ?', [made.id])
    assert.equal(balances.length, 4)
    const [account] = await listAccounts(fresh.db)
    assert.equal(account?.username, '张三公司')
    assert.equal(account?.expires_on, '2030-12-31')
    assert.equal(account?.sms_enabled, 1)
  })

  it('rejects taken and malformed names, weak passwords and impossible days, and names the field', async () => {
    await using fresh = await freshDatabase(engine)
    await createAccount(fresh.db, systemActor, { username: 'taken' })
    const rejected = {
      username: [
        { username: 'taken' },
        { username: 'a' },
        { username: 'with space' },
        { username: '-edge' },
        { username: `x${'y'.repeat(64)}` },
        { username: 'line\nbreak' },
      ],
      password: [
        { username: 'weak', password: 'short' },
        { username: 'weak', password: 'Password123' },
        { username: 'weakweak', password: 'weakweak' },
      ],
      expires_on: [{ username: 'late', expiresOn: '2026-02-30' }],
    }
    for (const [field, inputs] of Object.entries(rejected)) {
      for (const input of inputs) {
        const error = await createAccount(fresh.db, systemActor, input).catch((thrown: unknown) => thrown)
        assert.ok(error instanceof AppError, JSON.stringify(input))
        assert.deepEqual(error.fields, { [field]: error.text })
      }
    }
    assert.equal((await listAccounts(fresh.db)).length, 1)
  })

  it('creates one account when the same name is requested twice at the same time', async () => {
    await using fresh = await freshDatabase(engine)
    const results = await Promise.allSettled([
      createAccount(fresh.db, systemActor, { username: 'wanted' }),
      createAccount(fresh.db, systemActor, { username: 'wanted' }),
    ])
    assert.equal(results.filter((result) => result.status === 'fulfilled').length, 1)
  })

  it('replaces and clears a key immediately for every process', async () => {
    await using fresh = await freshDatabase(engine)
    const other = fresh.storage.open()
    const find = createKeyLookup(other)
    const { id } = await createAccount(fresh.db, systemActor, { username: 'holder' })
    const first = await resetKey(fresh.db, systemActor, id)
    assert.equal((await find(hashKey(first)))?.id, id)
    const second = await resetKey(fresh.db, systemActor, id)
    assert.equal(await find(hashKey(first)), undefined)
    assert.equal((await find(hashKey(second)))?.id, id)
    await clearKey(fresh.db, systemActor, id)
    assert.equal(await find(hashKey(second)), undefined)
    const account = await requireAccount(fresh.db, 'holder')
    assert.equal(account.key_hint, null)
    assert.equal(account.key_created_at, null)
    await other.close()
  })

  it('leaves one valid key after two concurrent resets', async () => {
    await using fresh = await freshDatabase(engine)
    const { id } = await createAccount(fresh.db, systemActor, { username: 'holder' })
    const keys = await Promise.all([resetKey(fresh.db, systemActor, id), resetKey(fresh.db, systemActor, id)])
    const find = createKeyLookup(fresh.db)
    const found = await Promise.all(keys.map(async (key) => find(hashKey(key))))
    assert.equal(found.filter((account) => account !== undefined).length, 1)
  })

  it('stores only the hash and the ends of a key', async () => {
    await using fresh = await freshDatabase(engine)
    const { id } = await createAccount(fresh.db, systemActor, { username: 'holder' })
    const key = await resetKey(fresh.db, systemActor, id)
    const [row] = await fresh.db.all('SELECT * FROM account WHERE id = ?', [id])
    assert.equal(JSON.stringify(row).includes(key.slice(7, -4)), false)
  })

  it('changes the given fields and nothing else', async () => {
    await using fresh = await freshDatabase(engine)
    await createAccount(fresh.db, systemActor, { username: 'changed' })
    const before = await requireAccount(fresh.db, 'changed')
    await changeAccount(fresh.db, systemActor, before, {})
    assert.deepEqual({ ...(await requireAccount(fresh.db, 'changed')) }, { ...before })
    await changeAccount(fresh.db, systemActor, before, {
      suspended: true,
      smsEnabled: false,
      signName: '某某科技',
      expires: '2027-01-01',
    })
    const after = await requireAccount(fresh.db, 'changed')
    assert.deepEqual(
      { ...after },
      { ...before, suspended: 1, sms_enabled: 0, sign_name: '某某科技', expires_on: '2027-01-01' },
    )
    // Calls are trimmed, so they could not name it otherwise.
    await changeAccount(fresh.db, systemActor, after, { signName: ' 云帆 ' })
    assert.equal((await requireAccount(fresh.db, after.username)).sign_name, '云帆')
    await changeAccount(fresh.db, systemActor, after, { expires: 'never', signName: '' })
    const last = await requireAccount(fresh.db, 'changed')
    assert.equal(last.expires_on, null)
    assert.equal(last.sign_name, null)
    await assert.rejects(changeAccount(fresh.db, systemActor, last, { signName: '【括号】' }), AppError)
    await assert.rejects(changeAccount(fresh.db, systemActor, last, { signName: 'x' }), AppError)
  })
})

it('an account is valid until the end of its last day in Shanghai', async () => {
  const account = { expires_on: '2026-11-15' } as Parameters<typeof isExpired>[0]
  assert.equal(isExpired(account, Date.parse('2026-11-15T15:59:59.999Z')), false)
  assert.equal(isExpired(account, Date.parse('2026-11-15T16:00:00Z')), true)
})

it('a suspension of a customer does not wait for a change that an owner makes meanwhile', async () => {
  await using fresh = await freshDatabase('postgres')
  const { db } = fresh
  const owner = await createAccount(db, systemActor, { username: 'owner', role: 'operator' })
  await createAccount(db, systemActor, { username: 'customer' })
  const customer = await requireAccount(db, 'customer')
  await db.write(async (tx) => {
    // As `recordChange` does, with the account of the customer locked before.
    assert.ok(await lockOperator(tx, { id: owner.id, operator_role: 'owner' }))
    await changeAccount(db, systemActor, customer, { suspended: true })
  })
  assert.equal((await requireAccount(db, 'customer')).suspended, 1)
})

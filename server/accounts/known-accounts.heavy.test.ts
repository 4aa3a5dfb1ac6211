// Calls without a look-up of the key: a change of the account takes effect with the next call all the same.
import assert from 'node:assert/strict'
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { shortlink } from '../../contract/shortlink.ts'
import { onEachEngine } from '../../test/support/engines.ts'
import {
  post,
  type Reply,
  startService,
  type TestAccount,
  type TestService,
} from '../../test/support/service.ts'
import { startSmsService } from '../../test/support/sms.ts'
import { until } from '../../test/support/until.ts'
import { systemActor } from '../audit/audit.ts'
import { DatabaseUnavailable } from '../db/database.ts'
import { type Call, createCall, markStep } from '../http/call.ts'
import { createLocalLimits } from '../limits/limits.ts'
import { type AccountInput, changeAccount, requireAccount, resetKey } from './accounts.ts'
import { createAuthenticator } from './authenticate.ts'
import { loadKeySecret } from './key-secret-store.ts'
import { confirmAccount, createKnownAccounts } from './known-accounts.ts'
import { createKeyLookup } from './store.ts'

const chargedOnce = [shortlink.operations.generate]
const valid = { action: 'generate', title: 't', target_url: 'https://example.com/' }
const invalid = { ...valid, target_url: 'not an address' }

function credentialsOf({ username, key }: TestAccount) {
  return { username, api_key: key }
}

function callWith(json: Record<string, unknown>, idempotencyKey?: string): Call {
  const request = new IncomingMessage(new Socket())
  if (idempotencyKey !== undefined) request.headers['idempotency-key'] = idempotencyKey
  return createCall(shortlink, 'r', request, '203.0.113.1', { headers: {}, json }, 0)
}

onEachEngine('the account of a known key', (engine) => {
  let service: TestService

  before(async () => void (service = await startService(engine, { RATE_LIMIT: 'off' })))
  after(() => service[Symbol.asyncDispose]())

  const send = (account: TestAccount, body: object, headers: Record<string, string> = {}): Promise<Reply> =>
    post(`${service.url}${shortlink.path}`, { ...credentialsOf(account), ...body }, headers)

  async function change(account: TestAccount, input: AccountInput): Promise<void> {
    const { db } = service.installation
    await changeAccount(db, systemActor, await requireAccount(db, account.username), input)
  }

  const remaining = async (account: TestAccount) =>
    (await service.app.services.credits.balance(account.id, 'short_link')).remaining

  /** An account that has made two paid calls: the process knows it and its balance. */
  async function knownAccount(credits = 100): Promise<TestAccount> {
    const account = await service.account({ short_link: credits + 2 })
    for (let n = 0; n < 2; n += 1) assert.equal((await send(account, valid)).status, 200)
    return account
  }

  const changes: readonly [name: string, input: AccountInput, status: number, message: RegExp][] = [
    ['a suspension', { suspended: true }, 403, /已停用/],
    ['an expiry', { expires: '2020-01-01' }, 400, /已过期/],
    ['scopes', { scopes: ['short_link:read'] }, 403, /无权/],
    ['addresses', { allowIps: ['192.0.2.1'] }, 403, /地址/],
  ]
  it('180 a suspension, an expiry, scopes and addresses refuse the next call', async () => {
    for (const [name, input, status, message] of changes) {
      const account = await knownAccount()
      await change(account, input)
      for (let n = 0; n < 2; n += 1) {
        const reply = await send(account, valid)
        assert.equal(reply.status, status, name)
        assert.match(reply.body.message, message)
      }
      assert.equal(await remaining(account), 100)
    }
  })

  it('180 an old key gets no other error than that it is wrong', async () => {
    for (const body of [valid, invalid, { action: 'generate' }, { action: 'list' }, { action: 'unknown' }]) {
      const account = await knownAccount()
      const key = await resetKey(service.installation.db, systemActor, account.id)
      const reply = await send(account, body)
      assert.equal(reply.status, 401)
      assert.match(reply.body.message, /认证失败/)
      assert.equal((await send({ ...account, key }, valid)).status, 200)
      assert.equal(await remaining(account), 99)
    }
  })

  it('another user name is refused, and the right one is not', async () => {
    const account = await knownAccount()
    assert.equal((await send({ ...account, username: 'another' }, valid)).status, 401)
    assert.equal((await send(account, valid)).status, 200)
  })

  it('180 a new price is charged at once', async () => {
    const account = await knownAccount()
    await change(account, { prices: { generate: 7 } })
    assert.equal((await send(account, valid)).body.data.remaining_balance, 93)
    await change(account, { prices: null })
    assert.equal((await send(account, valid)).body.data.remaining_balance, 92)
  })

  it('180 a refused call counts once against the rate limit, and a new limit applies at once', async () => {
    const account = await knownAccount()
    const rateLimit = { perSecond: 1, burst: 50 }
    await change(account, { rateLimit })
    const left = async (body: object) => {
      const reply = await send(account, body)
      return Number(/r=(\d+)/.exec(reply.headers.get('ratelimit') ?? '')?.[1])
    }
    const first = await left(valid)
    assert.equal(first, 49)
    // A second may pass between two calls, and returns one.
    const afterRefused = await left(invalid)
    assert.ok(afterRefused === first - 1 || afterRefused === first, `${afterRefused}`)
    const reply = await send(account, invalid)
    assert.equal(reply.headers.get('ratelimit-policy'), '"account";q=50;w=50')
    await change(account, { rateLimit: { perSecond: 1, burst: 1 } })
    const statuses = [await send(account, valid), await send(account, valid), await send(account, valid)].map(
      ({ status }) => status,
    )
    assert.ok(statuses.includes(429), statuses.join())
  })

  it('the errors of calls that are not charged are those of a look-up', async () => {
    const account = await knownAccount(1)
    assert.equal((await send(account, invalid)).status, 400)
    const last = await send(account, valid)
    assert.equal(last.body.data.remaining_balance, 0)
    for (let n = 0; n < 2; n += 1) {
      const reply = await send(account, valid)
      assert.deepEqual([reply.status, reply.body.success], [400, false])
    }
    assert.equal(await remaining(account), 0)
  })

  it('an Idempotency-Key is charged once', async () => {
    const account = await knownAccount()
    const headers = { 'idempotency-key': 'order-1' }
    const [first, second] = [await send(account, valid, headers), await send(account, valid, headers)]
    assert.equal(second.headers.get('idempotent-replayed'), 'true')
    assert.deepEqual(second.body, first.body)
    assert.equal(await remaining(account), 99)
  })

  it('180 an old key gets no stored response', async () => {
    const account = await knownAccount()
    const headers = { 'idempotency-key': 'order-2' }
    const first = await send(account, valid, headers)
    const key = await resetKey(service.installation.db, systemActor, account.id)
    for (const title of ['t', 'other']) {
      const reply = await send(account, { ...valid, title }, headers)
      assert.equal(reply.status, 401)
      assert.equal(reply.headers.get('idempotent-replayed'), null)
    }
    const again = await send({ ...account, key }, valid, headers)
    assert.deepEqual([again.status, again.headers.get('idempotent-replayed')], [200, 'true'])
    assert.deepEqual(again.body, first.body)
    assert.equal((await send({ ...account, key }, { ...valid, title: 'other' }, headers)).status, 422)
    assert.equal(await remaining(account), 99)
  })

  it('180 every call that is charged after a new price is set has that price', async () => {
    const account = await service.account({ short_link: 1_000_000 })
    const { db } = service.installation
    const newest = async () =>
      (await db.one<{ id: number | null }>('SELECT MAX(id) AS id FROM operation WHERE account_id = ?', [
        account.id,
      ]))!.id ?? 0
    let isOpen = true
    let done = 0
    const callers = Array.from({ length: 12 }, async () => {
      while (isOpen) {
        assert.equal((await send(account, valid)).status, 200)
        done += 1
      }
    })
    const more = async () => {
      const start = done
      await until(async () => done >= start + 40)
    }
    const expected: { from: number; to: number; price: number }[] = []
    await more()
    for (const price of [3, 5, 2, 9, 4]) {
      await change(account, { prices: { generate: price } })
      const from = await newest()
      await more()
      expected.push({ from, to: await newest(), price })
    }
    isOpen = false
    await Promise.all(callers)
    for (const { from, to, price } of expected) {
      const costs = await db.all<{ cost: number }>(
        'SELECT DISTINCT cost FROM operation WHERE account_id = ? AND id > ? AND id <= ?',
        [account.id, from, to],
      )
      assert.deepEqual(costs, [{ cost: price }])
    }
  })

  it('180 messages stop with the SMS service, and have a new default signature at once', async () => {
    await using sms = await startSmsService(engine)
    const { db } = sms.service.installation
    const changeSms = async (input: AccountInput) =>
      changeAccount(db, systemActor, await requireAccount(db, sms.account.username), input)
    const signature = async () =>
      (await db.one<{ sign_name: string }>('SELECT sign_name FROM sms_send ORDER BY id DESC LIMIT 1'))!
        .sign_name
    for (let n = 0; n < 2; n += 1) assert.equal((await sms.send()).body.code, 0)
    assert.equal(await signature(), 'Tollgate')
    await changeSms({ signName: '示例' })
    assert.equal((await sms.send()).body.code, 0)
    assert.equal(await signature(), '示例')
    await changeSms({ smsEnabled: false })
    for (let n = 0; n < 2; n += 1) assert.equal((await sms.send()).body.code, 1006)
    assert.equal(await sms.remaining(), 97)
    assert.deepEqual(await sms.findLedgerProblems(), [])
  })

  it('a charge that is tried again is still checked', async () => {
    const account = await knownAccount()
    const { db } = service.installation
    const { paidCalls } = service.app.services
    const knownAccounts = createKnownAccounts()
    const authenticate = createAuthenticator({
      findByKey: createKeyLookup(db),
      knownAccounts,
      keySecret: await loadKeySecret(db),
      rateLimit: undefined,
      limits: createLocalLimits(),
    })
    const json = { ...credentialsOf(account), ...valid }
    const first = await authenticate(callWith(json), shortlink.common, chargedOnce)
    knownAccounts.remember(first.caller)
    const call = callWith(json)
    const { caller } = await authenticate(call, shortlink.common, chargedOnce)
    const purchase = {
      apiType: 'short_link',
      action: 'test',
      cost: 1,
      values: {},
      answerIfInterrupted: { status: 500, body: {} },
    } as const
    const refuse = () => Promise.reject(new Error('not written'))
    await assert.rejects(
      paidCalls.charge(call, caller, { ...purchase, inSameTransaction: refuse }),
      /not written/,
    )
    await change(account, { suspended: true })
    await assert.rejects(paidCalls.charge(call, caller, purchase))
    assert.equal(await remaining(account), 100)
    assert.equal(call.knownAccount, engine === 'sqlite' ? 'allowed' : 'used')
  })
})

describe('known accounts', () => {
  it('replace the look-up of paid calls only', async () => {
    await using service = await startService('postgres')
    const { db } = service.installation
    const account = await service.account({ short_link: 5 })
    const knownAccounts = createKnownAccounts()
    const find = createKeyLookup(db)
    let lookUps = 0
    const authenticate = createAuthenticator({
      findByKey(hash) {
        lookUps += 1
        return find(hash)
      },
      knownAccounts,
      keySecret: await loadKeySecret(db),
      rateLimit: undefined,
      limits: createLocalLimits(),
    })
    const run = async (json: object, idempotencyKey?: string) => {
      const call = callWith({ ...credentialsOf(account), ...json }, idempotencyKey)
      const earlier = lookUps
      const { caller } = await authenticate(call, shortlink.common, chargedOnce)
      return { call, caller, lookUps: lookUps - earlier }
    }
    const first = await run(valid)
    assert.deepEqual([first.lookUps, first.call.knownAccount], [1, 'allowed'])
    assert.equal((await run(valid)).lookUps, 1, 'nothing was charged yet')
    knownAccounts.remember(first.caller)
    const second = await run(valid)
    assert.deepEqual([second.lookUps, second.call.knownAccount], [0, 'used'])
    assert.deepEqual(second.caller, first.caller)
    for (const action of ['update', 'delete', 'get', 'list', 'generate_batch', 'unknown']) {
      const { call, lookUps: count } = await run({ ...valid, action })
      assert.deepEqual([action, count, call.knownAccount], [action, 1, 'allowed'])
    }
    assert.equal((await run(valid, 'key-1')).lookUps, 0)
    const again = callWith({ ...credentialsOf(account), ...valid })
    again.knownAccount = 'refused'
    await authenticate(again, shortlink.common, chargedOnce)
    assert.equal((await run(valid)).lookUps, 1, 'forgotten')
  })

  it('run a call again only if nothing can have been charged', async () => {
    for (const [state, runs] of [
      ['allowed', 1],
      ['used', 2],
      ['sent', 1],
    ] as const) {
      for (const ends of ['returns', 'throws']) {
        const states: string[] = []
        const handle = confirmAccount(async (call) => {
          states.push(call.knownAccount)
          assert.deepEqual(
            [call.trace.accountId, call.trace.username, call.trace.steps, call.trace.gateway],
            [undefined, undefined, {}, undefined],
          )
          Object.assign(call.trace, { accountId: 7, username: 'holder', gateway: 'g' })
          markStep(call, 'checked')
          call.responseHeaders.push('x', 'y')
          if (call.knownAccount === 'allowed') call.knownAccount = state
          if (ends === 'throws') throw new Error(`run ${states.length}`)
          return { status: 200, body: states.length }
        })
        const call = callWith({})
        if (ends === 'throws') await assert.rejects(handle(call), new RegExp(`run ${runs}$`))
        else assert.equal((await handle(call)).body, runs)
        assert.deepEqual(states, ['allowed', 'refused'].slice(0, runs))
        assert.deepEqual(call.responseHeaders, ['x', 'y'])
      }
    }
  })

  it('do not run a call again while the database is not available', async () => {
    let runs = 0
    const handle = confirmAccount(async (call) => {
      runs += 1
      call.knownAccount = 'used'
      call.trace.accountId = 7
      call.responseHeaders.push('x', 'y')
      throw new DatabaseUnavailable('no connection')
    })
    const call = callWith({})
    await assert.rejects(handle(call), DatabaseUnavailable)
    assert.equal(runs, 1)
    // The account is not confirmed.
    assert.deepEqual([call.trace.accountId, call.responseHeaders], [undefined, []])
  })
})

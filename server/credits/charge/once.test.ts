// An earlier call with the same Idempotency-Key comes before every problem that a call has now, although it is looked for last.
import assert from 'node:assert/strict'
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { shortlink } from '../../../contract/shortlink.ts'
import { onEachEngine } from '../../../test/support/engines.ts'
import { post, startService, type TestAccount, type TestService } from '../../../test/support/service.ts'
import { startSmsService } from '../../../test/support/sms.ts'
import { type AccountInput, changeAccount, requireAccount } from '../../accounts/accounts.ts'
import { systemActor } from '../../audit/audit.ts'
import { createCall } from '../../http/call.ts'
import type { ApiResponse } from '../../http/responses.ts'
import { createCredits } from '../credits.ts'
import { createSweeper } from '../end/sweeper.ts'
import { createPaidCalls } from './paid-call.ts'

const valid = { action: 'generate', title: 't', target_url: 'https://example.com/' }

onEachEngine('a repeated call', (engine) => {
  let service: TestService

  before(async () => void (service = await startService(engine)))
  after(() => service[Symbol.asyncDispose]())

  const send = ({ username, key }: TestAccount, body: object, idempotencyKey?: string) =>
    post(
      `${service.url}${shortlink.path}`,
      { username, api_key: key, ...body },
      idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey },
    )

  async function change(account: TestAccount, input: AccountInput): Promise<void> {
    const { db } = service.installation
    await changeAccount(db, systemActor, await requireAccount(db, account.username), input)
  }

  it('gets the stored response whatever has happened to the account', async () => {
    const changes: readonly [AccountInput, number][] = [
      [{ suspended: true }, 403],
      [{ expires: '2020-01-01' }, 400],
      [{ prices: { generate: 1_000 } }, 400],
    ]
    for (const [input, status] of changes) {
      const account = await service.account({ short_link: 10 })
      // The process then knows the account and its balance.
      for (let n = 0; n < 2; n += 1) await send(account, valid)
      const first = await send(account, valid, 'order-1')
      assert.equal(first.status, 200)
      await change(account, input)
      const repeated = await send(account, valid, 'order-1')
      assert.deepEqual([repeated.status, repeated.body], [200, first.body])
      assert.equal(repeated.headers.get('idempotent-replayed'), 'true')
      assert.equal((await send(account, { ...valid, title: 'other' }, 'order-1')).status, 422)
      assert.equal((await send(account, valid, 'order-2')).status, status)
      assert.equal((await send(account, valid, 'order-1')).status, 200)
    }
  })

  it('gets the stored response although its own link is in the way', async () => {
    const account = await service.account({ short_link: 10 })
    const chosen = { ...valid, external_id: 'order-1' }
    const first = await send(account, chosen, 'order-1')
    assert.equal(first.status, 200)
    assert.equal((await send(account, chosen, 'order-2')).status, 400)
    const repeated = await send(account, chosen, 'order-1')
    assert.deepEqual([repeated.status, repeated.body], [200, first.body])
  })

  it('gets the stored response although names of nested objects are in another order', async () => {
    const account = await service.account({ short_link: 10 })
    const rule = { when: { os: 'ios', language: 'zh' }, target_url: 'https://example.com/a' }
    const turned = { target_url: 'https://example.com/a', when: { language: 'zh', os: 'ios' } }
    const batch = (links: readonly object[]) => ({ action: 'generate_batch', links })
    const link = { title: 't', target_url: 'https://example.com/' }
    for (const [sent, again, other] of [
      [
        { ...valid, rules: [rule] },
        { ...valid, rules: [turned] },
        { ...valid, rules: [turned, turned] },
      ],
      [batch([link]), batch([{ target_url: link.target_url, title: 't' }]), batch([{ ...link, title: 'o' }])],
    ]) {
      const key = JSON.stringify(sent)
      const first = await send(account, sent!, key)
      assert.equal(first.status, 200)
      const repeated = await send(account, again!, key)
      assert.deepEqual([repeated.status, repeated.body], [200, first.body])
      assert.equal((await send(account, other!, key)).status, 422)
    }
  })

  it('gets the stored response although one of the two spells out a default', async () => {
    const account = await service.account({ short_link: 10 })
    const batch = (...links: readonly object[]) => ({ action: 'generate_batch', links })
    const link = { title: 't', target_url: 'https://example.com/' }
    const direct = { redirect_type: 'direct' }
    const page = { redirect_type: 'page' }
    for (const [plain, full, other] of [
      [valid, { ...valid, ...direct }, { ...valid, ...page }],
      [
        batch(link, { ...link, ...direct }),
        batch({ ...link, ...direct }, link),
        batch(link, { ...link, ...page }),
      ],
    ]) {
      for (const [sent, again] of [
        [plain, full],
        [full, plain],
      ]) {
        const key = JSON.stringify(sent)
        const first = await send(account, sent!, key)
        assert.equal(first.status, 200)
        const repeated = await send(account, again!, key)
        assert.deepEqual([repeated.status, repeated.body], [200, first.body])
        assert.equal((await send(account, other!, key)).status, 422)
      }
    }
  })

  it('gets the stored response of a one-time code although one of the two spells out its defaults', async () => {
    await using sms = await startSmsService(engine)
    const code = { action: 'send_code', phone_number: '13800138000', template_code: 'CODE' }
    const headers = { 'idempotency-key': 'code-1' }
    const first = await sms.call(code, headers)
    assert.equal(first.body.code, 0)
    for (const spelledOut of [{ length: 6 }, { ttl_s: '300' }, { length: 6, ttl_s: 300 }])
      assert.deepEqual((await sms.call({ ...code, ...spelledOut }, headers)).body, first.body)
    assert.equal((await sms.call({ ...code, length: 4 }, headers)).status, 422)
    assert.equal((await sms.call({ ...code, phone_number: '13800138001' }, headers)).status, 422)
    assert.equal(await sms.remaining(), 99)
  })

  it('is known by what version 1.0 stored, which kept defaults', async () => {
    const { db } = service.installation
    const credits = createCredits(db, service.installation.secretKey)
    const account = await service.account({ short_link: 10 })
    const values = { title: 't', target_url: 'https://example.com/', redirect_type: 'direct' }
    const body = { code: 0, from: 'version 1.0' }
    await credits.charge({
      accountId: account.id,
      apiType: 'short_link',
      action: 'shortlink.generate',
      cost: 1,
      requestId: 'r',
      idempotency: {
        key: credits.fingerprint('idempotency key', { key: 'order-1' }),
        fingerprint: credits.olderFingerprint('shortlink.generate', values),
      },
      inSameTransaction: async () => ({ value: undefined, response: { status: 200, body } }),
    })
    assert.deepEqual((await send(account, { action: 'generate', ...values }, 'order-1')).body, body)
  })

  it('is known by what version 1.0 stored', async () => {
    const { db } = service.installation
    const credits = createCredits(db, service.installation.secretKey)
    const account = await requireAccount(db, (await service.account({ short_link: 1 })).username)
    const values = { links: [{ title: 't', target_url: 'u' }] }
    const request = {
      accountId: account.id,
      apiType: 'short_link',
      action: 'test',
      cost: 1,
      requestId: 'r',
    } as const
    const older = credits.olderFingerprint('test', values)
    await credits.charge({ ...request, idempotency: { key: 'k', fingerprint: older } })
    const now = { key: 'k', fingerprint: credits.fingerprint('test', values) }
    assert.notEqual(now.fingerprint, older)
    assert.deepEqual(await credits.findPreviousCall(account.id, now), { kind: 'other_parameters' })
    const known = { ...now, olderFingerprint: () => older }
    assert.deepEqual(await credits.findPreviousCall(account.id, known), { kind: 'interrupted' })
    assert.deepEqual(await credits.charge({ ...request, idempotency: known }), { kind: 'interrupted' })
  })

  it('182 gets the stored response although the other call commits while it is checked', async () => {
    const account = await service.account({ short_link: 1_000 })
    for (let n = 0; n < 60; n += 1) {
      // After the first repeated call the account is known to repeat calls.
      const replies = await Promise.all(
        [0, 1, 2].map(async (place) => {
          await sleep(place * (n % 8))
          return send(account, { ...valid, external_id: `order-${n}` }, `order-${n}`)
        }),
      )
      assert.deepEqual(
        replies.map(({ status, body }) => [status, body.data?.link_id]),
        replies.map(() => [200, replies[0]!.body.data.link_id]),
      )
    }
  })

  it('gets the stored response of a message after its template was deleted', async () => {
    await using sms = await startSmsService(engine)
    const headers = { 'idempotency-key': 'message-1' }
    const first = await sms.send({}, headers)
    assert.equal(first.body.code, 0)
    await sms.service.installation.db.write((tx) =>
      tx.run('DELETE FROM sms_template WHERE account_id IS NOT NULL'),
    )
    const repeated = await sms.send({}, headers)
    assert.deepEqual(repeated.body, first.body)
    assert.notEqual((await sms.send({}, { 'idempotency-key': 'message-2' })).body.code, 0)
  })
})

const ok: ApiResponse = { status: 200, body: { code: 0 } }
const failure = new Error('refused before the charge')

describe('calls with an Idempotency-Key', () => {
  async function open() {
    const service = await startService('postgres')
    const { db } = service.installation
    const account = await service.account({ short_link: 100 })
    const credits = createCredits(db, service.app.services.secretKey)
    const sweeper = createSweeper({ db, credits, deciders: new Map(), maxLeaseMs: 60_000, onError() {} })
    const { authenticate } = service.app.services
    const purchase = {
      apiType: 'short_link',
      action: 'test',
      cost: 1,
      values: {},
      answerIfInterrupted: ok,
    } as const

    /** Another process knows nothing of the calls of the first. */
    const openProcess = () => createPaidCalls(credits, sweeper, undefined)

    async function run(
      paidCalls: ReturnType<typeof openProcess>,
      key: string,
      problem?: 'before' | 'after',
    ): Promise<{ readonly response: ApiResponse; readonly runs: number; readonly replayed: boolean }> {
      const request = new IncomingMessage(new Socket())
      request.headers['idempotency-key'] = key
      const json = { username: account.username, api_key: account.key, action: 'generate' }
      const call = createCall(shortlink, 'r', request, '203.0.113.1', { headers: {}, json }, 0)
      const { caller } = await authenticate(call, shortlink.common, [])
      let runs = 0
      const response = await paidCalls.once(call, caller, purchase, async () => {
        runs += 1
        if (problem === 'before') throw failure
        const store = async () => ({ value: ok, response: ok })
        const paid = await paidCalls.charge(call, caller, { ...purchase, inSameTransaction: store })
        if (problem === 'after') throw failure
        return paid.replay ?? paid.value
      })
      return { response, runs, replayed: call.trace.replayed }
    }

    const remaining = async () => (await credits.balance(account.id, 'short_link')).remaining
    return { openProcess, run, remaining, [Symbol.asyncDispose]: () => service[Symbol.asyncDispose]() }
  }

  it('run once, and a repeated one is not run when the account has repeated one before', async () => {
    await using t = await open()
    const paidCalls = t.openProcess()
    assert.deepEqual(await t.run(paidCalls, 'k'), { response: ok, runs: 1, replayed: false })
    for (const runs of [1, 0, 0]) {
      const { response, ...rest } = await t.run(paidCalls, 'k')
      assert.deepEqual([response.status, response.body], [ok.status, ok.body])
      assert.deepEqual(rest, { runs, replayed: true })
    }
    assert.deepEqual(await t.run(paidCalls, 'new'), { response: ok, runs: 1, replayed: false })
    assert.equal(await t.remaining(), 98)
  })

  it('get the stored response instead of an error before the charge, and the error of a new call', async () => {
    await using t = await open()
    await t.run(t.openProcess(), 'k')
    const repeated = await t.run(t.openProcess(), 'k', 'before')
    assert.deepEqual([repeated.response.body, repeated.replayed], [ok.body, true])
    await assert.rejects(t.run(t.openProcess(), 'new', 'before'), failure)
    assert.equal(await t.remaining(), 99)
  })

  it('get an error after the charge as it is', async () => {
    await using t = await open()
    await assert.rejects(t.run(t.openProcess(), 'k', 'after'), failure)
    assert.equal(await t.remaining(), 99)
  })
})

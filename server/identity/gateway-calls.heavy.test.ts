// Calls through gateways to loopback servers: failover, timeouts, late ends, repeated calls, and a killed process.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Registry } from 'prom-client'
import { systemActor } from '../audit/audit.ts'
import { identity, type IdentityResponse } from '../../contract/identity.ts'
import { onEachEngine, freshStorage } from '../../test/support/engines.ts'
import { createSessionCall } from '../../test/support/console-call.ts'
import {
  type Behaviour,
  cutInBody,
  type FakeUpstream,
  hang,
  html502,
  json,
  late,
  startFakeUpstream,
} from '../../test/support/fake-upstream.ts'
import {
  admin,
  post,
  type ServiceProcess,
  spawnService,
  startService,
  type TestAccount,
  type TestService,
} from '../../test/support/service.ts'
import { findById } from '../accounts/store.ts'
import { checkLedger } from '../credits/ledger/check-store.ts'
import { createJobs } from '../jobs.ts'
import { createIdentity } from './api.ts'
import { createIdentityRecords } from './records.ts'
import { replaceHashSeed } from './store.ts'

const number = '11010519491231002X'
const matched: Behaviour = json(200, { code: '0', data: { result: 1, gender: 2, district: '朝阳区' } })
const verdictOf = (result: unknown): Behaviour => json(200, { code: '0', data: { result } })
const aliyunVerdict = (code: string): Behaviour => json(200, { Code: '200', ResultObject: { BizCode: code } })

onEachEngine('identity through gateways', (engine) => {
  let market: FakeUpstream
  let aliyun: FakeUpstream
  let service: TestService
  let url: string
  before(async () => {
    market = await startFakeUpstream()
    aliyun = await startFakeUpstream()
    service = await startService(engine, {
      IDENTITY_GATEWAYS: 'market,aliyun',
      IDENTITY_MARKET_PRESET: 'sxidcheck',
      IDENTITY_MARKET_URL: `${market.url}idcard/check`,
      IDENTITY_MARKET_APPCODE: 'code',
      ALIYUN_ACCESS_KEY_ID: 'testid',
      ALIYUN_ACCESS_KEY_SECRET: 'testsecret',
      ALIYUN_IDENTITY_ENDPOINT: aliyun.url,
      GATEWAY_TIMEOUT_MS: '1500',
      OPERATION_LEASE_S: '2',
      SWEEP_S: '1',
      IDENTITY_REPEAT_S: '600',
    })
    url = `${service.url}${identity.path}`
  })
  after(async () => {
    const report = await checkLedger(service.installation.db, 10_000)
    assert.deepEqual(report.problems, [])
    await service[Symbol.asyncDispose]()
    await market.close()
    await aliyun.close()
  })

  const verify = (account: TestAccount, name: string, headers: Record<string, string> = {}) =>
    post(url, { api_key: account.key, name, idcard: number }, headers)
  const remaining = async (account: TestAccount) =>
    (await service.app.services.credits.balance(account.id, 'id_verification')).remaining
  const records = (account: TestAccount) =>
    service.installation.db.all<Record<string, unknown>>(
      'SELECT * FROM identity_record WHERE account_id = ? ORDER BY id',
      [account.id],
    )
  function script(first: Behaviour, second: Behaviour): void {
    market.handle(() => first)
    aliyun.handle(() => second)
  }

  it('tries the second gateway after each kind of failure, for one credit', async () => {
    const account = await service.account({ id_verification: 10 })
    const failures = [hang(), cutInBody(), html502(), verdictOf(9), json(200, { code: '7' })]
    for (const [index, failure] of failures.entries()) {
      script(failure, aliyunVerdict(index % 2 ? '2' : '1'))
      const { body } = await verify(account, `甲${'子'.repeat(index + 1)}`)
      assert.deepEqual([body.success, body.matched], [true, index % 2 === 0])
      assert.equal(await remaining(account), 9 - index)
    }
    for (const record of await records(account)) assert.equal(record['gateway'], 'aliyun')
  })

  it('does not try the second gateway after a verdict', async () => {
    const account = await service.account({ id_verification: 10 })
    const asked = aliyun.requests.length
    for (const [result, success, match] of [
      [1, true, true],
      ['2', true, false],
      [3, false, false],
    ] as const) {
      script(verdictOf(result), aliyunVerdict('1'))
      const { body } = await verify(account, `乙${'丑'.repeat(Number(result))}`)
      assert.deepEqual([body.success, body.matched], [success, match])
    }
    assert.equal(aliyun.requests.length, asked)
    assert.equal(await remaining(account), 8)
  })

  it('returns the details of a match', async () => {
    const account = await service.account({ id_verification: 1 })
    script(matched, aliyunVerdict('2'))
    const { body } = await verify(account, '丙寅')
    assert.deepEqual([body.extra.sex, body.extra.district, body.extra.province], ['女', '朝阳区', '北京市'])
  })

  it('refunds when all gateways fail and hides their texts', async () => {
    const account = await service.account({ id_verification: 1 })
    const quoting = json(200, { Code: '402', Message: `丁卯 ${number}` })
    script(json(200, { code: '9', msg: `丁卯 ${number}` }), quoting)
    const { status, body } = await verify(account, '丁卯')
    assert.equal(status, 200)
    assert.match(body.message, /^上游核验失败：/)
    assert.ok(!body.message.includes(number))
    assert.equal(await remaining(account), 1)
    assert.ok(!service.logged.join('').includes(number))
  })

  describe('repeats', () => {
    it('return the last verdict at the same price', async () => {
      const account = await service.account({ id_verification: 10 })
      script(matched, aliyunVerdict('1'))
      await verify(account, '戊辰')
      script(verdictOf(2), aliyunVerdict('2'))
      const asked = market.requests.length
      const { body } = await verify(account, '戊辰')
      assert.deepEqual(
        [body.message, body.matched, body.extra.sex, body.extra.district],
        ['验证通过', true, '女', undefined],
      )
      assert.equal(market.requests.length, asked)
      assert.equal(await remaining(account), 8)
      assert.deepEqual(
        (await records(account)).map((record) => record['gateway']),
        ['market', 'repeat'],
      )
      assert.equal((await verify(account, '己巳')).body.matched, false)
      assert.equal((await verify(account, '己巳')).body.message, '姓名与身份证号不一致')
      assert.equal(market.requests.length, asked + 1)
    })

    it('are replayed for the same Idempotency-Key', async () => {
      const account = await service.account({ id_verification: 10 })
      script(matched, aliyunVerdict('1'))
      await verify(account, '庚午')
      const key = { 'idempotency-key': 'repeat' }
      const first = await verify(account, '庚午', key)
      const again = await verify(account, '庚午', key)
      assert.deepEqual(again.body, first.body)
      assert.equal(await remaining(account), 8)
    })

    it('do not reuse failures or verdicts of other accounts', async () => {
      const account = await service.account({ id_verification: 10 })
      script(verdictOf(3), aliyunVerdict('1'))
      await verify(account, '辛未')
      script(html502(), html502())
      await verify(account, '辛未')
      script(verdictOf(1), aliyunVerdict('1'))
      const asked = market.requests.length
      assert.equal((await verify(account, '辛未')).body.matched, true)
      const other = await service.account({ id_verification: 1 })
      assert.equal((await verify(other, '辛未')).body.matched, true)
      assert.equal(market.requests.length, asked + 2)
    })

    it('end when the secret is rotated', async () => {
      const account = await service.account({ id_verification: 10 })
      script(matched, aliyunVerdict('1'))
      await verify(account, '壬申')
      await service.installation.db.write((tx) => replaceHashSeed(tx, systemActor))
      const asked = market.requests.length
      await verify(account, '壬申')
      assert.equal(market.requests.length, asked + 1)
      const [old, fresh] = await records(account)
      assert.notEqual(old?.['person_hash'], fresh?.['person_hash'])
      assert.equal(fresh?.['generation'], Number(old?.['generation']) + 1)
    })

    it('need credits', async () => {
      const account = await service.account({ id_verification: 1 })
      script(matched, aliyunVerdict('1'))
      await verify(account, '癸酉')
      assert.equal((await verify(account, '癸酉')).body.code, 1004)
    })
  })

  it('returns a failure when the sweeper has already refunded the operation', async (t) => {
    const slow = await startFakeUpstream(() => late(2_500, matched))
    t.after(() => slow.close())
    await using patient = await startService(engine, {
      IDENTITY_GATEWAYS: 'market',
      IDENTITY_MARKET_PRESET: 'sxidcheck',
      IDENTITY_MARKET_URL: slow.url,
      IDENTITY_MARKET_APPCODE: 'code',
      GATEWAY_TIMEOUT_MS: '10000',
      OPERATION_LEASE_S: '1',
      SWEEP_S: '1',
    })
    const account = await patient.account({ id_verification: 3 })
    const body = { api_key: account.key, name: '甲戌', idcard: number }
    const key = { 'idempotency-key': 'late' }
    const reply = await post(`${patient.url}${identity.path}`, body, key)
    assert.match(reply.body.message, /^上游核验失败：/)
    assert.equal(reply.body.matched, false)
    const again = await post(`${patient.url}${identity.path}`, body, key)
    assert.deepEqual(again.body, reply.body)
    const { remaining: left } = await patient.app.services.credits.balance(account.id, 'id_verification')
    assert.equal(left, 3)
    const [record] = await patient.installation.db.all<{ verdict: string; reason: string }>(
      'SELECT verdict, reason FROM identity_record',
    )
    assert.deepEqual({ ...record }, { verdict: 'failed', reason: 'late' })
    assert.deepEqual((await checkLedger(patient.installation.db, 5_000)).problems, [])
  })

  describe('records', () => {
    it('are deleted after the retention period', async () => {
      const account = await service.account({ id_verification: 2 })
      const { db, secretKey } = service.installation
      const old = Date.now() - 181 * 86_400_000
      await db.write(async (tx) => {
        for (let index = 0; index < 1_205; index += 1) {
          await tx.run(
            `INSERT INTO identity_record (account_id, name_mask, number_mask, person_hash, generation, verdict, operation_id,
               request_id, at) VALUES (?, '张*', '1', 'h', 1, 'match', 1, 'r', ?)`,
            [account.id, index < 1_200 ? old : old + 2 * 86_400_000],
          )
        }
      })
      const { signal } = new AbortController()
      const deleteOld = () => createIdentityRecords(db, secretKey).deleteOld(180, signal)
      const deleted = await Promise.all([deleteOld(), deleteOld()])
      assert.equal(deleted[0] + deleted[1], 1_200)
      assert.equal((await records(account)).length, 5)
    })

    it('are deleted at start, also by several processes', async () => {
      const account = await service.account()
      const { services } = service.app
      await services.db.write((tx) =>
        tx.run(
          `INSERT INTO identity_record (account_id, name_mask, number_mask, person_hash, generation, verdict, operation_id,
             request_id, at) VALUES (?, '张*', '1', 'h', 1, 'match', 1, 'r', 0)`,
          [account.id],
        ),
      )
      const jobs = createJobs(services.log, new Registry())
      for (let processes = 0; processes < 2; processes += 1)
        createIdentity({ ...services, jobs, metrics: new Registry() }).start?.()
      await jobs.stop()
      assert.deepEqual(await records(account), [])
    })
  })

  it('from the console: the same price, and the masked history by pages', async () => {
    const { services } = service.app
    const product = createIdentity({ ...services, metrics: new Registry() })
    const made = await service.account({ id_verification: 3 })
    const account = (await findById(service.installation.db, made.id))!
    const verifyFromConsole = async (name: string, idcard = number, by = account) => {
      const call = createSessionCall(identity, { name, idcard })
      return (await product.verify(call, { account: by, keyHash: undefined })).body as IdentityResponse
    }
    script(matched, aliyunVerdict('1'))
    assert.equal((await verifyFromConsole('乙亥')).matched, true)
    script(verdictOf(2), aliyunVerdict('1'))
    assert.equal((await verifyFromConsole('乙丑')).matched, false)
    script(html502(), html502())
    assert.match((await verifyFromConsole('乙寅')).message, /^上游核验失败：/)
    assert.equal(await remaining(made), 1)
    await assert.rejects(verifyFromConsole('乙', '1'), { code: 1002 })
    script(matched, aliyunVerdict('1'))
    await verifyFromConsole('丙子')
    await assert.rejects(verifyFromConsole('丙子'), { code: 1004 })
    await assert.rejects(verifyFromConsole('乙亥', number, { ...account, suspended: 1 }), { code: 1004 })

    const first = await product.history(account.id, { limit: 3 })
    assert.deepEqual(
      first.map((record) => [record.name_mask, record.number_mask, record.verdict]),
      [
        ['丙*', '110105********002X', 'match'],
        ['乙*', '110105********002X', 'failed'],
        ['乙*', '110105********002X', 'mismatch'],
      ],
    )
    const rest = await product.history(account.id, { limit: 3, before: first.at(-1)!.id })
    assert.deepEqual(
      rest.map((record) => record.verdict),
      ['match'],
    )
    assert.deepEqual(await product.history(account.id + 1_000, { limit: 3 }), [])
  })

  it('refunds a call whose process was killed, and its key can be used again', async (t) => {
    const hanging = await startFakeUpstream(() => hang())
    const storage = await freshStorage(engine)
    const started: ServiceProcess[] = []
    t.after(async () => {
      for (const one of started) await one.kill('SIGKILL')
      await hanging.close()
      await storage.remove()
    })
    const environment = {
      ...storage.environment,
      SAMPLE_ACCOUNT: 'off',
      IDENTITY_GATEWAYS: 'market',
      IDENTITY_MARKET_PRESET: 'sxidcheck',
      IDENTITY_MARKET_URL: hanging.url,
      IDENTITY_MARKET_APPCODE: 'code',
      GATEWAY_TIMEOUT_MS: '30000',
      OPERATION_LEASE_S: '1',
      SWEEP_S: '1',
    }
    const made = await admin(
      environment,
      'account',
      'create',
      'killed',
      '--credits',
      'id_verification=2',
      '--json',
    )
    const { api_key: key } = JSON.parse(made.stdout) as { api_key: string }
    const body = { api_key: key, name: '丁丑', idcard: number }
    const header = { 'idempotency-key': 'killed' }
    const first = await spawnService(environment)
    started.push(first)
    const call = post(`${first.url}${identity.path}`, body, header).catch(() => 'cut')
    while (hanging.requests.length === 0) await sleep(20)
    await first.kill('SIGKILL')
    assert.equal(await call, 'cut')

    hanging.handle(() => matched)
    const second = await spawnService(environment)
    started.push(second)
    let reply = await post(`${second.url}${identity.path}`, body, header)
    for (let tries = 0; reply.status === 409 && tries < 100; tries += 1) {
      await sleep(50)
      reply = await post(`${second.url}${identity.path}`, body, header)
    }
    assert.match(reply.body.message, /^上游核验失败：/)
    assert.equal(reply.headers.get('idempotent-replayed'), 'true')
    assert.equal((await post(`${second.url}${identity.path}`, body)).body.matched, true)
    const shown = await admin(environment, 'credits', 'show', 'killed', '--json')
    assert.match(shown.stdout, /"api_type":"id_verification","total":2,"used":1,"remaining":1/)
    const check = await admin(environment, 'ledger', 'check', '--json')
    assert.deepEqual([check.code, JSON.parse(check.stdout).ok], [0, true])
  })
})

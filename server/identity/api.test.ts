// The identity endpoint on both engines, with the sandbox.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { systemActor } from '../audit/audit.ts'
import { identity } from '../../contract/identity.ts'
import { formatDay } from '../../contract/time.ts'
import { onEachEngine } from '../../test/support/engines.ts'
import { get, post, startService, type TestAccount, type TestService } from '../../test/support/service.ts'
import { changeAccount, resetKey } from '../accounts/accounts.ts'
import { findById } from '../accounts/store.ts'
import { checkLedger } from '../credits/ledger/check-store.ts'
import { ageOf } from './number.ts'
import type { VerificationRecord } from './store.ts'

const number = '11010519491231002X'

onEachEngine('identity endpoint', (engine) => {
  let service: TestService
  let url: string
  before(async () => {
    service = await startService(engine)
    url = `${service.url}${identity.path}`
  })
  after(async () => {
    const report = await checkLedger(service.installation.db, 60_000)
    assert.deepEqual(report.problems, [])
    assert.equal(report.open, 0)
    await service[Symbol.asyncDispose]()
  })

  const verify = (account: TestAccount, name: string, headers: Record<string, string> = {}) =>
    post(url, { api_key: account.key, name, idcard: number }, headers)

  async function remaining(account: TestAccount): Promise<number> {
    return (await service.app.services.credits.balance(account.id, 'id_verification')).remaining
  }

  function records(account: TestAccount): Promise<VerificationRecord[]> {
    return service.installation.db.all('SELECT * FROM identity_record WHERE account_id = ? ORDER BY id', [
      account.id,
    ])
  }

  describe('outcomes', () => {
    it('match', async () => {
      const account = await service.account({ id_verification: 5 })
      const { status, body } = await verify(account, '张三')
      assert.equal(status, 200)
      assert.deepEqual(body, {
        success: true,
        message: '验证通过',
        matched: true,
        extra: {
          sex: '女',
          birthday: '1949-12-31',
          age: ageOf(number, formatDay(Date.now())),
          province: '北京市',
        },
      })
      assert.equal(await remaining(account), 4)
      const [record, ...others] = await records(account)
      assert.deepEqual(others, [])
      assert.ok(record)
      assert.deepEqual(
        [record.name_mask, record.number_mask, record.verdict, record.gateway, record.reason],
        ['张*', '110105********002X', 'match', 'sandbox', null],
      )
    })

    it('mismatch is charged', async () => {
      const account = await service.account({ id_verification: 5 })
      const { status, body } = await verify(account, '不匹配')
      assert.equal(status, 200)
      assert.deepEqual(body, { success: true, message: '姓名与身份证号不一致', matched: false, extra: {} })
      assert.equal(await remaining(account), 4)
    })

    it('no record is refunded', async () => {
      const account = await service.account({ id_verification: 5 })
      const { status, body } = await verify(account, '无记录')
      assert.equal(status, 200)
      assert.deepEqual([body.success, body.matched, body.extra], [false, false, {}])
      assert.ok(!body.message.startsWith('上游核验失败：'))
      assert.equal(await remaining(account), 5)
    })

    it('an upstream failure is refunded', async () => {
      const account = await service.account({ id_verification: 5 })
      for (let times = 0; times < 8; times += 1) {
        const { status, body } = await verify(account, '上游故障')
        assert.equal(status, 200)
        assert.deepEqual(Object.keys(body), ['success', 'message', 'matched', 'extra'])
        assert.deepEqual([body.success, body.matched, body.extra], [false, false, {}])
        assert.match(body.message, /^上游核验失败：./)
      }
      assert.equal(await remaining(account), 5)
      assert.equal((await verify(account, '张三')).body.matched, true)
      const [first] = await records(account)
      assert.deepEqual([first?.verdict, first?.reason], ['failed', 'sandbox_failure'])
    })

    it('responds in English on request', async () => {
      const account = await service.account({ id_verification: 5 })
      const english = { 'accept-language': 'en-GB,zh;q=0.5' }
      assert.equal((await verify(account, '张三', english)).body.message, 'Verified')
      assert.equal((await verify(account, '张三', english)).body.extra.sex, '女')
      assert.match(
        (await verify(account, '上游故障', english)).body.message,
        /^Upstream verification failed: /,
      )
      const wrong = await post(url, { api_key: account.key, name: 'x', idcard: '1' }, english)
      assert.equal(wrong.body.message, 'name must have 2 to 50 characters; idcard must have 18 characters')
    })
  })

  describe('parameters', () => {
    let account: TestAccount
    before(async () => {
      account = await service.account({ id_verification: 100 })
    })
    after(async () => assert.equal((await records(account)).length, 100 - (await remaining(account))))

    it('come from every source', async () => {
      const query = new URLSearchParams({
        api_key: account.key,
        name: '欧阳·娜娜',
        idcard: number.toLowerCase(),
      })
      const form = { 'content-type': 'application/x-www-form-urlencoded' }
      const bytes = { name: Buffer.from('欧阳娜娜').toString('latin1'), idcard: number, api_key: account.key }
      const multipart = new FormData()
      for (const [name, value] of query) multipart.set(name, value)
      const replies = [
        await fetch(`${url}?${query.toString()}`),
        await fetch(url, { method: 'POST', body: query.toString(), headers: form }),
        await fetch(url, { method: 'POST', body: multipart }),
        await fetch(url, { headers: bytes }),
        await fetch(url, { headers: { ...bytes, 'api-key': account.key } }),
        await fetch(`${url}?name=${encodeURIComponent('张三')}`, {
          method: 'POST',
          body: JSON.stringify({ idcard: number }),
          headers: { 'content-type': 'application/json', api_key: account.key },
        }),
        await fetch(url, {
          method: 'POST',
          body: Buffer.concat([
            Buffer.from(`api_key=${account.key}&idcard=${number}&name=`),
            Buffer.from([0xd5, 0xc5, 0xc8, 0xfd]),
          ]),
          headers: { 'content-type': 'application/x-www-form-urlencoded; charset=gbk' },
        }),
      ]
      for (const reply of replies) assert.equal(((await reply.json()) as { matched: boolean }).matched, true)
    })

    it('1001 names everything missing', async () => {
      const nothing = await post(url, {})
      assert.deepEqual(
        [nothing.status, nothing.body],
        [401, { code: 1001, message: 'api_key 缺失；name 缺失；idcard 缺失' }],
      )
      const keyOnly = await get(`${url}?api_key=${account.key}`)
      assert.deepEqual(
        [keyOnly.status, keyOnly.body],
        [400, { code: 1001, message: 'name 缺失；idcard 缺失' }],
      )
      const noKey = await post(url, { name: '张三', idcard: number })
      assert.deepEqual([noKey.status, noKey.body], [401, { code: 1001, message: 'api_key 缺失' }])
      const mixed = await post(url, { api_key: account.key, idcard: '110105194912310021', name: '  ' })
      assert.deepEqual(mixed.body, { code: 1001, message: 'idcard 校验位错误；name 缺失' })
    })

    it('1002 names the rule without quoting the value', async () => {
      const cases: [unknown, unknown, RegExp][] = [
        ['张', number, /^name 必须是 2 至 50 个字符$/],
        ['张3', number, /^name 只能包含/],
        ['张三', '110105194912310021', /^idcard 校验位错误$/],
        ['张三', '11010519490231002X', /idcard 出生日期无效/],
        ['张三', '123', /^idcard 必须是 18 位$/],
        ['张三', 110_105, /^idcard 必须是 18 位$/],
        ['张三', 1.5e300, /^idcard 数字无法精确表示/],
        [['张三'], { a: 1 }, /^name 必须是文本；idcard 必须是文本$/],
        ['张3', '110105194912310021', /^name .*；idcard 校验位错误$/],
      ]
      for (const [name, idcard, message] of cases) {
        const { status, body } = await post(url, { api_key: account.key, name, idcard })
        assert.equal(status, 400)
        assert.equal(body.code, 1002)
        assert.match(body.message, message)
        assert.ok(!body.message.includes('张') && !/\d{6}/.test(body.message))
      }
    })

    it('a number sent as a JSON number keeps its digits', async () => {
      const holder = await service.account({ id_verification: 1 })
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: `{"api_key":"${holder.key}","name":"张三","idcard":110105199001010010}`,
      })
      assert.equal(((await response.json()) as { matched?: boolean }).matched, true)
    })

    it('rejects 100 kB', async () => {
      const { body } = await post(url, {
        api_key: account.key,
        name: '张'.repeat(33_000),
        idcard: '1'.repeat(100_000),
      })
      assert.deepEqual(body, { code: 1002, message: 'name 必须是 2 至 50 个字符；idcard 必须是 18 位' })
    })

    it('other methods and malformed bodies get the error format of the endpoint', async () => {
      const put = await fetch(url, { method: 'PUT' })
      assert.deepEqual([put.status, put.headers.get('allow')], [405, 'GET, POST'])
      assert.equal(((await put.json()) as { code: number }).code, 1002)
      const broken = await fetch(url, {
        method: 'POST',
        body: '{',
        headers: { 'content-type': 'application/json' },
      })
      assert.deepEqual([broken.status, ((await broken.json()) as { code: number }).code], [400, 1002])
    })
  })

  describe('access', () => {
    it('1003 for a wrong, a reset and a cleared key', async () => {
      const account = await service.account({ id_verification: 1 })
      const old = account.key
      const key = await resetKey(service.installation.db, systemActor, account.id)
      const mistyped = `${key.slice(0, -1)}${key.endsWith('x') ? 'y' : 'x'}`
      for (const wrong of [old, 'nonsense', mistyped]) {
        const { status, body } = await post(url, { api_key: wrong, name: '张三', idcard: number })
        assert.deepEqual([status, body.code], [401, 1003])
      }
      assert.equal((await post(url, { api_key: key, name: '张三', idcard: number })).body.matched, true)
    })

    it('1004 without credits', async () => {
      const account = await service.account()
      const { status, body } = await verify(account, '张三')
      assert.deepEqual([status, body], [403, { code: 1004, message: '身份核验调用次数不足' }])
      assert.deepEqual(await records(account), [])
    })

    it('1004 for suspended and expired accounts, after the parameters', async () => {
      const { db } = service.installation
      const account = await service.account({ id_verification: 5 })
      const row = (await findById(db, account.id))!
      await changeAccount(db, systemActor, row, { suspended: true })
      assert.deepEqual((await verify(account, '张三')).body, { code: 1004, message: '账户已停用' })
      assert.equal((await verify(account, '张')).body.code, 1002)
      await changeAccount(db, systemActor, row, { suspended: false, expires: '2020-01-01' })
      const expired = await verify(account, '张三')
      assert.deepEqual([expired.status, expired.body], [403, { code: 1004, message: '账户已过期' }])
      assert.equal(await remaining(account), 5)
    })
  })

  describe('credits', () => {
    it('exactly 10 of 100 concurrent calls with 10 credits succeed', async () => {
      const account = await service.account({ id_verification: 10 })
      const replies = await Promise.all(Array.from({ length: 100 }, () => verify(account, '张三')))
      assert.equal(replies.filter((reply) => reply.body.matched === true).length, 10)
      assert.equal(replies.filter((reply) => reply.body.code === 1004).length, 90)
      assert.equal(await remaining(account), 0)
      assert.equal((await records(account)).length, 10)
    })

    it('100 concurrent failing calls are all refunded', async () => {
      const account = await service.account({ id_verification: 10 })
      await Promise.all(
        Array.from({ length: 100 }, (_, index) => verify(account, index % 2 ? '上游故障' : '无记录')),
      )
      assert.equal(await remaining(account), 10)
    })

    it('replays the first response for the same Idempotency-Key free of charge', async () => {
      const account = await service.account({ id_verification: 5 })
      for (const name of ['张三', '不匹配', '无记录', '上游故障']) {
        const left = await remaining(account)
        const key = { 'idempotency-key': `key-${name.codePointAt(0)}` }
        const first = await verify(account, name, key)
        const spent = left - (await remaining(account))
        assert.equal(spent, name === '张三' || name === '不匹配' ? 1 : 0)
        const again = await verify(account, name, key)
        assert.deepEqual(again.body, first.body)
        assert.equal(again.headers.get('idempotent-replayed'), 'true')
        assert.equal(left - (await remaining(account)), spent)
        const other = await verify(account, '李四', key)
        assert.deepEqual([other.status, other.body.code], [422, 1002])
      }
      assert.equal((await records(account)).length, 4)
    })

    it('charges once for twenty concurrent calls with one key', async () => {
      const account = await service.account({ id_verification: 5 })
      const key = { 'idempotency-key': 'same' }
      const replies = await Promise.all(Array.from({ length: 20 }, () => verify(account, '张三', key)))
      for (const { status, body } of replies) assert.ok(status === 409 ? body.code === 1005 : body.matched)
      assert.equal(await remaining(account), 4)
    })
  })

  it('metrics count outcomes by gateway', async () => {
    const text = await service.app.services.metrics.metrics()
    for (const outcome of ['match', 'mismatch', 'no_record', 'failed']) {
      assert.match(
        text,
        new RegExp(`tollgate_identity_outcomes_total\\{gateway="sandbox",outcome="${outcome}"\\} [1-9]`),
      )
    }
  })
})

describe('ERROR_HTTP_STATUS=ok', () => {
  it('returns errors with status 200', async () => {
    await using service = await startService('sqlite', { ERROR_HTTP_STATUS: 'ok' })
    const { status, body } = await post(`${service.url}${identity.path}`, {})
    assert.deepEqual([status, body.code], [200, 1001])
  })
})

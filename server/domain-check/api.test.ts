// The domain check endpoint on both engines: results, price, refunds and errors.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { systemActor } from '../audit/audit.ts'
import { domainCheck as endpoint } from '../../contract/domain-check.ts'
import { onEachEngine } from '../../test/support/engines.ts'
import { createSessionCall } from '../../test/support/console-call.ts'
import { get, post, startService, type TestAccount, type TestService } from '../../test/support/service.ts'
import { changeAccount, requireAccount } from '../accounts/accounts.ts'
import { checkLedger } from '../credits/ledger/check-store.ts'
import { deleteOldRuns, insertRun } from './run-store.ts'

const path = '/api/video_platform_check.php'

onEachEngine('domain check', (engine) => {
  let service: TestService
  before(async () => {
    service = await startService(engine)
  })
  after(() => service[Symbol.asyncDispose]())

  const credentials = ({ username, key }: TestAccount) => ({ username, api_key: key })
  const check = (account: TestAccount, body: object, headers: Record<string, string> = {}, at = service) =>
    post(at.url + path, { ...credentials(account), ...body }, headers)
  const remaining = async (account: TestAccount, at = service) =>
    (await at.app.services.credits.balance(account.id, 'domain_check')).remaining
  const assertLedgerIsValid = async (at = service) => {
    const report = await checkLedger(at.installation.db, 0)
    assert.deepEqual(report.problems, [])
    assert.equal(report.open, 0)
  }

  test('returns the submitted texts, the results in order, and the balance', async () => {
    const account = await service.account({ domain_check: 10 })
    const urls = ['example.com', ' 例子.中国/路 ', 'x.blocked.test', 'not a url', 'down.test']
    const { status, body } = await check(account, { urls })
    assert.equal(status, 200)
    assert.deepEqual(body, {
      code: 0,
      message: 'success',
      data: {
        all_urls: urls.map((url) => ({ url, type: 'original' })),
        results: ['未拦截', '未拦截', '已拦截', '无效URL', '请求失败'],
        remaining_credits: 6,
      },
    })
    assert.equal(await remaining(account), 6)
    await assertLedgerIsValid()
  })

  test('appends a random subdomain of each address at the same price', async () => {
    const account = await service.account({ domain_check: 100 })
    const urls = ['example.com', 'HTTPS://Blocked.test:8443/a?b', 'com', 'down.test', 'example.com']
    const { body } = await check(account, { urls, check_random: true })
    const { all_urls: all, results, remaining_credits: left } = body.data
    assert.deepEqual(
      all.map(({ type }: { type: string }) => type),
      [...Array(5).fill('original'), ...Array(5).fill('random')],
    )
    assert.match(all[5].url, /^[a-z][a-z0-9]{7}\.example\.com$/)
    assert.match(all[6].url, /^HTTPS:\/\/[a-z][a-z0-9]{7}\.Blocked\.test:8443\/a\?b$/)
    assert.notEqual(all[5].url, all[9].url)
    const each = ['未拦截', '已拦截', '无效URL', '请求失败', '未拦截']
    assert.deepEqual(results, [...each, ...each])
    assert.equal(left, 100 - 10 + 2)
    assert.equal(await remaining(account), left)
  })

  test('reads parameters from every source', async () => {
    const account = await service.account({ domain_check: 100 })
    const { username, key } = account
    const results = (reply: { body: { data?: { results?: string[] } } }) => reply.body.data?.results
    const headers = { username, 'api-key': key }
    const expected = ['未拦截', '已拦截']
    const form = await fetch(service.url + path, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
      body: 'urls[]=a.com&urls[]=blocked.test&check_random=0',
    })
    assert.deepEqual(results({ body: (await form.json()) as { data?: { results?: string[] } } }), expected)
    assert.deepEqual(
      results(await get(`${service.url}${path}?urls=a.com&urls=blocked.test`, headers)),
      expected,
    )
    assert.deepEqual(results(await get(`${service.url}${path}?urls=a.com%0Ablocked.test`, headers)), expected)
    assert.deepEqual(
      results(await post(service.url + path, { urls: '["a.com","blocked.test"]' }, headers)),
      expected,
    )
    const random = await get(`${service.url}${path}?urls=a.com&check_random=TRUE`, headers)
    assert.equal(results(random)?.length, 2)
  })

  test('rejects invalid input free of charge', async () => {
    const account = await service.account({ domain_check: 5 })
    const cases: readonly (readonly [object, number])[] = [
      [{}, 1001],
      [{ urls: [] }, 1001],
      [{ urls: '' }, 1001],
      [{ urls: ['', '  '] }, 1001],
      [{ urls: null }, 1001],
      [{ urls: ['a.com', 1] }, 1002],
      [{ urls: ['a.com', null] }, 1002],
      [{ urls: [['a.com']] }, 1002],
      [{ urls: { a: 'a.com' } }, 1002],
      [{ urls: 7 }, 1002],
      [{ urls: ['a.com'], check_random: 'maybe' }, 1002],
      [{ urls: ['a.com'], check_random: 2 }, 1002],
      [{ urls: Array(501).fill('a.com') }, 1002],
    ]
    for (const [body, code] of cases) {
      const reply = await check(account, body)
      assert.equal(reply.body.code, code, JSON.stringify(body).slice(0, 80))
      assert.equal(reply.status, 400)
      assert.equal(reply.body.data, undefined)
    }
    const both = await check(account, { urls: Array(501).fill('a.com'), check_random: 'x' })
    assert.match(both.body.message, /urls .*500.*/)
    assert.match(both.body.message, /check_random/)
    const wrongKey = await check({ ...account, key: 'tg_wrong' }, { urls: ['a.com'] })
    assert.deepEqual([wrongKey.status, wrongKey.body.code], [401, 1003])
    assert.equal(await remaining(account), 5)
  })

  test('accepts exactly the limit', async () => {
    const account = await service.account({ domain_check: 500 })
    const { body } = await check(account, { urls: Array.from({ length: 500 }, (_, i) => `h${i}.com`) })
    assert.equal(body.data.results.length, 500)
    assert.equal(body.data.remaining_credits, 0)
  })

  test('returns 1004 when the credits do not cover every item', async () => {
    const account = await service.account({ domain_check: 3 })
    const reply = await check(account, { urls: ['a.com', 'b.com'], check_random: true })
    assert.deepEqual([reply.status, reply.body], [403, { code: 1004, message: '调用次数不足' }])
    assert.equal(await remaining(account), 3)
    assert.equal((await check(account, { urls: ['a.com', 'b.com', 'x'] })).body.data.remaining_credits, 0)
  })

  test('rejects expired and suspended accounts', async () => {
    const { db } = service.installation
    const account = await service.account({ domain_check: 3 })
    await changeAccount(db, systemActor, await requireAccount(db, account.username), {
      expires: '2020-01-01',
    })
    const expired = await check(account, { urls: ['a.com'] })
    assert.deepEqual([expired.status, expired.body], [403, { code: 1004, message: '账户已过期' }])
    await changeAccount(db, systemActor, await requireAccount(db, account.username), {
      expires: 'never',
      suspended: true,
    })
    assert.deepEqual((await check(account, { urls: ['a.com'] })).body.code, 1004)
    assert.equal(await remaining(account), 3)
  })

  test('accepts ten of a hundred concurrent calls with ten credits', async () => {
    const account = await service.account({ domain_check: 10 })
    const replies = await Promise.all(Array.from({ length: 100 }, () => check(account, { urls: ['a.com'] })))
    assert.equal(replies.filter(({ body }) => body.code === 0).length, 10)
    assert.equal(replies.filter(({ body }) => body.code === 1004).length, 90)
    assert.equal(await remaining(account), 0)
    await assertLedgerIsValid()
  })

  test('replays the same response for the same Idempotency-Key', async () => {
    const account = await service.account({ domain_check: 20 })
    const body = { urls: ['a.com', 'down.test', 'nonsense'], check_random: true }
    const key = { 'idempotency-key': 'once' }
    const first = await check(account, body, key)
    await check(account, { urls: ['a.com'] })
    const again = await check(account, body, key)
    assert.equal(again.headers.get('idempotent-replayed'), 'true')
    assert.deepEqual(again.body, first.body)
    assert.equal(first.body.data.remaining_credits, 16)
    assert.equal(await remaining(account), 15)
    const other = await check(account, { ...body, check_random: false }, key)
    assert.deepEqual([other.status, other.body.code], [422, 1002])
    await assertLedgerIsValid()
  })

  test('charges concurrent calls with one Idempotency-Key once', async () => {
    const account = await service.account({ domain_check: 20 })
    const replies = await Promise.all(
      Array.from({ length: 20 }, () =>
        check(account, { urls: ['a.com', 'down.test'] }, { 'idempotency-key': 'k' }),
      ),
    )
    for (const { status } of replies) assert.ok(status === 200 || status === 409, String(status))
    assert.equal(await remaining(account), 19)
    await assertLedgerIsValid()
  })

  test('returns 1005 and refunds without any gateway', async () => {
    await using without = await startService(engine, { DOMAIN_GATEWAYS: 'off' })
    const account = await without.account({ domain_check: 5 })
    const key = { 'idempotency-key': 'k' }
    const reply = await check(account, { urls: ['a.com', 'x'] }, key, without)
    assert.deepEqual([reply.status, reply.body.code], [502, 1005])
    const again = await check(account, { urls: ['a.com', 'x'] }, key, without)
    assert.deepEqual([again.body, again.headers.get('idempotent-replayed')], [reply.body, 'true'])
    assert.equal(await remaining(account, without), 5)
    await assertLedgerIsValid(without)
  })

  test('prices are settings', async () => {
    await using expensive = await startService(engine, { PRICES: 'domain=3' })
    const account = await expensive.account({ domain_check: 10 })
    const { body } = await check(account, { urls: ['a.com', 'down.test'] }, {}, expensive)
    assert.equal(body.data.remaining_credits, 7)
    assert.equal((await check(account, { urls: ['a', 'b', 'c'] }, {}, expensive)).body.code, 1004)
    await assertLedgerIsValid(expensive)
  })

  test('a check from the console has the same price, stores its results and starts once per key', async () => {
    const { domainCheck, services } = service.app
    assert.equal(services.config.DOMAIN_MAX_URLS, 500)
    const made = await service.account({ domain_check: 10 })
    const account = await requireAccount(service.installation.db, made.username)
    const start = (urls: readonly string[], key?: string) =>
      domainCheck.runs.start(
        { ...createSessionCall(endpoint, { urls }), idempotencyKey: key },
        { account, keyHash: undefined },
        { urls, checkRandom: false },
      )
    const urls = ['a.com', '', 'down.test', 'blocked.test', 'no address']
    const [one, other] = await Promise.all([start(urls, 'k'), start(urls, 'k')])
    assert.equal(one.runId, other.runId)
    assert.equal([one, other].filter(({ finished }) => finished !== undefined).length, 1)
    const answer = (await (one.finished ?? other.finished))!
    const { data } = answer.body as { data: { results: string[]; remaining_credits: number } }
    assert.deepEqual(data.results, ['未拦截', '请求失败', '已拦截', '无效URL'])
    assert.equal(data.remaining_credits, 7)

    const run = (await domainCheck.runs.find(account.id, one.runId))!
    assert.deepEqual(run.results, data.results)
    assert.deepEqual([run.state, run.total, run.done, run.charged, run.givenBack], ['done', 4, 4, 4, 1])
    assert.deepEqual(run.counts, { 未拦截: 1, 请求失败: 1, 已拦截: 1, 无效URL: 1 })
    assert.equal((await start(urls, 'k')).finished, undefined)
    await assert.rejects(start(['other.com'], 'k'), { code: 1002, status: 422 })
    await assert.rejects(start(Array<string>(8).fill('a.com')), { code: 1004 })
    await assert.rejects(start([' ']), { code: 1001 })
    assert.equal(await domainCheck.runs.find(account.id + 1, one.runId), undefined)
    assert.deepEqual(
      (await domainCheck.runs.list(account.id, {}, 10)).map(({ id }) => id),
      [one.runId],
    )
    await assertLedgerIsValid()
  })

  test('a check from the console fails after the refund when its process died', async () => {
    const { domainCheck, services } = service.app
    const { db } = service.installation
    const made = await service.account({ domain_check: 5 })
    const charged = await services.credits.charge({
      accountId: made.id,
      apiType: 'domain_check',
      action: 'domain.check',
      cost: 2,
      requestId: 'r',
      leaseMs: 60_000,
    })
    assert.ok(charged.kind === 'charged')
    const { operationId } = charged
    const run = { accountId: made.id, operationId, idempotencyKey: undefined, fingerprint: 'f', total: 2 }
    const id = await db.write((tx) => insertRun(tx, { ...run, items: '[{"url":"a.com","type":"original"}]' }))
    assert.equal((await domainCheck.runs.find(made.id, id!))?.state, 'running')
    await services.credits.end({ accountId: made.id, operationId, end: { state: 'refunded' } })
    const found = await domainCheck.runs.find(made.id, id!)
    assert.deepEqual([found?.state, found?.givenBack, found?.results], ['failed', 2, [null]])
    await db.write((tx) => tx.run('UPDATE domain_run SET at = 0 WHERE id = ?', [id!]))
    assert.equal(await deleteOldRuns(db, 90, new AbortController().signal), 1)
    await assertLedgerIsValid()
  })
})

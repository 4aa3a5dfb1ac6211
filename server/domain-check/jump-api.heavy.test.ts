// The API through the jump gateway, and the canaries that it has to pass.
import assert from 'node:assert/strict'
import dns from 'node:dns'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type FakeUpstream, hang, startFakeUpstream, text } from '../../test/support/fake-upstream.ts'
import { onEachEngine } from '../../test/support/engines.ts'
import { post, startService, type TestService } from '../../test/support/service.ts'
import { checkLedger } from '../credits/ledger/check-store.ts'

const path = '/api/video_platform_check.php'

onEachEngine('domain check behind the jump page', (engine) => {
  let platform: FakeUpstream
  let service: TestService
  before(async () => {
    platform = await startFakeUpstream((request) => {
      const host = new URL(request.query.get('target')!).hostname
      if (host.includes('hang')) return hang()
      if (host.includes('stop')) return text(200, '<h1>已停止访问</h1>')
      if (host.includes('odd')) return text(200, '<h1>验证</h1>')
      return text(302, '', { location: request.query.get('target')! })
    })
    service = await startService(engine, {
      DOMAIN_GATEWAYS: 'jump',
      DOMAIN_JUMP_URL: `${platform.url}?target={url}`,
      GATEWAY_TIMEOUT_MS: '1000',
      DOMAIN_DEADLINE_MS: '400',
      OPERATION_LEASE_S: '1',
      SWEEP_S: '1',
    })
  })
  after(async () => {
    await service[Symbol.asyncDispose]()
    await platform.close()
  })

  test('refunds the items that are not done at the deadline', async () => {
    const account = await service.account({ domain_check: 50 })
    const urls = [
      'fine.example',
      'stop.example',
      'odd.example',
      ...Array.from({ length: 30 }, (_, i) => `hang${i}.example`),
    ]
    const already = platform.requests.length
    const { body } = await post(service.url + path, {
      username: account.username,
      api_key: account.key,
      urls,
    })
    assert.equal(body.code, 0)
    assert.deepEqual(body.data.results.slice(0, 3), ['未拦截', '已拦截', '请求失败'])
    assert.deepEqual([...new Set(body.data.results.slice(3))], ['请求失败'])
    assert.equal(body.data.remaining_credits, 48)
    assert.ok(platform.requests.length - already <= 19, 'sixteen at a time')
    for (const { target } of platform.requests) assert.ok(!target.includes(account.key))
  })

  test('refunds the items when the platform is down', async () => {
    const gone = await startFakeUpstream()
    await gone.close()
    await using down = await startService(engine, {
      DOMAIN_GATEWAYS: 'jump',
      DOMAIN_JUMP_URL: `${gone.url}?target={url}`,
    })
    const account = await down.account({ domain_check: 50 })
    const urls = Array.from({ length: 50 }, (_, i) => `h${i}.example`)
    const { body } = await post(down.url + path, { username: account.username, api_key: account.key, urls })
    assert.equal(body.code, 0)
    assert.deepEqual([...new Set(body.data.results)], ['请求失败'])
    assert.equal(body.data.remaining_credits, 50)
    const { problems } = await checkLedger(down.installation.db, 0)
    assert.deepEqual(problems, [])
  })

  test(
    'a settle that comes after the sweeper is refused: 1005, and everything back once',
    { timeout: 60_000 },
    async () => {
      const account = await service.account({ domain_check: 5 })
      const { db } = service.installation
      const running = post(service.url + path, {
        username: account.username,
        api_key: account.key,
        urls: ['hang.example', 'fine.example'],
      })
      // As if this process had been stopped for longer than its lease.
      let overdue = 0
      while (overdue === 0) {
        await sleep(5)
        overdue = await db.write((tx) =>
          tx.run(`UPDATE operation SET lease_until = 0 WHERE state = 'held' AND account_id = ?`, [
            account.id,
          ]),
        )
      }
      const operation = await db.one<{ id: number }>('SELECT id FROM operation WHERE account_id = ?', [
        account.id,
      ])
      await service.app.services.credits.end({
        accountId: account.id,
        operationId: operation!.id,
        end: { state: 'refunded' },
      })
      const { status, body } = await running
      assert.deepEqual([status, body.code, body.data], [502, 1005, undefined])
      assert.equal((await service.app.services.credits.balance(account.id, 'domain_check')).remaining, 5)
      assert.deepEqual((await checkLedger(db, 0)).problems, [])
    },
  )

  test('never resolves or contacts submitted hosts', async (t) => {
    const lookup = t.mock.method(dns, 'lookup')
    const resolve = t.mock.method(dns, 'resolve')
    const account = await service.account({ domain_check: 50 })
    const site = await startFakeUpstream()
    const urls = [
      'fine.example',
      `http://stop.example:${site.port}/`,
      'localhost',
      site.url,
      `localhost:${site.port}`,
    ]
    const { body } = await post(service.url + path, {
      username: account.username,
      api_key: account.key,
      urls,
      check_random: true,
    })
    assert.deepEqual(body.data.results.slice(0, 5), ['未拦截', '已拦截', '无效URL', '无效URL', '无效URL'])
    const names = [...lookup.mock.calls, ...resolve.mock.calls].map((call) => String(call.arguments[0]))
    assert.deepEqual(
      names.filter((name) => name.includes('example')),
      [],
    )
    assert.equal(site.requests.length, 0)
    await site.close()
  })

  test('logs nothing that a caller submits', () => {
    const logged = service.logged.join('')
    assert.ok(logged.includes('domain-check'))
    assert.ok(!logged.includes('fine.example') && !logged.includes('hang0'))
  })
})

onEachEngine('the canary job', (engine) => {
  test(
    'a platform that lets everything pass is not believed, until it makes sense again',
    { timeout: 60_000 },
    async () => {
      let lets = true
      const platform = await startFakeUpstream((request) => {
        const target = request.query.get('target')!
        return !lets && target.includes('bad') ? text(200, '停止访问') : text(302, '', { location: target })
      })
      await using service = await startService(engine, {
        DOMAIN_GATEWAYS: 'jump',
        DOMAIN_JUMP_URL: `${platform.url}?target={url}`,
        DOMAIN_CANARY_GOOD: 'good.example',
        DOMAIN_CANARY_BAD: 'bad.example',
        DOMAIN_CANARY_S: '1',
      })
      const account = await service.account({ domain_check: 5 })
      const check = async () =>
        (
          await post(service.url + path, {
            username: account.username,
            api_key: account.key,
            urls: ['a.example'],
          })
        ).body.data
      const [gateway] = service.app.domainCheck.gateways
      const until = async (state: string) => {
        while (gateway!.state !== state) await sleep(10)
      }
      await until('distrusted')
      assert.deepEqual((await check()).results, ['请求失败'])
      assert.match(
        await service.app.services.metrics.metrics(),
        /tollgate_domain_gateway_up\{gateway="jump"\} 0/,
      )
      assert.ok(service.logged.some((line) => line.includes('wrong canary verdicts')))
      lets = false
      await until('up')
      assert.deepEqual((await check()).results, ['未拦截'])
      assert.equal((await check()).remaining_credits, 3)
      assert.match(
        await service.app.services.metrics.metrics(),
        /tollgate_domain_gateway_up\{gateway="jump"\} 1/,
      )
      await platform.close()
    },
  )
})

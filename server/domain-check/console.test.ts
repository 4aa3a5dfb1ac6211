// Console routes for domain checks: running and finished runs, and the watch list.
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { domainCheckRoutes } from '../../contract/console/domain-check.ts'
import type { Browser } from '../../test/support/console.ts'
import { onEachEngine } from '../../test/support/engines.ts'
import { openProductPages, type ProductPages } from '../../test/support/product-pages.ts'
import type { TestService } from '../../test/support/service.ts'

onEachEngine('domain check in the console', (engine) => {
  let pages: ProductPages
  let service: TestService
  let otherBrowser: Browser

  before(async () => {
    pages = await openProductPages(engine)
    ;({ service, otherBrowser } = pages)
  })
  after(() => pages[Symbol.asyncDispose]())

  async function finished(by: Browser, id: number) {
    for (;;) {
      const { body } = await by.call(domainCheckRoutes.run, { parts: { id } })
      if (body.state !== 'running') return body
      await sleep(20)
    }
  }

  /** The verdicts of the watch list, once the entry at this index has one: the job of the service may check it first. */
  async function verdicts(by: Browser, index: number): Promise<(string | null)[]> {
    for (;;) {
      await service.app.domainCheck.watch.round()
      const { items } = (await by.call(domainCheckRoutes.watches)).body
      if (items[index].verdict !== null) return items.map((one: { verdict: string | null }) => one.verdict)
      await sleep(20)
    }
  }

  it('starts a check, shows it while it runs, exports it', async () => {
    const { browser: own, account } = await pages.createAccount({ domain_check: 10 })
    const sent = { urls: ['a.com', 'blocked.test', 'down.test', 'no address'], check_random: true }
    const headers = { 'idempotency-key': 'run-1' }
    const started = await own.call(domainCheckRoutes.start, { sent, headers })
    assert.equal(started.status, 200)
    assert.deepEqual([started.body.total, started.body.charged], [8, 8])
    assert.equal((await own.call(domainCheckRoutes.start, { sent, headers })).body.id, started.body.id)
    const run = await finished(own, started.body.id)
    assert.deepEqual(run.counts, { 未拦截: 2, 已拦截: 2, 无效URL: 2, 请求失败: 2 })
    assert.deepEqual([run.state, run.done, run.given_back], ['done', 8, 2])
    assert.deepEqual(
      run.results.slice(0, 4).map((one: { verdict: string }) => one.verdict),
      ['未拦截', '已拦截', '请求失败', '无效URL'],
    )
    assert.equal(run.results[4].random, true)
    assert.equal(await pages.remaining('domain_check', account), 4)
    const call = await pages.loadRequest(started.body.request_id, own)
    assert.deepEqual(
      [call.endpoint, call.action, call.charged, call.given_back],
      ['domain-check', 'check', 8, 2],
    )

    const poor = await own.call(domainCheckRoutes.start, { sent: { urls: Array<string>(5).fill('a.com') } })
    assert.deepEqual([poor.status, poor.body.error.code], [409, 'insufficient'])
    const empty = await own.call(domainCheckRoutes.start, { sent: { urls: [' '] } })
    assert.deepEqual(Object.keys(empty.body.error.fields), ['urls'])
    const many = await own.call(domainCheckRoutes.start, {
      sent: { urls: Array<string>(501).fill('a.com') },
    })
    assert.deepEqual(Object.keys(many.body.error.fields), ['urls'])

    const runs = await own.call(domainCheckRoutes.runs)
    assert.deepEqual(
      runs.body.items.map((one: { id: number }) => one.id),
      [started.body.id],
    )
    const file = await own.text(domainCheckRoutes.runCsv, { parts: { id: started.body.id } })
    assert.equal(file.text.trim().split('\r\n').length, 9)
    for (const route of [domainCheckRoutes.run, domainCheckRoutes.runCsv]) {
      assert.equal((await otherBrowser.call(route, { parts: { id: started.body.id } })).status, 404)
    }
    assert.deepEqual((await otherBrowser.call(domainCheckRoutes.runs)).body.items, [])
  })

  it('keeps a watch list per account, with history', async () => {
    const { browser: own } = await pages.createAccount({ domain_check: 10 })
    const add = (url: string, every_minutes = 30) =>
      own.call(domainCheckRoutes.addWatch, { sent: { url, every_minutes } })
    const watch = (await add('blocked.test')).body
    assert.deepEqual(
      [watch.url, watch.every_minutes, watch.paused, watch.verdict],
      ['blocked.test', 30, false, null],
    )
    assert.deepEqual(Object.keys((await add('blocked.test')).body.error.fields), ['url'])
    assert.deepEqual(Object.keys((await add('no address')).body.error.fields), ['url'])
    assert.deepEqual(Object.keys((await add('b.com', 1)).body.error.fields), ['every_minutes'])

    const stopped = (await add('a.com')).body
    const pause = await own.call(domainCheckRoutes.changeWatch, {
      parts: { id: stopped.id },
      sent: { paused: true },
    })
    assert.equal(pause.body.paused, true)
    assert.deepEqual(await verdicts(own, 0), ['已拦截', null])
    const history = await own.call(domainCheckRoutes.watchHistory, { parts: { id: watch.id } })
    assert.deepEqual(
      history.body.items.map((one: { verdict: string }) => one.verdict),
      ['已拦截'],
    )

    await own.call(domainCheckRoutes.changeWatch, {
      parts: { id: stopped.id },
      sent: { paused: false, every_minutes: 60 },
    })
    assert.deepEqual(await verdicts(own, 1), ['已拦截', '未拦截'])
    assert.equal((await own.call(domainCheckRoutes.watches)).body.items[1].every_minutes, 60)

    const parts = { id: watch.id }
    for (const route of [
      domainCheckRoutes.changeWatch,
      domainCheckRoutes.removeWatch,
      domainCheckRoutes.watchHistory,
    ]) {
      assert.equal((await otherBrowser.call(route, { parts })).status, 404)
    }
    assert.deepEqual((await own.call(domainCheckRoutes.removeWatch, { parts })).body, {})
    assert.equal((await own.call(domainCheckRoutes.watches)).body.items.length, 1)
  })
})

// Console routes for identity verification: same price as the API, masked history.
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { identityRoutes } from '../../contract/console/identity.ts'
import { formatDay } from '../../contract/time.ts'
import type { Browser } from '../../test/support/console.ts'
import { onEachEngine } from '../../test/support/engines.ts'
import { openProductPages, person, type ProductPages } from '../../test/support/product-pages.ts'

onEachEngine('identity verification in the console', (engine) => {
  let pages: ProductPages
  let otherBrowser: Browser

  before(async () => {
    pages = await openProductPages(engine)
    ;({ otherBrowser } = pages)
  })
  after(() => pages[Symbol.asyncDispose]())

  it('verifies at the API price and stores a masked history', async () => {
    const { browser: own, account } = await pages.createAccount({ id_verification: 3 })
    const headers = { 'idempotency-key': 'id-1' }
    const verify = (name: string, more: Record<string, string> = {}) =>
      own.call(identityRoutes.verify, { sent: { ...person, name }, headers: more })
    const matched = await verify('张三', headers)
    assert.deepEqual(
      [matched.body.outcome, matched.body.charged, matched.body.given_back, matched.body.remaining],
      ['matched', 1, 0, 2],
    )
    assert.equal((await verify('张三', headers)).body.remaining, 2)
    assert.equal((await verify('不匹配')).body.outcome, 'mismatched')
    const unknown = await verify('无记录', { 'idempotency-key': 'id-2' })
    assert.deepEqual(
      [unknown.body.outcome, unknown.body.given_back, unknown.body.remaining],
      ['no_record', 1, 1],
    )
    const failedKey = { 'idempotency-key': 'id-3' }
    assert.equal((await verify('上游故障', failedKey)).body.outcome, 'failed')
    assert.equal((await verify('无记录', { 'idempotency-key': 'id-2' })).body.outcome, 'no_record')
    assert.equal((await verify('上游故障', failedKey)).body.outcome, 'failed')
    const wrong = await own.call(identityRoutes.verify, { sent: { name: '张', idcard: '1' } })
    assert.deepEqual(Object.keys(wrong.body.error.fields).sort(), ['idcard', 'name'])
    await verify('张三')
    const poor = await verify('张三')
    assert.deepEqual([poor.status, poor.body.error.code], [409, 'insufficient'])

    const call = await pages.loadRequest(matched.body.request_id, own)
    assert.deepEqual([call.endpoint, call.action, call.charged], ['identity', 'verify', 1])
    assert.ok(!JSON.stringify(call).includes(person.idcard))
    assert.ok(!JSON.stringify(call).includes('张三'))

    const first = await own.call(identityRoutes.history, { sent: { size: 3 } })
    assert.deepEqual(
      first.body.items.map((one: { outcome: string }) => one.outcome),
      ['matched', 'failed', 'no_record'],
    )
    assert.deepEqual([first.body.items[0].name, first.body.items[0].idcard], ['张*', '110105********002X'])
    assert.deepEqual([first.body.items[1].charged, first.body.items[1].given_back], [1, 1])
    const rest = await own.call(identityRoutes.history, { sent: { size: 3, before: first.body.next } })
    assert.equal(rest.body.items.length, 2)
    const failed = await own.call(identityRoutes.history, { sent: { outcome: 'failed' } })
    assert.equal(failed.body.items.length, 1)
    const today = formatDay(Date.now())
    assert.equal(
      (await own.call(identityRoutes.history, { sent: { from: today, to: today } })).body.items.length,
      5,
    )
    assert.equal(
      (await own.call(identityRoutes.history, { sent: { to: '2020-01-01' } })).body.items.length,
      0,
    )
    const file = await own.text(identityRoutes.historyCsv)
    assert.equal(file.text.trim().split('\r\n').length, 6)
    assert.deepEqual((await otherBrowser.call(identityRoutes.history)).body.items, [])
    assert.equal(await pages.remaining('id_verification', account), 0)
  })
})

// Redeem codes grant credits once; revoked, expired and invented ones are rejected.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { creditRoutes } from '../../../contract/console/credits.ts'
import { operatorRoutes } from '../../../contract/console/operator.ts'
import { type Browser, operator, signedIn } from '../../../test/support/console.ts'
import { onEachEngine } from '../../../test/support/engines.ts'
import { startService, type TestService } from '../../../test/support/service.ts'
import { checkLedger } from '../ledger/check-store.ts'
import { generateRedeemCode, readRedeemCode } from './code.ts'

onEachEngine('redeem codes', (engine) => {
  let service: TestService
  let boss: Browser

  before(async () => {
    service = await startService(engine)
    boss = await operator(service)
  })
  after(async () => {
    const report = await checkLedger(service.installation.db, 60_000)
    assert.deepEqual(report.problems, [])
    await service[Symbol.asyncDispose]()
  })

  async function make(count: number, more = {}): Promise<{ id: number; codes: string[] }> {
    const sent = { api_type: 'sms', amount: 30, count, note: '活动', ...more }
    const { status, body } = await boss.call(operatorRoutes.makeRedeemBatch, { sent })
    assert.equal(status, 200, JSON.stringify(body))
    return { id: body.batch.id, codes: body.codes }
  }

  const redeem = (browser: Browser, code: string) => browser.call(creditRoutes.redeem, { sent: { code } })

  it('previews a code, then grants its credits with a note in the ledger', async () => {
    const { codes } = await make(1)
    const browser = await signedIn(service, await service.account())
    const preview = await browser.call(creditRoutes.previewCode, { sent: { code: codes[0] } })
    assert.deepEqual(preview.body, { api_type: 'sms', amount: 30, expires_on: null })
    const taken = await redeem(browser, ` ${codes[0]!.toLowerCase().replaceAll('-', ' ')} `)
    assert.equal(taken.status, 200)
    assert.equal(taken.body.balance.remaining, 30)
    const { items } = (await browser.call(creditRoutes.ledger)).body
    assert.equal(items[0].kind, 'grant')
    assert.match(items[0].note, /^兑换码 TG-/)
    assert.ok(!items[0].note.includes(codes[0]))
    assert.equal(`兑换码 ${items[0].redeem_hint}`, items[0].note)
    assert.deepEqual((await redeem(browser, codes[0]!)).body.error.fields, {
      code: '兑换码已被使用：您已兑换，额度已到账',
    })
    const other = await signedIn(service, await service.account())
    assert.deepEqual((await redeem(other, codes[0]!)).body.error.fields, { code: '兑换码已被使用' })
  })

  it('grants once when several accounts redeem it at the same time', async () => {
    const { id, codes } = await make(3)
    const browsers = [
      await signedIn(service, await service.account()),
      await signedIn(service, await service.account()),
    ]
    for (const code of codes) {
      const replies = await Promise.all(
        Array.from({ length: 20 }, (_one, index) => redeem(browsers[index % 2]!, code)),
      )
      assert.equal(replies.filter((one) => one.status === 200).length, 1)
      assert.equal(replies.filter((one) => one.status === 400).length, 19)
    }
    const sums = await Promise.all(
      browsers.map(async (one) => (await one.call(creditRoutes.ledger)).body.items.length),
    )
    assert.equal(sums[0] + sums[1], 3)
    const { batch } = (await boss.call(operatorRoutes.redeemBatch, { parts: { id } })).body
    assert.equal(batch.redeemed, 3)
  })

  it('is stored as a hash only', async () => {
    const { codes } = await make(5)
    const rows = await service.installation.db.all('SELECT * FROM redeem_code')
    const dump =
      JSON.stringify(rows) + JSON.stringify(await service.installation.db.all('SELECT * FROM audit'))
    for (const code of codes) {
      assert.ok(!dump.includes(code))
      assert.ok(!dump.includes(readRedeemCode(code)!))
    }
  })

  it('can be revoked while unused, one code or a whole batch', async () => {
    const { id, codes } = await make(4)
    const browser = await signedIn(service, await service.account())
    await redeem(browser, codes[0]!)
    const { items } = (
      await boss.call(operatorRoutes.redeemBatch, { parts: { id }, sent: { state: 'unused' } })
    ).body
    assert.equal(items.length, 3)
    const one = { parts: { id: items[0].id }, sent: { note: '发错' } }
    assert.equal((await boss.call(operatorRoutes.revokeRedeemCode, one)).status, 200)
    assert.equal((await boss.call(operatorRoutes.revokeRedeemCode, one)).status, 409)
    const all = { parts: { id }, sent: { note: '活动取消' } }
    assert.deepEqual((await boss.call(operatorRoutes.revokeRedeemBatch, all)).body, { revoked: 2 })
    for (const code of codes.slice(1)) {
      assert.deepEqual((await redeem(browser, code)).body.error.fields, { code: '兑换码已作废' })
    }
    const { text } = await boss.text(operatorRoutes.redeemBatchCsv, { parts: { id } })
    const [heading, ...lines] = text.trimEnd().split('\r\n')
    assert.equal(heading, '\uFEFF兑换码,状态,兑换人,兑换时间,作废时间')
    assert.deepEqual(
      lines.map((line) => line.split(',')[1]),
      ['已兑换', '已作废', '已作废', '已作废'],
    )
    assert.ok(codes.every((code) => !text.includes(code)))
    const { batch } = (await boss.call(operatorRoutes.redeemBatch, { parts: { id } })).body
    assert.deepEqual([batch.count, batch.redeemed, batch.revoked], [4, 1, 3])
  })

  it('is rejected after its last day', async () => {
    const { id, codes } = await make(1, { expires_on: '2099-01-01' })
    await service.installation.db.write((tx) =>
      tx.run(`UPDATE redeem_batch SET expires_on = '2020-01-01' WHERE id = ?`, [id]),
    )
    const browser = await signedIn(service, await service.account())
    assert.deepEqual((await redeem(browser, codes[0]!)).body.error.fields, { code: '兑换码已过期' })
  })

  it('is created only with valid amounts and counts', async () => {
    const wrong: [string, unknown][] = [
      ['amount', 0],
      ['amount', -5],
      ['amount', 1.5],
      ['amount', 2 ** 53],
      ['amount', 1_000_000_001],
      ['amount', '30'],
      ['count', 0],
      ['count', 10_001],
      ['api_type', 'gold'],
      ['note', '  '],
      ['expires_on', '2020-01-01'],
      ['expires_on', '2099-02-30'],
    ]
    for (const [field, value] of wrong) {
      const sent = { api_type: 'sms', amount: 30, count: 1, note: 'x', [field]: value }
      const { status, body } = await boss.call(operatorRoutes.makeRedeemBatch, { sent })
      assert.equal(status, 400, `${field} ${String(value)}`)
      assert.deepEqual(Object.keys(body.error.fields), [field])
    }
    const response = await fetch(`${service.url}/console/api/operator/redeem-batches`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        cookie: boss.cookie!,
        'x-csrf-token': boss.csrf!,
      },
      body: '{"api_type":"sms","amount":1e309,"count":1,"note":"x"}',
    })
    assert.equal(response.status, 400)
  })

  it('cannot be guessed: an account has ten tries', async () => {
    const browser = await signedIn(service, await service.account())
    const { codes } = await make(1)
    const tries = await Promise.all(Array.from({ length: 12 }, () => redeem(browser, generateRedeemCode())))
    assert.equal(tries.filter((one) => one.status === 400).length, 10)
    assert.equal(tries.filter((one) => one.status === 429).length, 2)
    assert.equal((await redeem(browser, codes[0]!)).status, 429)
  })

  it('lists batches by page, and returns 404 for an unknown one', async () => {
    const { body } = await boss.call(operatorRoutes.redeemBatches, { sent: { size: 2, page: 2 } })
    assert.equal(body.items.length, 2)
    assert.ok(body.total >= 4)
    assert.equal((await boss.call(operatorRoutes.redeemBatch, { parts: { id: 999_999 } })).status, 404)
    assert.equal((await boss.call(operatorRoutes.redeemBatch, { parts: { id: 'x' } })).status, 404)
  })
})

void describe('a redeem code', () => {
  it('is read in any spelling', () => {
    fc.assert(
      fc.property(fc.constant(0), fc.boolean(), fc.boolean(), (_zero, lower, dashes) => {
        const code = generateRedeemCode()
        let typed = dashes ? code : code.replaceAll('-', '')
        if (lower) typed = typed.toLowerCase()
        assert.equal(readRedeemCode(` ${typed} `), code.slice(3).replaceAll('-', ''))
        assert.equal(readRedeemCode(code.slice(3)), code.slice(3).replaceAll('-', ''))
      }),
    )
  })

  it('rejects any other text', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 300 }), (text) => {
        const read = readRedeemCode(text)
        assert.ok(read === undefined || /^[A-Z2-9]{16}$/.test(read))
      }),
    )
  })
})

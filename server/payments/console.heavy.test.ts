// Buying in the console: an account sees and pays only its own orders; operators sell, confirm and refund.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { operatorPaymentRoutes, paymentRoutes } from '../../contract/console/payments.ts'
import { type Browser, operator, signedIn } from '../../test/support/console.ts'
import { onEachEngine } from '../../test/support/engines.ts'
import { startService } from '../../test/support/service.ts'

type Sent = Readonly<Record<string, unknown>>

function call(
  browser: Browser,
  route: Parameters<Browser['call']>[0],
  sent: Sent,
  parts: Record<string, string> = {},
) {
  return browser.call(route, { sent, parts })
}

onEachEngine('buying in the console', (engine) => {
  it('sells a package, pays it, refunds it, and shows the statement', async () => {
    await using service = await startService(engine, {
      PAYMENTS: 'sandbox,transfer',
      TRANSFER_DETAILS: 'Bank 1',
    })
    const admin = await operator(service)
    const account = await service.account()
    const holder = await signedIn(service, account)
    const other = await signedIn(service, await service.account())
    const offer = {
      name: '基础包',
      credits: { sms: 100 },
      price: '19.99',
      currency: 'CNY',
      hidden: false,
      note: 'new',
    }
    const added = await call(admin, operatorPaymentRoutes.addPackage, { code: 'p1', ...offer })
    assert.deepEqual(added.body.credits, { sms: 100 })
    await call(admin, operatorPaymentRoutes.addPackage, { code: 'p2', ...offer, hidden: true })
    const wrong = await call(admin, operatorPaymentRoutes.addPackage, {
      code: 'p3',
      ...offer,
      price: '0',
      credits: {},
    })
    assert.deepEqual(Object.keys(wrong.body.error.fields), ['price', 'credits'])
    const shown = await call(holder, paymentRoutes.packages, {})
    assert.deepEqual(
      shown.body.items.map(({ code }: { code: string }) => code),
      ['p1'],
    )
    assert.equal(
      (await call(holder, paymentRoutes.createOrder, { package: 'p2', provider: 'sandbox' })).status,
      400,
    )

    const created = await call(holder, paymentRoutes.createOrder, { package: 'p1', provider: 'sandbox' })
    const { number, pay_url: payUrl } = created.body
    assert.equal((await call(other, paymentRoutes.order, {}, { number })).status, 404)
    assert.equal((await call(other, paymentRoutes.orders, {})).body.items.length, 0)
    await fetch(payUrl, { method: 'POST' })
    assert.equal((await call(holder, paymentRoutes.order, {}, { number })).body.state, 'granted')
    const detail = await call(admin, operatorPaymentRoutes.order, {}, { number })
    assert.equal(detail.body.refundable, '19.99')
    const refunded = await call(
      admin,
      operatorPaymentRoutes.refundOrder,
      { amount: '10', note: 'unhappy' },
      { number },
    )
    assert.equal(refunded.body.state, 'partly_refunded')
    assert.equal(
      (await call(admin, operatorPaymentRoutes.refundOrder, { amount: '11', note: 'x' }, { number })).status,
      400,
    )

    const transfer = await call(holder, paymentRoutes.createOrder, { package: 'p1', provider: 'transfer' })
    assert.equal(transfer.body.transfer_details, 'Bank 1')
    const confirmed = await call(
      admin,
      operatorPaymentRoutes.confirmOrder,
      { note: 'seen' },
      { number: transfer.body.number },
    )
    assert.equal(confirmed.body.state, 'granted')
    assert.equal(
      (await call(admin, operatorPaymentRoutes.orders, { q: account.username })).body.items.length,
      2,
    )
    const today = (await call(admin, operatorPaymentRoutes.income, {})).body.days.at(-1)
    assert.deepEqual([today.paid, today.refunded, today.orders], [39.98, 10, 2])

    const [running] = (await call(holder, paymentRoutes.statements, {})).body.items
    const sms = running.rows.find((row: { api_type: string }) => row.api_type === 'sms')
    assert.deepEqual([sms.bought, sms.adjusted, sms.closing], [200, -51, 149])

    for (let index = 0; index < 20; index += 1) {
      await call(holder, paymentRoutes.createOrder, { package: 'p1', provider: 'sandbox' })
    }
    assert.equal(
      (await call(holder, paymentRoutes.createOrder, { package: 'p1', provider: 'sandbox' })).status,
      400,
    )
  })
})

// Buying in the console: an account sees and pays only its own orders; operators sell, confirm and refund.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { eventRoutes } from '../../contract/console/events.ts'
import { operatorRoutes } from '../../contract/console/operator.ts'
import { operatorPaymentRoutes, paymentRoutes } from '../../contract/console/payments.ts'
import { type Browser, operator, signedIn } from '../../test/support/console.ts'
import { onEachEngine } from '../../test/support/engines.ts'
import { startService, type TestService } from '../../test/support/service.ts'

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
    await Promise.all(
      [{ name: '进阶包' }, { price: '29.99' }, { credits: { sms: 7 } }].map((change) =>
        call(admin, operatorPaymentRoutes.changePackage, { ...change, note: 'x' }, { code: 'p2' }),
      ),
    )
    const [, changed] = (await call(admin, operatorPaymentRoutes.packages, {})).body.items
    const expected = {
      code: 'p2',
      name: '进阶包',
      credits: { sms: 7 },
      price: '29.99',
      currency: 'CNY',
      hidden: true,
    }
    assert.deepEqual(changed, expected)
    // As two operators change different types of credits.
    const addType = async (credits: Record<string, number>) => {
      const sent = { credits: { ...changed.credits, ...credits }, credits_before: changed.credits, note: 'x' }
      const { status, body } = await call(admin, operatorPaymentRoutes.changePackage, sent, { code: 'p2' })
      return body.error?.code ?? status
    }
    assert.deepEqual(
      [await addType({ short_link: 1 }), await addType({ domain_check: 1 })],
      [200, 'conflict'],
    )
    const stored = (await call(admin, operatorPaymentRoutes.packages, {})).body.items[1]
    assert.deepEqual(stored.credits, { sms: 7, short_link: 1 })
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
    const webhook = await call(holder, eventRoutes.addWebhook, {
      url: 'https://example.com/',
      events: ['order.paid'],
    })
    assert.equal(webhook.status, 200)
    await fetch(payUrl, { method: 'POST' })
    assert.equal((await call(holder, paymentRoutes.order, {}, { number })).body.state, 'granted')
    const [event, ...more] = await service.installation.db.all<{ data: string }>('SELECT data FROM event')
    assert.equal(more.length, 0)
    const { paid_at: paidAt, ...paid } = JSON.parse(event!.data) as { paid_at: string }
    assert.match(paidAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+08:00$/, 'times of events are ISO 8601')
    const facts = { number, package: 'p1', amount: '19.99', currency: 'CNY', provider: 'sandbox' }
    assert.deepEqual(paid, { ...facts, credits: { sms: 100 } })
    await call(holder, eventRoutes.removeWebhook, {}, { id: String(webhook.body.id) })
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
    const parts = { number: transfer.body.number }
    const again = await call(admin, operatorPaymentRoutes.confirmOrder, { note: 'seen' }, parts)
    assert.equal(again.status, 409, 'a conflict, not a failure of the service')
    const notes = ({ body }: typeof confirmed) =>
      body.history.map((one: { event: string; note: string }) => `${one.event} ${one.note}`)
    assert.deepEqual(notes(confirmed), [`created ${account.username}`, 'paid seen', 'granted seen'])
    const own = await call(holder, paymentRoutes.order, {}, { number: transfer.body.number })
    assert.deepEqual(notes(own), [`created ${account.username}`, 'paid ', 'granted '])
    assert.equal(
      (await call(admin, operatorPaymentRoutes.orders, { q: account.username })).body.items.length,
      2,
    )
    const today = (await call(admin, operatorPaymentRoutes.income, {})).body.days.at(-1)
    assert.deepEqual([today.paid, today.refunded, today.orders], [39.98, 10, 2])

    const [running] = (await call(holder, paymentRoutes.statements, {})).body.items
    const sms = running.rows.find((row: { api_type: string }) => row.api_type === 'sms')
    assert.deepEqual([sms.bought, sms.adjusted, sms.closing], [200, -51, 149])

    await checkInvoices({ admin, holder, other, orders: [number, transfer.body.number] })
    await checkDifferences(admin, service)

    for (let index = 0; index < 20; index += 1) {
      await call(holder, paymentRoutes.createOrder, { package: 'p1', provider: 'sandbox' })
    }
    assert.equal(
      (await call(holder, paymentRoutes.createOrder, { package: 'p1', provider: 'sandbox' })).status,
      400,
    )
  })
})

interface InvoiceCase {
  readonly admin: Browser
  readonly holder: Browser
  readonly other: Browser
  /** One of which 9.99 are left, and one of 19.99. */
  readonly orders: readonly [string, string]
}

async function checkInvoices({ admin, holder, other, orders }: InvoiceCase): Promise<void> {
  const [first, second] = orders
  const able = await call(holder, paymentRoutes.invoiceableOrders, {})
  assert.deepEqual(
    able.body.items.map((one: { number: string; amount: string }) => [one.number, one.amount]),
    [
      [second, '19.99'],
      [first, '9.99'],
    ],
  )
  const wanted = {
    kind: 'special',
    title: '示例科技有限公司',
    tax_number: '91310000MA1FL0000X',
    address: '上海市示例路 1 号 021-00000000',
    mail: 'finance@example.com',
    note: '',
    orders,
  }
  const wrong = await call(holder, paymentRoutes.requestInvoice, {
    ...wanted,
    tax_number: '',
    address: ' ',
    mail: 'nobody',
  })
  assert.deepEqual(
    [wrong.status, Object.keys(wrong.body.error.fields)],
    [400, ['tax_number', 'address', 'mail']],
  )
  for (const numbers of [[first, 'T99999999'], [first, 'x'.repeat(33)], []]) {
    const refused = await call(holder, paymentRoutes.requestInvoice, { ...wanted, orders: numbers })
    assert.equal(refused.status, 400)
  }
  assert.equal((await call(other, paymentRoutes.requestInvoice, wanted)).status, 400)
  // Of requests at the same moment for the same order one is accepted.
  const answers = await Promise.all(
    [orders, [first], [second, first]].map((numbers) =>
      call(holder, paymentRoutes.requestInvoice, { ...wanted, orders: numbers }),
    ),
  )
  const accepted = answers.filter(({ status }) => status === 200)
  const numbers: readonly string[] = accepted.flatMap(({ body }) => body.orders)
  assert.equal(new Set(numbers).size, numbers.length)
  assert.ok(numbers.includes(first))

  // Rejected, its orders can be invoiced again.
  for (const { body } of accepted) {
    const rejected = await call(
      admin,
      operatorPaymentRoutes.rejectInvoice,
      { note: '抬头有误' },
      { id: String(body.id) },
    )
    assert.deepEqual(
      [rejected.body.state, rejected.body.reason, rejected.body.orders],
      ['rejected', '抬头有误', []],
    )
  }
  const changed = await call(holder, paymentRoutes.requestInvoice, { ...wanted, orders })
  await checkWithdrawal({ admin, holder, other, id: String(changed.body.id) })
  const again = await call(holder, paymentRoutes.requestInvoice, { ...wanted, orders })
  assert.deepEqual([again.body.amount, again.body.state], ['29.98', 'open'])
  let id = String(again.body.id)
  assert.equal((await call(holder, paymentRoutes.invoiceableOrders, {})).body.items.length, 0)

  const issue = { number: '26312000000000000001', file_name: 'invoice.pdf', note: 'sent' }
  const pdf = Buffer.from('%PDF-1.7 invoice').toString('base64')
  const noPdf = await call(
    admin,
    operatorPaymentRoutes.issueInvoice,
    { ...issue, file: btoa('<html>') },
    { id },
  )
  assert.equal(noPdf.status, 400)
  const results = await Promise.all([
    call(admin, operatorPaymentRoutes.issueInvoice, { ...issue, file: pdf }, { id }),
    call(admin, operatorPaymentRoutes.rejectInvoice, { note: 'x' }, { id }),
    call(holder, paymentRoutes.withdrawInvoice, {}, { id }),
  ])
  assert.deepEqual(statusesOf(results), [200, 409, 409])
  const [listed] = (await call(holder, paymentRoutes.invoices, {})).body.items
  if (listed.state !== 'issued') {
    const last = await call(holder, paymentRoutes.requestInvoice, { ...wanted, orders })
    id = String(last.body.id)
    const issued = await call(admin, operatorPaymentRoutes.issueInvoice, { ...issue, file: pdf }, { id })
    assert.equal(issued.status, 200)
  }
  const file = await holder.text(paymentRoutes.invoiceFile, { parts: { id } })
  assert.deepEqual([file.status, file.text], [200, '%PDF-1.7 invoice'])
  assert.match(file.headers.get('content-disposition') ?? '', /^attachment/)
  assert.equal((await other.text(paymentRoutes.invoiceFile, { parts: { id } })).status, 404)
  await checkRefundAfterIssue({ admin, holder, id, number: second })
}

/** By its holder, while it waits; its orders can be requested again. */
async function checkWithdrawal({
  admin,
  holder,
  other,
  id,
}: Pick<InvoiceCase, 'admin' | 'holder' | 'other'> & { readonly id: string }): Promise<void> {
  assert.equal((await call(other, paymentRoutes.withdrawInvoice, {}, { id })).status, 404)
  const withdrawn = await call(holder, paymentRoutes.withdrawInvoice, {}, { id })
  assert.deepEqual(
    [withdrawn.status, withdrawn.body.state, withdrawn.body.orders, withdrawn.body.current_amount],
    [200, 'withdrawn', [], null],
  )
  assert.equal((await call(holder, paymentRoutes.withdrawInvoice, {}, { id })).status, 409)
  assert.equal((await call(admin, operatorPaymentRoutes.rejectInvoice, { note: 'x' }, { id })).status, 409)
  const idsIn = async (state: string) =>
    (await call(admin, operatorPaymentRoutes.invoices, { state })).body.items.map(
      (one: { id: number }) => one.id,
    )
  assert.deepEqual(await idsIn('withdrawn'), [Number(id)])
  assert.ok(!(await idsIn('rejected')).includes(Number(id)))
  assert.equal((await call(holder, paymentRoutes.invoiceableOrders, {})).body.items.length, 2)
  const audit = await call(admin, operatorRoutes.audit, { action: 'invoice.withdraw' })
  assert.equal(audit.body.items.length, 1)
}

/** The operator sees it until it is marked as corrected, and again after the next refund. */
async function checkRefundAfterIssue({
  admin,
  holder,
  id,
  number,
}: Pick<InvoiceCase, 'admin' | 'holder'> & { readonly id: string; readonly number: string }): Promise<void> {
  const waiting = async () => (await call(admin, operatorRoutes.waiting, {})).body.refunded_invoices
  const flagged = async () =>
    (await call(admin, operatorPaymentRoutes.invoices, { refunded: 'true' })).body.items.map(
      (one: { id: number; refunded_after_issue: boolean; current_amount: string }) => [
        one.id,
        one.refunded_after_issue,
        one.current_amount,
      ],
    )
  const correct = () => call(admin, operatorPaymentRoutes.correctInvoice, { note: '红字 1' }, { id })
  assert.equal(await waiting(), 0)
  assert.equal((await correct()).status, 409)
  for (const [refund, left, after] of [
    ['5', '24.98', '24.98'],
    ['1.50', '23.48', '23.48'],
  ]) {
    const refunded = await call(
      admin,
      operatorPaymentRoutes.refundOrder,
      { amount: refund, note: 'late' },
      { number },
    )
    assert.equal(refunded.status, 200)
    assert.deepEqual([await waiting(), await flagged()], [1, [[Number(id), true, left]]])
    assert.equal((await call(holder, paymentRoutes.invoices, {})).body.items[0].refunded_after_issue, true)
    assert.equal(
      (await call(holder, operatorPaymentRoutes.correctInvoice, { note: 'x' }, { id })).status,
      403,
    )
    const both = await Promise.all([correct(), correct()])
    assert.deepEqual(statusesOf(both), [200, 409])
    const { body } = both.find(({ status }) => status === 200)!
    assert.deepEqual([body.corrected_amount, body.refunded_after_issue, body.amount], [after, false, '29.98'])
    assert.deepEqual([await waiting(), await flagged()], [0, []])
  }
  const audit = await call(admin, operatorRoutes.audit, { action: 'invoice.correct' })
  assert.equal(audit.body.items.length, 2)
}

async function checkDifferences(admin: Browser, service: TestService): Promise<void> {
  const { db } = service.installation
  const bad = { provider: 'sandbox', day: '2026-01-02', note: 'x' }
  assert.equal((await call(admin, operatorPaymentRoutes.reconcile, bad)).status, 400)
  await db.write((tx) =>
    tx.run(
      `INSERT INTO payment_reconciliation (provider, day, state, at) VALUES ('alipay', '2026-01-02', 'done', 1)`,
    ),
  )
  await db.write((tx) =>
    tx.run(`INSERT INTO payment_difference (reconciliation_id, order_number, kind, ours, theirs, at)
      SELECT id, 'T1', 'not_paid', 'granted 1.00 CNY', 'unpaid', 1 FROM payment_reconciliation`),
  )
  assert.equal((await call(admin, operatorPaymentRoutes.reconciliations, {})).body.items[0].open, 1)
  const [open] = (await call(admin, operatorPaymentRoutes.differences, { open: true })).body.items
  const parts = { id: String(open.id) }
  const both = await Promise.all(
    ['a', 'b'].map((note) => call(admin, operatorPaymentRoutes.resolveDifference, { note }, parts)),
  )
  assert.deepEqual(statusesOf(both), [200, 404])
  assert.equal((await call(admin, operatorPaymentRoutes.differences, { open: true })).body.items.length, 0)
}

const statusesOf = (replies: readonly { readonly status: number }[]) =>
  replies.map(({ status }) => status).sort((a, b) => a - b)

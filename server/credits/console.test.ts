// The ledger page: filters, paging, the balance over time, the export.
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { systemActor } from '../audit/audit.ts'
import { creditRoutes } from '../../contract/console/credits.ts'
import { homeRoutes } from '../../contract/console/home.ts'
import type { ApiType } from '../../contract/credits.ts'
import { dayMs, formatDay } from '../../contract/time.ts'
import { type Browser, signedIn } from '../../test/support/console.ts'
import { onEachEngine } from '../../test/support/engines.ts'
import { startService, type TestAccount, type TestService } from '../../test/support/service.ts'
import { createCompaction } from './ledger/compaction.ts'
import { ledgerIdAt } from './ledger/list-store.ts'

onEachEngine('the ledger page', (engine) => {
  let service: TestService
  let account: TestAccount
  let browser: Browser

  async function charge(apiType: ApiType, cost: number, refund: boolean): Promise<void> {
    const { credits } = service.app.services
    const result = await credits.charge({
      accountId: account.id,
      apiType,
      action: 'test.paid',
      cost,
      requestId: `request-${cost}`,
      leaseMs: 60_000,
    })
    assert.equal(result.kind, 'charged')
    if (result.kind !== 'charged') return
    await credits.end({
      accountId: account.id,
      operationId: result.operationId,
      end: refund ? { state: 'refunded' } : { state: 'settled' },
    })
  }

  before(async () => {
    service = await startService(engine)
    account = await service.account({ sms: 100, short_link: 50 })
    browser = await signedIn(service, account)
    for (let cost = 1; cost <= 6; cost++) await charge('sms', cost, cost === 6)
    await charge('short_link', 1, false)
    await service.app.services.credits.take({
      actor: systemActor,
      accountId: account.id,
      apiType: 'sms',
      amount: 5,
      note: '=HYPERLINK("http://evil.test")',
    })
  })
  after(() => service[Symbol.asyncDispose]())

  const list = async (sent = {}) => (await browser.call(creditRoutes.ledger, { sent })).body

  it('lists every entry newest first with its operation', async () => {
    const { items, next } = await list()
    assert.equal(items.length, 11)
    assert.equal(next, null)
    assert.deepEqual(
      items.map((one: { id: number }) => one.id),
      items.map((one: { id: number }) => one.id).sort((a: number, b: number) => b - a),
    )
    assert.equal(items[0].kind, 'adjust')
    assert.equal(items[0].amount, -5)
    assert.equal(items[0].operation, null)
    const refund = items.find((one: { kind: string }) => one.kind === 'refund')
    assert.equal(refund.operation.request_id, 'request-6')
    assert.equal(refund.operation.state, 'refunded')
    assert.equal(refund.operation.given_back, 6)
  })

  it('pages without missing or repeated entries', async () => {
    const seen: number[] = []
    let last: number | undefined
    do {
      const { items, next } = await list({ size: 3, ...(last !== undefined && { before: last }) })
      seen.push(...items.map((one: { id: number }) => one.id))
      last = next ?? undefined
    } while (last !== undefined)
    assert.equal(seen.length, 11)
    assert.equal(new Set(seen).size, 11)
  })

  it('filters by type, kind and day', async () => {
    const kinds = async (sent: object) => (await list(sent)).items.length
    assert.equal(await kinds({ api_type: 'short_link' }), 2)
    assert.equal(await kinds({ kind: 'charge' }), 7)
    assert.equal(await kinds({ kind: 'grant' }), 2)
    assert.equal(await kinds({ kind: 'grant', api_type: 'sms' }), 1)
    assert.equal(await kinds({ kind: 'charge', api_type: 'sms' }), 6)
    const today = formatDay(Date.now())
    assert.equal(await kinds({ from: today, to: today }), 11)
    const tomorrow = formatDay(Date.now() + dayMs)
    assert.equal(await kinds({ from: tomorrow }), 0)
    assert.equal(await kinds({ to: formatDay(Date.now() - dayMs) }), 0)
  })

  it('names an invalid filter', async () => {
    for (const [sent, field] of [
      [{ api_type: 'gold' }, 'api_type'],
      [{ kind: 'theft' }, 'kind'],
      [{ from: '2026-02-30' }, 'from'],
      [{ to: 'today' }, 'to'],
      [{ size: 1000 }, 'size'],
      [{ before: '1e3' }, 'before'],
    ] as const) {
      const reply = await browser.call(creditRoutes.ledger, { sent })
      assert.equal(reply.status, 400)
      assert.deepEqual(Object.keys(reply.body.error.fields), [field])
    }
  })

  it('shows an account only its entries, whatever the query', async () => {
    const stranger = await signedIn(service, await service.account())
    for (const sent of [{}, { account_id: account.id }, { username: account.username }]) {
      assert.deepEqual((await stranger.call(creditRoutes.ledger, { sent })).body, { items: [], next: null })
      const { text } = await stranger.text(creditRoutes.ledgerCsv, { sent })
      assert.equal(text.trim().split('\r\n').length, 1)
    }
    const { days } = (await stranger.call(creditRoutes.history)).body
    assert.ok(days.every((one: { remaining: { sms: number } }) => one.remaining.sms === 0))
  })

  it('exports the filtered entries for spreadsheets, without formulas', async () => {
    const { status, headers, text } = await browser.text(creditRoutes.ledgerCsv, {
      sent: { api_type: 'sms' },
    })
    assert.equal(status, 200)
    assert.equal(headers.get('content-type'), 'text/csv; charset=utf-8')
    assert.match(headers.get('content-disposition') ?? '', /^attachment; filename="ledger-[\d-]+\.csv"$/)
    assert.ok(text.startsWith('\uFEFF编号,时间,'))
    const english = await browser.text(creditRoutes.ledgerCsv, { query: { lang: 'en' } })
    assert.ok(english.text.startsWith('\uFEFFid,time,'), 'a link says the language of the console')
    const lines = text.trimEnd().split('\r\n')
    assert.equal(lines.length, 1 + 9)
    assert.ok(lines[1]!.endsWith(`"'=HYPERLINK(""http://evil.test"")"`), lines[1])
    assert.ok(lines[1]!.includes(',-5,'))
    const far = await browser.text(creditRoutes.ledgerCsv, { sent: { from: '2020-01-01', to: '2026-01-01' } })
    assert.equal(far.text.trimEnd().split('\r\n').length, 1, 'nothing is that old')
  })

  it('returns the balance at the end of each day', async () => {
    await using past = await startService(engine)
    const { db } = past.installation
    const old = await past.account()
    const theirs = await signedIn(past, old)
    for (const [ago, left] of [
      [9, 30],
      [5, 20],
      [5, 12],
      [1, 7],
    ] as const) {
      await db.write((tx) =>
        tx.run(
          `INSERT INTO ledger (account_id, api_type, kind, amount, balance_after, at)
           VALUES (?, 'sms', 'adjust', ?, ?, ${tx.now} - ${ago * dayMs})`,
          [old.id, left, left],
        ),
      )
    }
    for (const look of ['first', 'again']) {
      const { days } = (await theirs.call(creditRoutes.history)).body
      assert.equal(days.length, 30, look)
      const left = days.map((one: { remaining: { sms: number } }) => one.remaining.sms)
      assert.deepEqual(left.slice(-11), [0, 30, 30, 30, 30, 12, 12, 12, 12, 7, 7])
      assert.equal(days.at(-1).day, formatDay(Date.now()))
    }
  })

  it('shows compacted entries as one entry without an operation, on the page and in the export', async () => {
    await using past = await startService(engine)
    const { db } = past.installation
    const old = await past.account({ sms: 10 })
    const theirs = await signedIn(past, old)
    for (let index = 0; index < 3; index += 1) {
      await past.app.services.credits.charge({
        accountId: old.id,
        apiType: 'sms',
        action: 'sms.send',
        cost: 2,
        requestId: 'long ago',
      })
    }
    await db.write((tx) => tx.run(`UPDATE ledger SET at = at - ${500 * dayMs}`))
    assert.equal(await createCompaction(db, 400).run(), 2)
    const { items } = (await theirs.call(creditRoutes.ledger)).body
    assert.deepEqual(
      items.map((one: { kind: string; amount: number; balance_after: number; operation: unknown }) => [
        one.kind,
        one.amount,
        one.balance_after,
        one.operation,
      ]),
      [
        ['charge', -6, 4, null],
        ['grant', 10, 10, null],
      ],
    )
    assert.equal(items[0].note, '结转 / compacted')
    const day = formatDay(items[0].at)
    const { text } = await theirs.text(creditRoutes.ledgerCsv, { sent: { from: day, to: day } })
    const lines = text.trimEnd().split('\r\n')
    assert.equal(lines.length, 3)
    assert.ok(lines[1]!.endsWith(',-6,4,,,结转 / compacted'), lines[1])
    const { days } = (await theirs.call(creditRoutes.history, { sent: { from: day, to: day } })).body
    assert.equal(days[0].remaining.sms, 4)
  })

  it('forecasts from used credits, and checks off the first steps', async () => {
    const { body } = await browser.call(homeRoutes.home)
    assert.equal(body.days.length, 14)
    assert.equal(body.balances.length, 4)
    assert.equal(body.checklist.has_key, true)
    assert.equal(body.checklist.has_credits, true)
    assert.equal(body.checklist.has_call, false)
    assert.equal(
      (await browser.call(homeRoutes.home, { sent: { from: '2026-01-02', to: '2026-01-01' } })).status,
      400,
    )
  })

  it('finds the first entry at or after a time by bisection', async () => {
    const { db } = service.installation
    const [row] = await db.all<{ newest: number; count: number }>(
      'SELECT MAX(id) AS newest, COUNT(*) AS count FROM ledger',
    )
    assert.equal(await ledgerIdAt(db, Date.now() + dayMs), row!.newest + 1)
    assert.ok((await ledgerIdAt(db, 0)) <= 1)
  })
})

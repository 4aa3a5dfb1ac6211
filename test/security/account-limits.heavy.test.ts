// How many rows an account or the platform may have of a kind: not one more, also when requests arrive at the same time.
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { eventRoutes } from '../../contract/console/events.ts'
import { linkImportRoutes } from '../../contract/console/link-import.ts'
import { linkAbuseRoutes, ownDomainRoutes } from '../../contract/console/link-domains.ts'
import { operatorRoutes } from '../../contract/console/operator.ts'
import { maxTokens, operatorAdminRoutes } from '../../contract/console/operators.ts'
import { operatorPaymentRoutes, paymentRoutes } from '../../contract/console/payments.ts'
import { smsRoutes } from '../../contract/console/sms.ts'
import { webhookLimits } from '../../contract/events.ts'
import { banLimits, reportLimits } from '../../contract/link-abuse.ts'
import { ownDomainLimits } from '../../contract/link-domains.ts'
import { importLimits } from '../../contract/link-import.ts'
import { paymentLimits } from '../../contract/payments.ts'
import { maxSignaturesPerAccount } from '../../contract/sms-text.ts'
import type { Value } from '../../server/db/database.ts'
import { type Browser, operator, signedIn } from '../support/console.ts'
import { onEachEngine } from '../support/engines.ts'
import { insertRow } from '../support/rows.ts'
import { post, startService, type TestAccount, type TestService } from '../support/service.ts'

onEachEngine('limits of numbers', (engine) => {
  let service: TestService
  let account: TestAccount
  let holder: Browser
  let staff: Browser

  before(async () => {
    service = await startService(engine, { PAYMENTS: 'sandbox', RATE_LIMIT: 'off' })
    account = await service.account({ short_link: 10 })
    holder = await signedIn(service, account)
    staff = await operator(service)
    await staff.call(operatorPaymentRoutes.addPackage, { sent: { code: 'p1', ...offer } })
  })
  after(() => service[Symbol.asyncDispose]())

  const offer = {
    name: '基础包',
    credits: { sms: 100 },
    price: '19.99',
    currency: 'CNY',
    hidden: false,
    note: 'new',
  }
  const count = async (from: string) =>
    (await service.installation.db.one<{ n: number }>(`SELECT COUNT(*) AS n FROM ${from}`))!.n
  const fill = (table: string, rows: number, values: (index: number) => Record<string, Value>) =>
    service.installation.db.write(async (tx) => {
      for (let index = 0; index < rows; index += 1) {
        await insertRow(tx, table, {
          label: `filler ${index}`,
          at: Date.now(),
          values: values(index),
        })
      }
    })

  it('175 an account has no more of a kind than allowed, also with requests at the same time', async () => {
    const mine = `WHERE account_id = ${account.id}`
    const kinds: readonly {
      readonly table: string
      readonly max: number
      readonly add: (index: number) => ReturnType<Browser['call']>
    }[] = [
      {
        table: `event_endpoint ${mine}`,
        max: webhookLimits.perAccount,
        add: (index) =>
          holder.call(eventRoutes.addWebhook, {
            sent: { url: `https://example.com/${index}`, events: ['order.paid'] },
          }),
      },
      {
        table: `link_own_domain ${mine}`,
        max: ownDomainLimits.perAccount,
        add: (index) => holder.call(ownDomainRoutes.add, { sent: { host: `d${index}.example.net` } }),
      },
      {
        table: `sms_account_signature ${mine}`,
        max: maxSignaturesPerAccount,
        add: (index) =>
          holder.call(smsRoutes.addSignature, { sent: { sign_name: `公司${index}`, type: 'company' } }),
      },
      {
        table: `payment_order ${mine} AND state = 'pending'`,
        max: paymentLimits.pendingOrders,
        add: () => holder.call(paymentRoutes.createOrder, { sent: { package: 'p1', provider: 'sandbox' } }),
      },
    ]
    for (const { table, max, add } of kinds) {
      const replies = await Promise.all(Array.from({ length: max + 15 }, (_, index) => add(index)))
      const statuses = replies.map(({ status }) => status)
      assert.deepEqual(
        [await count(table), statuses.filter((status) => status === 200).length, statuses.includes(500)],
        [max, max, false],
        table,
      )
    }
  })

  it('175 a new import removes an old one, also with uploads at the same time', async () => {
    const upload = () =>
      holder.call(linkImportRoutes.upload, {
        query: { name: 'links.csv', codes: 'keep' },
        file: 'url\nhttps://example.com/',
      })
    // Two files of a user are read at a time, and four wait.
    for (let round = 0; round < 12; round += 1) {
      const statuses = (await Promise.all(Array.from({ length: 6 }, upload))).map(({ status }) => status)
      assert.deepEqual(
        statuses.filter((status) => status !== 200 && status !== 400),
        [],
      )
      assert.ok((await count(`link_import WHERE account_id = ${account.id}`)) <= importLimits.perAccount)
    }
  })

  it('175 the platform has no more of a kind than documented', async () => {
    await staff.confirm()
    const createToken = () =>
      staff.call(operatorAdminRoutes.createToken, {
        sent: { name: 'one', scopes: ['accounts:read'], note: 'n', expires_on: '2099-01-01' },
      })
    await fill('operator_token', maxTokens - 1, (index) => ({
      account_id: account.id,
      token_hash: `token ${index}`,
    }))
    assert.deepEqual([(await createToken()).status, (await createToken()).status], [200, 400])

    const addPackage = (code: string) =>
      staff.call(operatorPaymentRoutes.addPackage, { sent: { code, ...offer } })
    await service.installation.db.write(async (tx) => {
      for (let index = 0; index < paymentLimits.packages - 2; index += 1)
        await insertRow(tx, 'credit_package', { label: `filler-${index}`, at: 1, values: { credits: '{}' } })
    })
    assert.deepEqual([(await addPackage('last')).status, (await addPackage('more')).status], [200, 400])

    const notes = () => count(`account_note WHERE account_id = ${account.id}`)
    const addNote = () =>
      staff.call(operatorRoutes.addNote, { parts: { id: account.id }, sent: { note: 'another' } })
    await fill('account_note', 499, () => ({ account_id: account.id }))
    for (let index = 0; index < 3; index += 1) assert.equal((await addNote()).status, 200)
    assert.equal(await notes(), 500)

    await fill('invoice', paymentLimits.openInvoices, () => ({
      account_id: account.id,
      state: 'open',
      kind: 'normal',
    }))
    const invoice = await holder.call(paymentRoutes.requestInvoice, {
      sent: {
        kind: 'normal',
        title: '某某公司',
        tax_number: '',
        address: '',
        mail: 'a@example.com',
        note: '',
        orders: ['T1'],
      },
    })
    assert.deepEqual([invoice.status, /10/.test(invoice.body.error.message)], [400, true])
  })

  it('175 bans of hosts and open reports are bounded', { timeout: 120_000 }, async () => {
    const { body } = await post(`${service.url}/api/shortlink_api.php`, {
      username: account.username,
      api_key: account.key,
      action: 'generate',
      target_url: 'https://example.com/',
      title: 't',
    })
    const code: string = body.data.short_code
    const report = async () =>
      (
        await fetch(`${service.url}/report`, {
          method: 'POST',
          body: new URLSearchParams({ url: body.data.a_url, reason: 'fraud', details: '', contact: '' }),
        })
      ).status
    const openOnes = () => count(`link_report WHERE state = 'open'`)
    await fill('link_report', reportLimits.openPerAddress - 1, () => ({
      address: `link:${code}`,
      state: 'open',
    }))
    assert.deepEqual([await report(), await report()], [200, 200])
    assert.equal(await openOnes(), reportLimits.openPerAddress, 'further ones are accepted and not stored')
    const { db } = service.installation
    const numbers = (rows: number) =>
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})`
    await db.write((tx) =>
      tx.run(
        `INSERT INTO link_report (address, reason, details, contact, state, at)
         ${numbers(reportLimits.open)} SELECT 'x' || i, 'fraud', '', '', 'open', 1 FROM n`,
      ),
    )
    assert.equal(await report(), 503)

    await db.write((tx) =>
      tx.run(
        `INSERT INTO link_ban (host, note, created_by, created_at)
         ${numbers(banLimits.hosts - 1)} SELECT 'h' || i || '.example', '', '', 1 FROM n`,
      ),
    )
    const ban = (host: string) =>
      staff.call(linkAbuseRoutes.addBan, { sent: { target: `host:${host}`, note: 'n' } })
    assert.deepEqual(
      [(await ban('last.example.org')).status, (await ban('more.example.org')).status],
      [200, 400],
    )
  })
})

// Rules for all product pages: expired accounts are read-only, and credits are never spent twice.
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { domainCheckRoutes } from '../../contract/console/domain-check.ts'
import { identityRoutes } from '../../contract/console/identity.ts'
import { linkRoutes } from '../../contract/console/shortlink.ts'
import { smsRoutes } from '../../contract/console/sms.ts'
import { onEachEngine } from '../../test/support/engines.ts'
import {
  openProductPages,
  person,
  phone,
  allCredits,
  type ProductPages,
} from '../../test/support/product-pages.ts'
import type { TestService } from '../../test/support/service.ts'
import { checkLedger } from '../credits/ledger/check-store.ts'

onEachEngine('product pages', (engine) => {
  let pages: ProductPages
  let service: TestService

  before(async () => {
    pages = await openProductPages(engine)
    ;({ service } = pages)
  })
  after(() => pages[Symbol.asyncDispose]())

  it('lets an expired account read, but neither consume nor change', async () => {
    const { account, browser: expiredBrowser } = await pages.createAccount(allCredits)
    await pages.service.installation.db.write((tx) =>
      tx.run(`UPDATE account SET expires_on = '2020-01-01' WHERE id = ?`, [account.id]),
    )
    const tries = [
      [linkRoutes.create, { target_url: 'https://example.com' }],
      [smsRoutes.send, { phone_number: phone, template_code: 'SHARED' }],
      [smsRoutes.createTemplate, { name: '名', content: '内容' }],
      [smsRoutes.addSignature, { sign_name: '某公司', type: 'company' }],
      [smsRoutes.addStop, { phone_number: phone }],
      [identityRoutes.verify, person],
      [domainCheckRoutes.start, { urls: ['a.com'] }],
      [domainCheckRoutes.addWatch, { url: 'a.com', every_minutes: 60 }],
    ] as const
    for (const [route, sent] of tries) {
      const reply = await expiredBrowser.call(route, { sent })
      assert.deepEqual([reply.status, reply.body.error.code], [403, 'expired'], route.path)
    }
    for (const route of [
      linkRoutes.list,
      smsRoutes.templates,
      identityRoutes.history,
      domainCheckRoutes.runs,
    ]) {
      assert.equal((await expiredBrowser.call(route)).status, 200, route.path)
    }
  })

  it('charges exactly the remaining credits under concurrent requests', async () => {
    const { browser: own, account } = await pages.createAccount({ id_verification: 5 })
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => own.call(identityRoutes.verify, { sent: person })),
    )
    assert.equal(replies.filter(({ status }) => status === 200).length, 5)
    assert.equal(await pages.remaining('id_verification', account), 0)
    const report = await checkLedger(service.installation.db, 60_000)
    assert.deepEqual(report.problems, [])
  })
})

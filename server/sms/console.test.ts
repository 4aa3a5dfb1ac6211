// Console routes for SMS: templates, price, send, records, signatures, stop list.
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { systemActor } from '../audit/audit.ts'
import { smsRoutes } from '../../contract/console/sms.ts'
import type { Browser } from '../../test/support/console.ts'
import { onEachEngine } from '../../test/support/engines.ts'
import { openProductPages, phone, type ProductPages } from '../../test/support/product-pages.ts'
import type { TestService } from '../../test/support/service.ts'
import { createTemplate, reviewTemplate } from './templates.ts'

onEachEngine('SMS in the console', (engine) => {
  let pages: ProductPages
  let service: TestService
  let browser: Browser
  let otherBrowser: Browser

  before(async () => {
    pages = await openProductPages(engine)
    ;({ service, browser, otherBrowser } = pages)
  })
  after(() => pages[Symbol.asyncDispose]())

  const input = { name: '验证码', content: '您的验证码是${code}。', code: 'LOGIN' }
  const draft = { phone_number: phone, template_code: 'LOGIN', template_params: { code: '1234' } }

  it('creates, changes and deletes templates', async () => {
    const made = await browser.call(smsRoutes.createTemplate, { sent: input })
    assert.equal(made.status, 200)
    assert.deepEqual([made.body.state, made.body.variables, made.body.shared], ['审核中', ['code'], false])
    const parts = { id: made.body.id }
    const taken = await browser.call(smsRoutes.createTemplate, { sent: input })
    assert.deepEqual(Object.keys(taken.body.error.fields), ['code'])
    const broken = await browser.call(smsRoutes.createTemplate, { sent: { name: '坏', content: '${' } })
    assert.deepEqual(Object.keys(broken.body.error.fields), ['content'])
    const nameless = await browser.call(smsRoutes.createTemplate, {
      sent: { name: '通知', content: '您好' },
    })
    assert.equal(nameless.body.code, `SMS_${nameless.body.id}`)

    await reviewTemplate(service.installation.db, systemActor, parts.id, { status: '审核通过' })
    const listed = await browser.call(smsRoutes.templates, { sent: { q: 'login', state: '审核通过' } })
    assert.deepEqual([listed.body.total, listed.body.items[0].id], [1, parts.id])
    const words = { name: input.name, content: input.content }
    const changed = await browser.call(smsRoutes.changeTemplate, {
      parts,
      sent: { ...words, name: '登录' },
    })
    assert.deepEqual([changed.body.name, changed.body.state], ['登录', '审核中'])
    await reviewTemplate(service.installation.db, systemActor, parts.id, { status: '审核通过' })

    const gone = await browser.call(smsRoutes.deleteTemplate, { parts: { id: nameless.body.id } })
    assert.deepEqual(gone.body, {})
    assert.equal((await browser.call(smsRoutes.template, { parts: { id: nameless.body.id } })).status, 404)
    for (const route of [smsRoutes.template, smsRoutes.changeTemplate, smsRoutes.deleteTemplate]) {
      const reply = await otherBrowser.call(route, { parts, sent: route.method === 'PATCH' ? words : {} })
      assert.deepEqual([reply.status, reply.body.error.code], [404, 'not_found'])
    }
  })

  it('shows shared templates read-only', async () => {
    const { db } = service.installation
    const shared = await createTemplate(db, systemActor, {
      code: 'SHARED',
      name: '公共',
      content: '你好',
      status: '审核通过',
    })
    const shown = await otherBrowser.call(smsRoutes.template, { parts: { id: shared.id } })
    assert.equal(shown.body.shared, true)
    const reply = await otherBrowser.call(smsRoutes.deleteTemplate, { parts: { id: shared.id } })
    assert.equal(reply.status, 404)
  })

  it('returns the price, sends, and stores a record', async () => {
    const price = await browser.call(smsRoutes.price, { sent: draft })
    assert.equal(price.status, 200)
    assert.match(price.body.text, /^【.+】您的验证码是1234。$/)
    assert.deepEqual([price.body.length, price.body.parts, price.body.cost], [price.body.text.length, 1, 1])
    const had = await pages.remaining('sms')
    const headers = { 'idempotency-key': 'sms-1' }
    const sent = await browser.call(smsRoutes.send, { sent: draft, headers })
    const again = await browser.call(smsRoutes.send, { sent: draft, headers })
    assert.equal(sent.status, 200)
    assert.deepEqual(again.body, sent.body)
    assert.deepEqual([sent.body.charged, sent.body.remaining], [1, had - 1])
    assert.equal(await pages.remaining('sms'), had - 1)
    const call = await pages.loadRequest(sent.body.request_id)
    assert.deepEqual([call.endpoint, call.action, call.gateway, call.charged], ['sms', 'send', 'sandbox', 1])
    assert.ok(!JSON.stringify(call).includes(phone))

    const { body } = await browser.call(smsRoutes.records, { sent: { biz_id: sent.body.biz_id } })
    const [record] = body.items
    assert.deepEqual(
      [record.outcome, record.phone_number, record.template_name, record.charged, record.request_id],
      ['sent', '138****8000', '登录', 1, sent.body.request_id],
    )
    assert.equal(
      (await otherBrowser.call(smsRoutes.records, { sent: { biz_id: sent.body.biz_id } })).body.items.length,
      0,
    )
  })

  it('names the wrong field', async () => {
    const fields = async (
      sent: Record<string, unknown>,
      route: typeof smsRoutes.price | typeof smsRoutes.send,
    ) => Object.keys((await browser.call(route, { sent: { ...draft, ...sent } })).body.error.fields).sort()
    for (const route of [smsRoutes.price, smsRoutes.send] as const) {
      assert.deepEqual(await fields({ phone_number: '123' }, route), ['phone_number'])
      assert.deepEqual(await fields({ template_code: 'NONE' }, route), ['template_code'])
      assert.deepEqual(await fields({ template_params: {} }, route), ['template_params'])
      assert.deepEqual(await fields({ template_params: { code: 7 } }, route), ['template_params'])
      assert.deepEqual(await fields({ sign_name: '【' }, route), ['sign_name'])
    }
    assert.deepEqual(await fields({ phone_number: '1', template_code: 'NONE' }, smsRoutes.price), [
      'phone_number',
      'template_code',
    ])
  })

  it('lists failures with their reason by page, and exports them', async () => {
    const refused = await browser.call(smsRoutes.send, { sent: { ...draft, phone_number: '19900000001' } })
    assert.deepEqual([refused.status, refused.body.error.code], [502, 'upstream'])
    const lost = await browser.call(smsRoutes.send, { sent: { ...draft, phone_number: '19900000002' } })
    assert.equal(lost.status, 502)
    const first = await browser.call(smsRoutes.records, { sent: { size: 1 } })
    assert.equal(first.body.items[0].outcome, 'undecided')
    const second = await browser.call(smsRoutes.records, { sent: { size: 1, before: first.body.next } })
    assert.deepEqual([second.body.items[0].outcome, second.body.items[0].given_back], ['failed', 1])
    assert.ok(second.body.items[0].reason.length > 3)
    const failed = await browser.call(smsRoutes.records, { sent: { outcome: 'failed' } })
    assert.equal(failed.body.items.length, 1)
    const theirs = await otherBrowser.call(smsRoutes.records, { sent: { before: first.body.next } })
    assert.deepEqual(theirs.body, { items: [], next: null })
    const file = await browser.text(smsRoutes.recordsCsv)
    assert.equal(file.text.trim().split('\r\n').length, 4)
    assert.ok(!file.text.includes(phone))
  })

  it('adds a signature with proofs, which only its owner and operators download', async () => {
    const wrong = await browser.call(smsRoutes.addSignature, {
      sent: { sign_name: '【坏】', type: 'company' },
    })
    assert.deepEqual(Object.keys(wrong.body.error.fields), ['sign_name'])
    const added = await browser.call(smsRoutes.addSignature, {
      sent: { sign_name: '好公司', type: 'trademark' },
    })
    assert.deepEqual([added.body.state, added.body.is_default], ['审核中', false])
    const parts = { id: added.body.id }
    const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(100)])
    const upload = (name: string, content: Buffer) =>
      browser.call(smsRoutes.addProof, { parts, sent: { name, content: content.toString('base64') } })
    const html = await upload('licence.png', Buffer.from('<script>alert(1)</script>'))
    assert.deepEqual(Object.keys(html.body.error.fields), ['content'])
    assert.equal((await upload('big.png', Buffer.concat([png, Buffer.alloc(700 * 1024)]))).status, 400)
    const proof = await upload('licence.html', png)
    assert.deepEqual([proof.status, proof.body.media_type, proof.body.size], [200, 'image/png', png.length])
    const stored = await service.installation.db.one<{ content: string }>(
      'SELECT content FROM sms_signature_proof',
    )
    assert.equal(stored!.content.includes(png.toString('base64').slice(0, 20)), false)

    const file = await browser.text(smsRoutes.proofFile, { parts: { id: proof.body.id } })
    assert.match(file.headers.get('content-disposition') ?? '', /^attachment; /)
    assert.equal(file.headers.get('x-content-type-options'), 'nosniff')
    assert.equal(file.headers.get('content-type'), 'application/octet-stream')
    assert.equal((await otherBrowser.text(smsRoutes.proofFile, { parts: { id: proof.body.id } })).status, 404)
    assert.equal((await otherBrowser.call(smsRoutes.deleteSignature, { parts })).status, 404)
    const { items } = (await browser.call(smsRoutes.signatures)).body
    assert.deepEqual(items[0].proofs.length, 1)
    await browser.call(smsRoutes.removeProof, { parts: { ...parts, proof: proof.body.id } })
    await browser.call(smsRoutes.deleteSignature, { parts })
    assert.deepEqual((await browser.call(smsRoutes.signatures)).body.items, [])
  })

  it('adds a number to the stop list and removes it', async () => {
    const added = await browser.call(smsRoutes.addStop, { sent: { phone_number: '13900139001' } })
    assert.equal(added.status, 200)
    const { items } = (await browser.call(smsRoutes.stops)).body
    assert.deepEqual([items[0].phone_number, items[0].source], ['139****9001', 'account'])
    await browser.call(smsRoutes.removeStop, { parts: { id: items[0].id } })
    assert.deepEqual((await browser.call(smsRoutes.stops)).body.items, [])
    assert.deepEqual((await browser.call(smsRoutes.replies)).body.items, [])
  })
})

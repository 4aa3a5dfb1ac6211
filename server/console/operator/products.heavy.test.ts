// Operator pages about products: reviews, link domains, gateways; every change is in the audit log.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemActor } from '../../audit/audit.ts'
import { operatorRoutes } from '../../../contract/console/operator.ts'
import { operatorProductRoutes as routes } from '../../../contract/console/operator-products.ts'
import { linkRoutes } from '../../../contract/console/shortlink.ts'
import { smsRoutes } from '../../../contract/console/sms.ts'
import { type Browser, operator, signedIn } from '../../../test/support/console.ts'
import { onEachEngine } from '../../../test/support/engines.ts'
import { json, startFakeUpstream } from '../../../test/support/fake-upstream.ts'
import { startService, type TestAccount, type TestService } from '../../../test/support/service.ts'
import { createTemplate, editTemplate } from '../../sms/templates.ts'

onEachEngine('the operator’s product pages', (engine) => {
  let service: TestService
  let operatorBrowser: Browser & { readonly username: string }
  let account: TestAccount
  let holder: Browser

  before(async () => {
    service = await startService(engine, { SWEEP_S: '3600' })
    operatorBrowser = await operator(service)
    account = await service.account({ short_link: 50, sms: 10 })
    holder = await signedIn(service, account)
  })
  after(() => service[Symbol.asyncDispose]())

  async function lastAudit() {
    const { body } = await operatorBrowser.call(operatorRoutes.audit, { sent: { size: 1 } })
    const { actor, action, target, note } = body.items[0]
    assert.equal(actor, operatorBrowser.username)
    return [action, target, note]
  }

  describe('review', () => {
    const decide = (kind: string, id: number, sent: Record<string, unknown>) =>
      operatorBrowser.call(routes.decideReview, { parts: { kind, id }, sent: { note: '已核对', ...sent } })

    it('approves and refuses templates with a reason for the account holder', async () => {
      const created = await holder.call(smsRoutes.createTemplate, {
        sent: { name: '验证码', content: '码${code}', code: 'LOGIN' },
      })
      const { id } = created.body
      const waiting = await operatorBrowser.call(routes.reviews)
      assert.deepEqual(
        [waiting.body.total, waiting.body.items[0].username, waiting.body.items[0].content],
        [1, account.username, '码${code}'],
      )
      const reasonless = await decide('template', id, { verdict: 'refuse' })
      assert.deepEqual(Object.keys(reasonless.body.error.fields), ['reason'])
      const withoutNote = await decide('template', id, { verdict: 'approve', note: ' ' })
      assert.deepEqual(Object.keys(withoutNote.body.error.fields), ['note'])
      const unexplained = await decide('template', id, { verdict: 'refuse', note: undefined })
      assert.deepEqual(Object.keys(unexplained.body.error.fields), ['reason', 'note'])
      const refused = await decide('template', id, { verdict: 'refuse', reason: '缺少用途' })
      assert.equal(refused.body.state, '审核不通过')
      assert.deepEqual(await lastAudit(), ['template.refuse', account.username, '已核对'])
      const gateway = await holder.call(smsRoutes.template, { parts: { id } })
      assert.deepEqual([gateway.body.state, gateway.body.reason], ['审核不通过', '缺少用途'])
      assert.equal((await operatorBrowser.call(routes.reviews)).body.total, 0)
      assert.equal(
        (await operatorBrowser.call(routes.reviews, { sent: { state: '审核不通过' } })).body.total,
        1,
      )
      const approved = await decide('template', id, { verdict: 'approve', note: undefined })
      assert.equal(approved.body.state, '审核通过')
      const twice = await decide('template', id, { verdict: 'approve' })
      assert.deepEqual([twice.status, twice.body.error.code], [409, 'conflict'])
      assert.equal((await decide('template', 999_999, { verdict: 'approve' })).status, 404)
      assert.equal((await decide('other', id, { verdict: 'approve' })).status, 404)
    })

    it('does not approve a text that changed after it was read', async () => {
      const { db } = service.installation
      const own = { kind: 'account', accountId: account.id } as const
      const { id, revision } = await createTemplate(db, own, { name: '名', content: '旧', code: 'OLD' })
      await editTemplate(db, own, id, { content: '新' })
      const stale = await decide('template', id, { verdict: 'approve', revision })
      assert.equal(stale.body.error.code, 'conflict')
      assert.equal((await decide('template', id, { verdict: 'approve', revision: revision + 1 })).status, 200)
    })

    it('approves a signature and revokes it', async () => {
      const waiting = async () => (await operatorBrowser.call(operatorRoutes.waiting)).body.reviews
      const had = await waiting()
      const added = await holder.call(smsRoutes.addSignature, {
        sent: { sign_name: '第一家', type: 'company', note: '见营业执照' },
      })
      const first = (await operatorBrowser.call(routes.reviews, { sent: { kind: 'signature' } })).body
        .items[0]
      assert.deepEqual([first.name, first.note, first.type], ['第一家', '见营业执照', 'company'])
      assert.equal(await waiting(), had + 1)
      const pdf = Buffer.from('%PDF-1.7 licence').toString('base64')
      const parts = { id: added.body.id }
      await holder.call(smsRoutes.addProof, { parts, sent: { name: 'licence.pdf', content: pdf } })
      const { revision } = first
      const stale = await decide('signature', first.id, { verdict: 'approve', revision })
      assert.equal(stale.body.error.code, 'conflict', 'the proofs have changed')
      const second = (await operatorBrowser.call(routes.reviews, { sent: { kind: 'signature' } })).body
        .items[0]
      const file = await operatorBrowser.text(routes.proofFile, { parts: { id: second.proofs[0].id } })
      assert.equal(file.text, '%PDF-1.7 licence')
      assert.equal((await decide('signature', second.id, { verdict: 'approve' })).body.state, '审核通过')
      assert.deepEqual(await lastAudit(), ['signature.approve', account.username, '已核对'])
      assert.equal((await holder.call(smsRoutes.signature)).body.sign_name, '第一家')
      await decide('signature', second.id, { verdict: 'refuse', reason: '冒用' })
      assert.equal((await holder.call(smsRoutes.signature)).body.sign_name, null)
      assert.equal((await holder.call(smsRoutes.signatures)).body.items[0].reason, '冒用')
      assert.deepEqual((await operatorBrowser.call(routes.unmatchedReplies)).body.items, [])
    })
  })

  describe('link domains', () => {
    const add = (pool: string, host: string) =>
      operatorBrowser.call(routes.addDomain, { sent: { pool, host, note: '备案完成' } })
    const create = async () =>
      (await holder.call(linkRoutes.create, { sent: { target_url: 'https://example.com/' } })).body.link

    it('adds, probes and removes domains', async () => {
      const created = await add('a', 'S1.Example.com')
      assert.deepEqual(
        [created.body.host, created.body.state, created.body.probed_at],
        ['s1.example.com', 'unknown', null],
      )
      assert.deepEqual(await lastAudit(), ['domain.add', 's1.example.com', '备案完成'])
      assert.deepEqual(Object.keys((await add('b', 's1.example.com')).body.error.fields), ['host'])
      assert.deepEqual(Object.keys((await add('a', 'no host')).body.error.fields), ['host'])
      const blocked = (await add('b', 'x.blocked.test')).body
      const down = (await add('b', 'x.down.test')).body
      const probe = async (id: number) =>
        (await operatorBrowser.call(routes.probeDomain, { parts: { id } })).body
      assert.equal((await probe(created.body.id)).state, 'ok')
      assert.equal((await probe(blocked.id)).state, 'blocked')
      const failed = await probe(down.id)
      assert.equal(failed.state, 'failed')
      assert.ok(failed.probed_at > 0)
      assert.match((await create()).b_url, /x\.down\.test/, 'a blocked domain gets no new links')
      const { items } = (await operatorBrowser.call(routes.domains)).body
      assert.deepEqual(
        items.map((one: { host: string }) => one.host),
        ['s1.example.com', 'x.blocked.test', 'x.down.test'],
      )
      for (const { id } of items) {
        assert.deepEqual(
          (await operatorBrowser.call(routes.removeDomain, { parts: { id }, sent: { note: '停用' } })).body,
          {},
        )
      }
      assert.deepEqual(await lastAudit(), ['domain.remove', 'x.down.test', '停用'])
      assert.deepEqual((await operatorBrowser.call(routes.domains)).body.items, [])
      assert.equal(
        (await operatorBrowser.call(routes.probeDomain, { parts: { id: created.body.id } })).status,
        404,
      )
      const withoutNote = await operatorBrowser.call(routes.removeDomain, { parts: { id: 1 } })
      assert.deepEqual(Object.keys(withoutNote.body.error.fields), ['note'])
    })

    it('probes domains in the background and creates no links on a blocked domain', async () => {
      await add('a', 'good.example.com')
      const bad = (await add('a', 'bad.blocked.test')).body
      const state = async () =>
        (await operatorBrowser.call(routes.domains)).body.items.find(
          (one: { id: number }) => one.id === bad.id,
        ).state
      while ((await state()) !== 'blocked') {
        await service.app.domainCheck.watch.round()
        await sleep(20)
      }
      for (let i = 0; i < 3; i += 1) assert.match((await create()).a_url, /good\.example\.com/)
      const metrics = await service.app.services.metrics.metrics()
      assert.match(metrics, /tollgate_link_domains_blocked\{pool="a"\} 1/)
      assert.equal(
        await service.app.services.credits.balance(account.id, 'domain_check').then((one) => one.used),
        0,
      )
    })
  })

  describe('gateways', () => {
    it('lists gateways with their health and sends a test', async () => {
      const { items } = (await operatorBrowser.call(routes.gateways)).body
      const on = items.filter((one: { position: number | null }) => one.position !== null)
      assert.deepEqual(
        on.map((one: { group: string; name: string; breaker: string }) => [one.group, one.name, one.breaker]),
        [
          ['sms', 'sandbox', 'closed'],
          ['identity', 'sandbox', 'closed'],
          ['domain_check', 'sandbox', 'closed'],
        ],
      )
      assert.ok(items.some((one: { name: string }) => one.name === 'aliyun'))
      const test = (group: string, sent: Record<string, unknown> = {}, name = 'sandbox') =>
        operatorBrowser.call(routes.testGateway, { parts: { group, name }, sent: { note: '巡检', ...sent } })
      for (const group of ['identity', 'domain_check']) {
        const tested = await test(group)
        assert.equal(tested.body.ok, true, group)
        assert.deepEqual(await lastAudit(), ['gateway.test', `${group} sandbox`, '巡检'])
      }
      assert.deepEqual(Object.keys((await test('sms')).body.error.fields), ['phone_number'])
      assert.equal((await test('sms', { phone_number: '13800138000' })).body.ok, true)
      await createTemplate(service.installation.db, systemActor, {
        code: 'PUBLIC',
        name: '公共',
        content: '码${code}',
        status: '审核通过',
      })
      assert.match((await test('sms', { phone_number: '13800138000' })).body.message, /PUBLIC/)
      const refused = await test('sms', { phone_number: '19900000001' })
      assert.equal(refused.body.ok, false)
      assert.equal((await test('sms', { phone_number: '13800138000' }, 'aliyun')).status, 404)
      assert.equal((await test('nothing')).status, 404)
      const gateway = (await operatorBrowser.call(routes.gateways)).body.items[0]
      assert.deepEqual([gateway.name, gateway.calls], ['sandbox', 2])
      assert.ok(gateway.last_ok_at > 0)
      const audit = await operatorBrowser.call(operatorRoutes.audit, { sent: { action: 'gateway.test' } })
      assert.ok(!JSON.stringify(audit.body).includes('13800138000'))
    })

    it('shows an open breaker, also on the overview', async () => {
      const upstream = await startFakeUpstream(() => json(503, {}))
      await using broken = await startService(engine, {
        DOMAIN_GATEWAYS: 'http',
        DOMAIN_HTTP_PRESET: 'uomg',
        DOMAIN_HTTP_URL: upstream.url,
        DOMAIN_HTTP_TOKEN: 'secret-token',
      })
      const own = await operator(broken)
      await Promise.all(Array.from({ length: 25 }, (_one, i) => broken.app.domainCheck.probe(`x${i}.com`)))
      const { body } = await own.call(routes.gateways)
      const gateway = body.items.find(
        (one: { group: string; name: string }) => one.group === 'domain_check' && one.name === 'http',
      )
      assert.deepEqual([gateway.breaker, gateway.last_ok_at], ['open', null])
      assert.ok(gateway.failures >= 20)
      assert.ok(gateway.last_error_at > 0)
      assert.ok(!JSON.stringify(body).includes('secret-token'))
      const overview = (await own.call(operatorRoutes.overview)).body
      assert.deepEqual(overview.gateways[2], { group: 'domain_check', names: ['http'], down: ['http'] })
      await upstream.close()
    })
  })
})

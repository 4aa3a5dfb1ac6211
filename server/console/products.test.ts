// The account holder's product pages: what each route does, what it costs, and that nobody reaches another's things.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { domainCheckRoutes } from '../../contract/console/domain-check.ts'
import { identityRoutes } from '../../contract/console/identity.ts'
import { requestRoutes } from '../../contract/console/requests.ts'
import { linkRoutes } from '../../contract/console/shortlink.ts'
import { smsRoutes } from '../../contract/console/sms.ts'
import type { ApiType } from '../../contract/credits.ts'
import { formatDay } from '../../contract/time.ts'
import { type Browser, signedIn } from '../../test/support/console.ts'
import { onEachEngine } from '../../test/support/engines.ts'
import { startService, type TestAccount, type TestService } from '../../test/support/service.ts'
import { checkLedger } from '../credits/check-store.ts'
import { createTemplate, reviewTemplate } from '../sms/templates.ts'

const phone = '13800138000'
const person = { name: '张三', idcard: '11010519491231002X' }

onEachEngine('product pages', (engine) => {
  let service: TestService
  let account: TestAccount
  let browser: Browser
  let stranger: Browser

  const all = { short_link: 100, sms: 100, id_verification: 100, domain_check: 100 }

  before(async () => {
    service = await startService(engine, { SWEEP_S: '3600', DOMAIN_WATCH_S: '3600' })
    account = await service.account(all)
    browser = await signedIn(service, account)
    stranger = await signedIn(service, await service.account(all))
  })
  after(() => service[Symbol.asyncDispose]())

  const remaining = async (type: ApiType, of = account) =>
    (await service.app.services.credits.balance(of.id, type)).remaining

  async function fresh(credits: Partial<Record<ApiType, number>>) {
    const made = await service.account(credits)
    return { made, browser: await signedIn(service, made) }
  }

  async function expired() {
    const { made, browser: theirs } = await fresh(all)
    await service.installation.db.write((tx) =>
      tx.run(`UPDATE account SET expires_on = '2020-01-01' WHERE id = ?`, [made.id]),
    )
    return theirs
  }

  /** The call as the inspector shows it. */
  async function inspected(requestId: string, by = browser) {
    await service.app.requestLog.flush()
    return (await by.call(requestRoutes.one, { parts: { id: requestId } })).body
  }

  describe('short links', () => {
    const create = (sent: Record<string, unknown>, by = browser, headers: Record<string, string> = {}) =>
      by.call(linkRoutes.create, { sent, headers })

    it('makes, shows, changes and refreshes a link', async () => {
      const had = await remaining('short_link')
      const made = await create({ target_url: 'https://example.com/a?b=1' })
      assert.equal(made.status, 200)
      const { link } = made.body
      assert.deepEqual([made.body.charged, made.body.remaining], [1, had - 1])
      assert.equal(link.title, 'example.com')
      assert.equal(link.daily.length, 14)
      assert.deepEqual(link.retired, [])
      const call = await inspected(made.headers.get('x-request-id')!)
      assert.deepEqual(
        [call.endpoint, call.action, call.ok, call.charged],
        ['shortlink', 'generate', true, 1],
      )

      const changed = await browser.call(linkRoutes.change, {
        parts: { id: link.id },
        sent: { title: '新的', target_url: 'https://example.com/c' },
      })
      assert.deepEqual([changed.body.title, changed.body.target_url], ['新的', 'https://example.com/c'])
      const refreshed = await browser.call(linkRoutes.refresh, { parts: { id: link.id } })
      assert.notEqual(refreshed.body.link.short_code, link.short_code)
      assert.equal(refreshed.body.link.retired[0].short_code, link.short_code)
      assert.equal(await remaining('short_link'), had - 1 - refreshed.body.charged)
      const shown = await browser.call(linkRoutes.one, { parts: { id: link.id } })
      assert.deepEqual(shown.body, refreshed.body.link)
    })

    it('charges once for one idempotency key', async () => {
      const had = await remaining('short_link')
      const headers = { 'idempotency-key': 'link-1' }
      const [one, other] = [
        await create({ target_url: 'https://example.com/once' }, browser, headers),
        await create({ target_url: 'https://example.com/once' }, browser, headers),
      ]
      assert.equal(one.body.link.id, other.body.link.id)
      assert.equal(await remaining('short_link'), had - 1)
      const differing = await create({ target_url: 'https://example.com/else' }, browser, headers)
      assert.deepEqual([differing.status, differing.body.error.code], [409, 'conflict'])
    })

    it('names the field that is wrong, and says when credits are short', async () => {
      const wrong = await create({ target_url: 'javascript:alert(1)', title: 'x'.repeat(250) })
      assert.equal(wrong.status, 400)
      assert.deepEqual(Object.keys(wrong.body.error.fields).sort(), ['target_url', 'title'])
      const poor = await fresh({})
      const refused = await create({ target_url: 'https://example.com' }, poor.browser)
      assert.deepEqual([refused.status, refused.body.error.code], [409, 'insufficient'])
    })

    it('searches, filters, sorts and pages', async () => {
      const { browser: own, made } = await fresh({ short_link: 50 })
      const links: { id: number; short_code: string }[] = []
      for (let i = 0; i < 7; i += 1) {
        const reply = await create(
          {
            target_url: `https://example.com/${i}`,
            title: i % 2 === 0 ? `Ab%${i}` : `zz_${i}`,
            redirect_type: i === 3 ? 'page' : 'direct',
          },
          own,
        )
        links.push(reply.body.link)
      }
      const list = async (sent: Record<string, unknown>) => {
        const { body } = await own.call(linkRoutes.list, { sent })
        return {
          ids: body.items.map((one: { id: number }) => links.findIndex(({ id }) => id === one.id)),
          total: body.total,
        }
      }
      assert.deepEqual(await list({ size: 3 }), { ids: [6, 5, 4], total: 7 })
      assert.deepEqual(await list({ size: 3, page: 3 }), { ids: [0], total: 7 })
      assert.deepEqual(await list({ order: 'asc', size: 2 }), { ids: [0, 1], total: 7 })
      assert.deepEqual(await list({ q: 'aB%' }), { ids: [6, 4, 2, 0], total: 4 })
      assert.deepEqual(await list({ q: 'COM/5' }), { ids: [5], total: 1 })
      assert.deepEqual(await list({ q: 'a_' }), { ids: [], total: 0 })
      assert.deepEqual(await list({ q: links[1]!.short_code }), { ids: [1], total: 1 })
      assert.deepEqual(await list({ redirect_type: 'page' }), { ids: [3], total: 1 })
      assert.deepEqual(await list({ sort: 'title', size: 5 }), { ids: [0, 2, 4, 6, 1], total: 7 })
      const today = formatDay(Date.now())
      assert.equal((await list({ from: today, to: today })).total, 7)
      assert.equal((await list({ to: '2020-01-01' })).total, 0)

      for (const times of [1, 2]) {
        for (const one of [links[2]!, ...(times === 2 ? [] : [links[4]!])]) {
          await fetch(`${service.url}/${one.short_code}`, {
            redirect: 'manual',
            headers: { 'user-agent': 'Mozilla/5.0 (Windows NT 10.0) Chrome/120.0 Safari/537.36' },
          })
        }
      }
      const clicked = await own.call(linkRoutes.one, { parts: { id: links[2]!.id } })
      assert.deepEqual([clicked.body.clicks, clicked.body.daily.at(-1)], [2, 2])
      await own.call(linkRoutes.one, { parts: { id: links[4]!.id } })
      assert.deepEqual((await list({ sort: 'clicks', size: 3 })).ids, [2, 4, 6])
      assert.deepEqual((await list({ sort: 'clicks', order: 'asc', size: 2 })).ids, [0, 1])

      const clicks = await own.call(linkRoutes.clicks, { parts: { id: links[2]!.id } })
      assert.equal(clicks.body.points.length, 30)
      assert.equal(clicks.body.points.at(-1).person, 2)
      assert.equal(clicks.body.browsers[0].count, 2)
      const hours = await own.call(linkRoutes.clicks, { parts: { id: links[2]!.id }, sent: { unit: 'hour' } })
      assert.equal(hours.body.points.length, 24)
      assert.equal(
        hours.body.points.reduce((sum: number, one: { person: number }) => sum + one.person, 0),
        2,
      )
      const long = await own.call(linkRoutes.clicks, {
        parts: { id: links[2]!.id },
        sent: { unit: 'hour', from: '2026-01-01', to: '2026-01-31' },
      })
      assert.equal(long.status, 400)

      const file = await own.text(linkRoutes.csv, { sent: { q: 'ab' } })
      assert.equal(file.text.charCodeAt(0), 0xfeff)
      assert.equal(file.text.trim().split('\r\n').length, 5)
      const points = await own.text(linkRoutes.clicksCsv, { parts: { id: links[2]!.id } })
      assert.equal(points.text.trim().split('\r\n').length, 31)
      assert.equal(await remaining('short_link', made), 43)
    })

    it('knows nothing of another account’s link', async () => {
      const { link } = (await create({ target_url: 'https://example.com/mine' })).body
      for (const [name, route] of Object.entries(linkRoutes)) {
        if (!route.path.includes(':id')) continue
        const reply = await stranger.call(route, {
          parts: { id: link.id },
          sent: route.method === 'PATCH' ? { title: 'x' } : {},
        })
        assert.equal(reply.status, 404, name)
        assert.equal(reply.body.error.code, 'not_found', name)
      }
      assert.deepEqual((await stranger.call(linkRoutes.list)).body.items, [])
    })
  })

  describe('SMS', () => {
    const wish = { name: '验证码', content: '您的验证码是${code}。', code: 'LOGIN' }
    const draft = { phone_number: phone, template_code: 'LOGIN', template_params: { code: '1234' } }

    it('writes, changes and deletes templates', async () => {
      const made = await browser.call(smsRoutes.createTemplate, { sent: wish })
      assert.equal(made.status, 200)
      assert.deepEqual([made.body.state, made.body.variables, made.body.shared], ['审核中', ['code'], false])
      const parts = { id: made.body.id }
      const taken = await browser.call(smsRoutes.createTemplate, { sent: wish })
      assert.deepEqual(Object.keys(taken.body.error.fields), ['code'])
      const broken = await browser.call(smsRoutes.createTemplate, { sent: { name: '坏', content: '${' } })
      assert.deepEqual(Object.keys(broken.body.error.fields), ['content'])
      const nameless = await browser.call(smsRoutes.createTemplate, {
        sent: { name: '通知', content: '您好' },
      })
      assert.equal(nameless.body.code, `SMS_${nameless.body.id}`)

      await reviewTemplate(service.installation.db, { kind: 'operator' }, parts.id, { status: '审核通过' })
      const listed = await browser.call(smsRoutes.templates, { sent: { q: 'login', state: '审核通过' } })
      assert.deepEqual([listed.body.total, listed.body.items[0].id], [1, parts.id])
      const words = { name: wish.name, content: wish.content }
      const changed = await browser.call(smsRoutes.changeTemplate, {
        parts,
        sent: { ...words, name: '登录' },
      })
      assert.deepEqual([changed.body.name, changed.body.state], ['登录', '审核中'])
      await reviewTemplate(service.installation.db, { kind: 'operator' }, parts.id, { status: '审核通过' })

      const gone = await browser.call(smsRoutes.deleteTemplate, { parts: { id: nameless.body.id } })
      assert.deepEqual(gone.body, {})
      assert.equal((await browser.call(smsRoutes.template, { parts: { id: nameless.body.id } })).status, 404)
      for (const route of [smsRoutes.template, smsRoutes.changeTemplate, smsRoutes.deleteTemplate]) {
        const reply = await stranger.call(route, { parts, sent: route.method === 'PATCH' ? words : {} })
        assert.deepEqual([reply.status, reply.body.error.code], [404, 'not_found'])
      }
    })

    it('shows shared templates, which nobody changes', async () => {
      const { db } = service.installation
      const shared = await createTemplate(
        db,
        { kind: 'operator' },
        { code: 'SHARED', name: '公共', content: '你好', status: '审核通过' },
      )
      const shown = await stranger.call(smsRoutes.template, { parts: { id: shared.id } })
      assert.equal(shown.body.shared, true)
      const reply = await stranger.call(smsRoutes.deleteTemplate, { parts: { id: shared.id } })
      assert.equal(reply.status, 404)
    })

    it('tells the price first, sends, and keeps a record', async () => {
      const price = await browser.call(smsRoutes.price, { sent: draft })
      assert.equal(price.status, 200)
      assert.match(price.body.text, /^【.+】您的验证码是1234。$/)
      assert.deepEqual([price.body.length, price.body.parts, price.body.cost], [price.body.text.length, 1, 1])
      const had = await remaining('sms')
      const headers = { 'idempotency-key': 'sms-1' }
      const sent = await browser.call(smsRoutes.send, { sent: draft, headers })
      const again = await browser.call(smsRoutes.send, { sent: draft, headers })
      assert.equal(sent.status, 200)
      assert.deepEqual(again.body, sent.body)
      assert.deepEqual([sent.body.charged, sent.body.remaining], [1, had - 1])
      assert.equal(await remaining('sms'), had - 1)
      const call = await inspected(sent.body.request_id)
      assert.deepEqual(
        [call.endpoint, call.action, call.gateway, call.charged],
        ['sms', 'send', 'sandbox', 1],
      )
      assert.ok(!JSON.stringify(call).includes(phone))

      const { body } = await browser.call(smsRoutes.records, { sent: { biz_id: sent.body.biz_id } })
      const [record] = body.items
      assert.deepEqual(
        [record.outcome, record.phone_number, record.template_name, record.charged, record.request_id],
        ['sent', '138****8000', '登录', 1, sent.body.request_id],
      )
      assert.equal(
        (await stranger.call(smsRoutes.records, { sent: { biz_id: sent.body.biz_id } })).body.items.length,
        0,
      )
    })

    it('says beside the field what is wrong', async () => {
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

    it('lists failures with their reason, by pages, and exports', async () => {
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
      const theirs = await stranger.call(smsRoutes.records, { sent: { before: first.body.next } })
      assert.deepEqual(theirs.body, { items: [], next: null })
      const file = await browser.text(smsRoutes.recordsCsv)
      assert.equal(file.text.trim().split('\r\n').length, 4)
      assert.ok(!file.text.includes(phone))
    })

    it('asks for a signature and takes it away', async () => {
      const wrong = await browser.call(smsRoutes.changeSignature, { sent: { sign_name: '【坏】' } })
      assert.deepEqual(Object.keys(wrong.body.error.fields), ['sign_name'])
      const asked = await browser.call(smsRoutes.changeSignature, { sent: { sign_name: '好公司' } })
      assert.deepEqual([asked.body.sign_name, asked.body.request.state], [null, '审核中'])
      assert.deepEqual((await browser.call(smsRoutes.signature)).body, asked.body)
      const away = await browser.call(smsRoutes.changeSignature, { sent: { sign_name: '' } })
      assert.deepEqual([away.body.sign_name, away.body.request], [null, null])
    })
  })

  describe('identity', () => {
    it('verifies by hand at the same price, and keeps a masked history', async () => {
      const { browser: own, made } = await fresh({ id_verification: 3 })
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
      const unknown = await verify('无记录')
      assert.deepEqual(
        [unknown.body.outcome, unknown.body.given_back, unknown.body.remaining],
        ['no_record', 1, 1],
      )
      assert.equal((await verify('上游故障')).body.outcome, 'failed')
      const wrong = await own.call(identityRoutes.verify, { sent: { name: '张', idcard: '1' } })
      assert.deepEqual(Object.keys(wrong.body.error.fields).sort(), ['idcard', 'name'])
      await verify('张三')
      const poor = await verify('张三')
      assert.deepEqual([poor.status, poor.body.error.code], [409, 'insufficient'])

      const call = await inspected(matched.body.request_id, own)
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
      assert.deepEqual((await stranger.call(identityRoutes.history)).body.items, [])
      assert.equal(await remaining('id_verification', made), 0)
    })
  })

  describe('domain check', () => {
    async function finished(by: Browser, id: number) {
      for (;;) {
        const { body } = await by.call(domainCheckRoutes.run, { parts: { id } })
        if (body.state !== 'running') return body
        await sleep(20)
      }
    }

    /** The verdicts on one's list once that place has one; the service's own rounds may come first. */
    async function verdicts(by: Browser, place: number): Promise<(string | null)[]> {
      for (;;) {
        await service.app.domainCheck.watch.round()
        const { items } = (await by.call(domainCheckRoutes.watches)).body
        if (items[place].verdict !== null) return items.map((one: { verdict: string | null }) => one.verdict)
        await sleep(20)
      }
    }

    it('starts a check, shows it while it runs, exports it', async () => {
      const { browser: own, made } = await fresh({ domain_check: 10 })
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
      assert.equal(await remaining('domain_check', made), 4)
      const call = await inspected(started.body.request_id, own)
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
        assert.equal((await stranger.call(route, { parts: { id: started.body.id } })).status, 404)
      }
      assert.deepEqual((await stranger.call(domainCheckRoutes.runs)).body.items, [])
    })

    it('keeps a watch list of one’s own, with history', async () => {
      const { browser: own } = await fresh({ domain_check: 10 })
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
        assert.equal((await stranger.call(route, { parts })).status, 404)
      }
      assert.deepEqual((await own.call(domainCheckRoutes.removeWatch, { parts })).body, {})
      assert.equal((await own.call(domainCheckRoutes.watches)).body.items.length, 1)
    })
  })

  it('lets an expired account look, and neither consume nor change', async () => {
    const theirs = await expired()
    const tries = [
      [linkRoutes.create, { target_url: 'https://example.com' }],
      [smsRoutes.send, { phone_number: phone, template_code: 'SHARED' }],
      [smsRoutes.createTemplate, { name: '名', content: '内容' }],
      [smsRoutes.changeSignature, { sign_name: '某公司' }],
      [identityRoutes.verify, person],
      [domainCheckRoutes.start, { urls: ['a.com'] }],
      [domainCheckRoutes.addWatch, { url: 'a.com', every_minutes: 60 }],
    ] as const
    for (const [route, sent] of tries) {
      const reply = await theirs.call(route, { sent })
      assert.deepEqual([reply.status, reply.body.error.code], [403, 'expired'], route.path)
    }
    for (const route of [
      linkRoutes.list,
      smsRoutes.templates,
      identityRoutes.history,
      domainCheckRoutes.runs,
    ]) {
      assert.equal((await theirs.call(route)).status, 200, route.path)
    }
  })

  it('sells exactly what there is, however many ask at once', async () => {
    const { browser: own, made } = await fresh({ id_verification: 5 })
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => own.call(identityRoutes.verify, { sent: person })),
    )
    assert.equal(replies.filter(({ status }) => status === 200).length, 5)
    assert.equal(await remaining('id_verification', made), 0)
    const report = await checkLedger(service.installation.db, 60_000)
    assert.deepEqual(report.problems, [])
  })
})

// An interrupted connection: pages keep inputs and data, show a message, and continue when the connection is restored.
import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { systemActor } from '../../server/audit/audit.ts'
import { createAccount } from '../../server/accounts/accounts.ts'
import { addSignature } from '../../server/sms/signatures.ts'
import {
  browserTest,
  confirmIdentity,
  noBrowser,
  openBrowser,
  signIn,
  type TestBrowser,
} from '../support/browser.ts'
import { uniqueName } from '../support/engines.ts'
import { startFakeUpstream, text } from '../support/fake-upstream.ts'
import { post, startService, type TestService } from '../support/service.ts'

let service: TestService
let browser: TestBrowser
const password = 'correct horse 9'

/** Closes what `before` started, even when `before` fails. */
const started = new AsyncDisposableStack()

before(async () => {
  if (noBrowser !== false) return
  service = started.use(await startService('sqlite'))
  browser = started.use(await openBrowser())
})
after(() => started.disposeAsync())

/** Collects the URLs with this beginning that the page requests. */
function collectRequests(page: Page, path: string): readonly string[] {
  const urls: string[] = []
  page.on('request', (request) => {
    if (request.url().startsWith(service.url + path)) urls.push(request.url())
  })
  return urls
}

const offlineMessage = '网络连接中断，填写的内容已保留，请在恢复后重试。'
const staleMessage = '刷新失败，当前显示的是之前的数据'

describe('without a connection', () => {
  browserTest('a form shows a message and keeps its input, and a retry runs once', async () => {
    const account = await service.account({ short_link: 10 })
    await using visitor = await browser.visit(service.url)
    const { page } = visitor
    await signIn(visitor, account)
    const lists = collectRequests(page, '/console/api/links?')
    await page.goto('/console/shortlink')
    await page.getByText('还没有短链接').waitFor()
    assert.equal(lists.length, new Set(lists).size, 'the page uses what index.html has requested')
    await page.getByRole('button', { name: '创建短链接' }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('目标地址', { exact: true }).fill('https://example.com/offer')
    await visitor.context.setOffline(true)
    await dialog.getByRole('button', { name: '创建短链接' }).click()
    await dialog.getByText(offlineMessage).waitFor()
    assert.equal(
      await dialog.getByLabel('目标地址', { exact: true }).inputValue(),
      'https://example.com/offer',
    )
    await visitor.context.setOffline(false)
    await dialog.getByRole('button', { name: '创建短链接' }).click()
    await page.getByText('https://example.com/offer').first().waitFor()
    const balances = await service.app.services.credits.balances(account.id)
    assert.equal(balances.find(({ api_type }) => api_type === 'short_link')?.used, 1)
  })

  browserTest('a retry after the error page of a proxy is not charged twice', async () => {
    const account = await service.account({ short_link: 10 })
    await using visitor = await browser.visit(service.url, { language: 'en' })
    const { page } = visitor
    await signIn(visitor, account)
    await page.goto('/console/shortlink')
    await page.getByRole('button', { name: 'Create short link' }).first().click()
    const dialog = page.getByRole('dialog')
    const target = dialog.getByLabel('Target', { exact: true })
    await target.fill('https://example.com/offer')
    // The service has created the link, but the proxy has lost the connection to it.
    await page.route(/\/console\/api\/links$/, async (route) => {
      assert.equal((await route.fetch()).status(), 200)
      await route.fulfill({
        status: 502,
        contentType: 'text/html',
        body: '<html><h1>502 Bad Gateway</h1></html>',
      })
    })
    await dialog.getByRole('button', { name: 'Create short link' }).click()
    await dialog.getByText(/could not be read \(HTTP 502\)\. Your input is kept/).waitFor()
    assert.equal(await target.inputValue(), 'https://example.com/offer')
    await page.unroute(/\/console\/api\/links$/)
    await dialog.getByRole('button', { name: 'Create short link' }).click()
    await page.getByText('https://example.com/offer').first().waitFor()
    const { used } = await service.app.services.credits.balance(account.id, 'short_link')
    assert.equal(used, 1, 'charged once')
  })

  browserTest('a retry of an operator after the error page of a proxy grants credits once', async () => {
    const account = await service.account({ sms: 10 })
    const { db } = service.installation
    const boss = await createAccount(db, systemActor, { username: uniqueName(), password, role: 'operator' })
    await using visitor = await browser.visit(service.url)
    const { page } = visitor
    await signIn(visitor, boss)
    await page.goto(`/console/operator/accounts/${account.id}`)
    await page.getByRole('button', { name: '发放或扣减额度' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('数量').fill('5')
    await dialog.getByLabel('备注').fill('bank transfer')
    const grant = () => dialog.getByRole('button', { name: '发放', exact: true }).click()
    await grant()
    await confirmIdentity(page, password)
    await page.getByText('15', { exact: true }).first().waitFor()
    await page.getByRole('button', { name: '发放或扣减额度' }).click()
    await dialog.getByLabel('数量').fill('7')
    await dialog.getByLabel('备注').fill('bank transfer')
    const path = /\/accounts\/\d+\/credits$/
    await page.route(path, async (route) => {
      assert.equal((await route.fetch()).status(), 200)
      await route.fulfill({ status: 502, contentType: 'text/html', body: '<h1>502 Bad Gateway</h1>' })
    })
    await grant()
    await dialog.getByText(/无法读取服务的响应（HTTP 502）/).waitFor()
    await page.unroute(path)
    await grant()
    await dialog.waitFor({ state: 'hidden' })
    const { remaining } = await service.app.services.credits.balance(account.id, 'sms')
    assert.equal(remaining, 22)
  })

  browserTest('while scripts are loading, the page shows the navigation and the balances', async () => {
    const account = await service.account({ short_link: 12_345 })
    await using visitor = await browser.visit(service.url)
    const { page } = visitor
    await signIn(visitor, account)
    await page.locator('main h1').waitFor()
    let release = () => {}
    const released = new Promise<void>((resolve) => (release = resolve))
    await page.route(/\/assets\/.*\.js/, async (route) => {
      await released
      await route.continue()
    })
    const homes = collectRequests(page, '/console/api/home?')
    await page.goto('/console/', { waitUntil: 'commit' })
    const boot = page.locator('.boot')
    await boot.locator('.figure', { hasText: '12,345' }).waitFor()
    assert.deepEqual(await boot.locator('.nav a').allInnerTexts(), [
      ...['首页', '短链接', '短信', '身份核验', '域名检测'],
      ...['API 密钥', '安全', '请求记录', '事件通知', '接口文档'],
      ...['额度', '购买', '订单', '对账单', '发票'],
    ])
    assert.match(await boot.locator('.banner').innerText(), /^沙箱模式：短信、身份核验、域名检测为模拟结果/)
    assert.equal(homes.length, 1)
    release()
    await page.locator('main .ant-progress').first().waitFor()
    await page.locator('main .figure', { hasText: '12,345' }).waitFor()
    assert.equal(await boot.count(), 0)
    assert.equal(homes.length, new Set(homes).size, 'the page uses what index.html has requested')
    assert.deepEqual(visitor.problems, [])
  })

  browserTest('while scripts are loading, the page of the links shows the first links', async () => {
    const account = await service.account({ short_link: 10 })
    await post(`${service.url}/api/shortlink_api.php`, {
      action: 'generate',
      username: account.username,
      api_key: account.key,
      target_url: 'https://example.com/offer',
      title: 'Autumn <b>offer</b>',
    })
    await using visitor = await browser.visit(service.url)
    const { page } = visitor
    await signIn(visitor, account)
    await page.locator('main h1').waitFor()
    const released = Promise.withResolvers<void>()
    await page.route(/\/assets\/.*\.js/, async (route) => {
      await released.promise
      await route.continue()
    })
    const lists = collectRequests(page, '/console/api/links?')
    await page.goto('/console/shortlink', { waitUntil: 'commit' })
    await page.locator('.boot-row', { hasText: 'Autumn <b>offer</b>' }).waitFor()
    released.resolve()
    await page.locator('.ant-table-row', { hasText: 'Autumn <b>offer</b>' }).waitFor()
    assert.equal(await page.locator('.boot').count(), 0)
    assert.equal(lists.length, 1, 'the page uses what index.html has requested')
    assert.deepEqual(visitor.problems, [])
  })

  browserTest('a page that cannot be loaded is tried again inside the frame', async () => {
    const account = await service.account()
    await using visitor = await browser.visit(service.url)
    const { page } = visitor
    await signIn(visitor, account)
    await page.getByRole('heading', { name: '首页' }).waitFor()
    await page.route(/\/assets\//, (route) => route.abort())
    await page.getByRole('link', { name: '身份核验' }).click()
    await page.getByText('页面加载失败').waitFor()
    assert.equal(await page.getByRole('link', { name: '首页' }).isVisible(), true)
    // A dialog that cannot be loaded leaves the page as it is.
    await page.keyboard.press('Control+k')
    await page.locator('.ant-message', { hasText: '请检查网络连接后重试' }).waitFor()
    assert.equal(await page.getByText('页面加载失败').isVisible(), true)
    await page.unroute(/\/assets\//)
    await page.getByRole('button', { name: '重试' }).click()
    await page.getByRole('heading', { name: '身份核验' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog').waitFor()
  })

  browserTest('the alerts cannot be changed before the page knows them', async () => {
    const account = await service.account()
    await using visitor = await browser.visit(service.url)
    const { page } = visitor
    await signIn(visitor, account)
    await page.route('**/console/api/alert-channels*', (route) => route.abort())
    await page.goto('/console/events?tab=alerts')
    await page.getByText('数据加载失败').waitFor()
    // Nothing has been entered that could be kept.
    await page.getByText('网络连接中断，请在恢复后重试。').waitFor()
    assert.equal(await page.getByText('不提醒额度不足').count(), 0)
    assert.equal(await page.getByRole('button', { name: '添加接收方式' }).count(), 0)
    await page.unroute('**/console/api/alert-channels*')
    await page.getByRole('button', { name: '重试' }).click()
    await page.getByText(/额度剩余 .* 时提醒/).waitFor()
    await page.getByRole('button', { name: '添加接收方式' }).waitFor()
  })

  browserTest('a default signature that cannot be changed is reported', async () => {
    const account = await service.account()
    for (const signName of ['云帆商城', '云帆会员'])
      await addSignature(service.installation.db, systemActor, account.id, { signName, status: '审核通过' })
    await using visitor = await browser.visit(service.url)
    const { page } = visitor
    await signIn(visitor, account)
    await page.goto('/console/sms?tab=signatures')
    await page.getByRole('button', { name: '设为默认' }).waitFor()
    await visitor.context.setOffline(true)
    await page.getByRole('button', { name: '设为默认' }).click()
    await page.getByRole('alert').getByText(offlineMessage).waitFor()
  })

  browserTest('a delivery that cannot be sent again is reported', async () => {
    await using visitor = await browser.visit(service.url)
    const { page } = visitor
    await signIn(visitor, await service.account())
    await page.goto('/console/events')
    await page.getByRole('button', { name: '添加 Webhook' }).click()
    await page.getByRole('dialog').getByLabel('URL').fill('https://hooks.invalid/tollgate')
    await page.getByRole('dialog').getByRole('button', { name: '保存' }).click()
    await page.getByRole('button', { name: '我已保存' }).click()
    await page.getByRole('button', { name: '发送测试' }).click()
    await page.getByRole('link', { name: 'https://hooks.invalid/tollgate' }).click()
    await page.getByRole('link', { name: 'ping', exact: true }).click()
    const drawer = page.getByRole('dialog', { name: /投递详情/ })
    await drawer.getByRole('button', { name: '重新投递' }).waitFor()
    await page.route(/\/resend$/, (route) => route.abort())
    await drawer.getByRole('button', { name: '重新投递' }).click()
    await drawer.getByRole('alert').getByText(offlineMessage).waitFor()
  })

  browserTest('a live list keeps its rows, marks them as outdated and then continues', async () => {
    const account = await service.account({ sms: 10 })
    const call = () =>
      post(`${service.url}/api/sms_api.php`, {
        action: 'get_credits',
        username: account.username,
        api_key: account.key,
      })
    const first = (await call()).headers.get('x-request-id')!
    await using visitor = await browser.visit(service.url)
    const { page } = visitor
    await signIn(visitor, account)
    await page.goto('/console/requests')
    await page.getByRole('link', { name: first }).waitFor()
    await visitor.context.setOffline(true)
    await page.getByText(staleMessage).waitFor()
    assert.equal(await page.getByRole('link', { name: first }).isVisible(), true)
    await visitor.context.setOffline(false)
    const second = (await call()).headers.get('x-request-id')!
    await page.getByRole('link', { name: second }).waitFor()
    await page.getByText(staleMessage).waitFor({ state: 'hidden' })
  })

  browserTest('a form keeps its input when its record cannot be reloaded', async () => {
    const account = await service.account({ short_link: 10 })
    const created = await post(`${service.url}/api/shortlink_api.php`, {
      action: 'generate',
      username: account.username,
      api_key: account.key,
      target_url: 'https://example.com/',
      title: 'before',
    })
    assert.equal(created.status, 200)
    await using visitor = await browser.visit(service.url)
    const { page } = visitor
    await signIn(visitor, account)
    await page.goto('/console/shortlink')
    await page.getByRole('link', { name: 'before', exact: true }).click()
    const drawer = page.getByRole('dialog')
    await drawer.getByLabel('标题').fill('after')
    await page.route(/\/console\/api\/links\/\d+$/, (route) =>
      route.request().method() === 'GET' ? route.abort() : route.continue(),
    )
    await drawer.getByRole('button', { name: '保存' }).click()
    await drawer.getByText(staleMessage).waitFor()
    assert.equal(await drawer.getByLabel('标题').inputValue(), 'after')
  })
})

browserTest('a domain check continues without the connection and shows its progress afterwards', async () => {
  let respond!: () => void
  const held = new Promise<void>((resolve) => (respond = resolve))
  const platform = await startFakeUpstream(async ({ query }) => {
    if (query.get('target')?.includes('slow') === true) await held
    return text(302, '', { location: 'https://example.com/' })
  })
  try {
    await using slow = await startService('sqlite', {
      DOMAIN_GATEWAYS: 'jump',
      DOMAIN_JUMP_URL: `${platform.url}?target={url}`,
      // The platform responds only after the browser steps, which take long on a busy machine.
      GATEWAY_TIMEOUT_MS: '60000',
    })
    const account = await slow.account({ domain_check: 10 })
    await using visitor = await browser.visit(slow.url)
    const { page } = visitor
    await signIn(visitor, account)
    await page.goto('/console/domain-check')
    await page.getByRole('textbox', { name: /每行一个/ }).fill('quick.example\nslow.example')
    await page.getByRole('button', { name: '开始检测' }).click()
    await page.getByText('1 / 2').waitFor()
    await visitor.context.setOffline(true)
    await page.getByText(staleMessage).waitFor()
    assert.equal(await page.getByText('1 / 2').isVisible(), true, 'the progress stays visible')
    respond()
    // The check ends while the page is offline.
    while ((await slow.installation.db.one('SELECT id FROM domain_run WHERE finished = 0')) !== undefined) {
      await sleep(20)
    }
    await visitor.context.setOffline(false)
    await page.getByText('2 / 2').waitFor()
    await page.getByRole('heading', { name: '已完成' }).waitFor()
    await page.getByText(staleMessage).waitFor({ state: 'hidden' })
    assert.equal(
      (await slow.app.services.credits.balance(account.id, 'domain_check')).used,
      2,
      'charged once',
    )
  } finally {
    respond()
    await platform.close()
  }
})

browserTest('shows a field error only next to its field', async () => {
  const account = await service.account()
  await using visitor = await browser.visit(service.url)
  const { page } = visitor
  await signIn(visitor, account)
  await page.goto('/console/security')
  await page.getByLabel('当前密码').fill('not the password')
  await page.getByLabel('新密码', { exact: true }).fill('a new horse 27')
  await page.getByLabel('确认新密码').fill('a new horse 27')
  await page.getByRole('button', { name: '修改密码' }).click()
  const fieldError = page.locator('.ant-form-item-explain-error')
  await fieldError.waitFor()
  assert.equal(await page.locator('main .ant-alert-error').count(), 0)
  assert.equal(await page.getByLabel('新密码', { exact: true }).inputValue(), 'a new horse 27')
})

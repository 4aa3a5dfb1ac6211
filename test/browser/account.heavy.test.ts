// The account holder's pages in a browser: sign-in, keys, request log, password.
import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { browserTest, noBrowser, openBrowser, signIn, type TestBrowser } from '../support/browser.ts'
import { get, post, startService, type TestService } from '../support/service.ts'
import { until } from '../support/until.ts'

let service: TestService
let browser: TestBrowser

/** Closes what `before` started, even when `before` fails. */
const started = new AsyncDisposableStack()

before(async () => {
  if (noBrowser !== false) return
  service = started.use(await startService('sqlite'))
  browser = started.use(await openBrowser())
})
after(() => started.disposeAsync())

const requestCredits = (username: string, key: string) =>
  post(`${service.url}/api/sms_api.php`, { action: 'get_credits', username, api_key: key })

describe('account holder', () => {
  browserTest('signs up only when sign-up is on', async () => {
    await using closed = await browser.visit(service.url)
    await closed.page.goto('/console/sign-up')
    await closed.page.getByText('平台未开放注册').waitFor()

    await using open = await startService('sqlite', { SIGN_UP: 'on' })
    await using visitor = await browser.visit(open.url)
    const { page } = visitor
    await page.goto('/console/sign-in')
    await page.getByRole('link', { name: /注册一个/ }).click()
    await page.getByLabel('用户名').fill('newcomer')
    await page.locator('input[type=password]').fill('short')
    await page.getByRole('button', { name: '注册账户' }).click()
    await page.getByText('至少 8 个字符', { exact: true }).waitFor()
    await page.locator('input[type=password]').fill('a long horse 41')
    await page.getByRole('button', { name: '注册账户' }).click()
    await page.getByText('五分钟跑通第一次调用').waitFor()
    assert.deepEqual([...closed.problems, ...visitor.problems], [])
  })

  browserTest('shows an error for a wrong password, signs in, and ends the session at sign-out', async () => {
    const account = await service.account()
    await using visitor = await browser.visit(service.url)
    const { page } = visitor
    await page.goto('/console/requests?outcome=error')
    await page.waitForURL(/sign-in/)
    await page.getByLabel('用户名').fill(account.username)
    await page.locator('input[type=password]').fill('not this one')
    await page.getByRole('button', { name: '登录' }).click()
    await page.getByRole('alert').getByText('用户名或密码').waitFor()
    assert.equal(await page.getByLabel('用户名').inputValue(), account.username)

    await page.locator('input[type=password]').fill(account.password)
    await page.keyboard.press('Enter')
    // The page that was requested before the sign-in.
    await page.waitForURL(/requests\?outcome=error/)
    await page.getByRole('heading', { name: '请求记录' }).waitFor()

    const cookies = await visitor.context.cookies()
    await page.getByRole('button', { name: /用户菜单/ }).click()
    await page.getByText('退出登录').click()
    await page.waitForURL(/sign-in/)
    // The old cookie is invalid, because the session ended on the server.
    const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
    assert.equal((await get(`${service.url}/console/api/me`, { cookie })).status, 401)
    assert.deepEqual(visitor.problems, [])
  })

  browserTest('shows new calls in the request log, opens one, and copies it as curl', async () => {
    const account = await service.account({ sms: 10 })
    await using visitor = await browser.visit(service.url)
    const { page } = visitor
    await signIn(visitor, account)
    await page.goto('/console/requests')
    await page.getByText('还没有调用').waitFor()

    const reply = await requestCredits(account.username, account.key)
    const requestId = reply.headers.get('x-request-id')!
    // The list updates without a reload.
    await page.getByRole('link', { name: requestId }).click()
    const drawer = page.getByRole('dialog')
    await drawer.getByText('收到请求').waitFor()
    await drawer.getByRole('cell', { name: 'get_credits' }).waitFor()
    assert.ok(!(await drawer.textContent())!.includes(account.key), 'the key is masked')
    assert.match(page.url(), new RegExp(`open=${requestId}`))

    await drawer.getByRole('button', { name: '复制为 curl' }).click()
    const copied = String(await page.evaluate('navigator.clipboard.readText()'))
    assert.match(copied, /^curl -sS -X POST 'http.*sms_api\.php'/)
    assert.ok(copied.includes('<API_KEY>') && !copied.includes(account.key))

    // The URL alone restores the view.
    const address = page.url()
    await page.goto('/console/')
    await page.goto(address)
    await page.getByRole('dialog').getByText('收到请求').waitFor()
    assert.deepEqual(visitor.problems, [])
  })

  browserTest('keeps form input when the session ends and continues after sign-in', async () => {
    const account = await service.account()
    await using visitor = await browser.visit(service.url)
    const { page } = visitor
    await signIn(visitor, account)
    await page.goto('/console/credits?redeem=1')
    const field = page.getByRole('textbox', { name: '兑换码' })
    await field.fill('TG-AAAA-BBBB-CCCC-DDDD')
    await visitor.context.clearCookies()
    await page.getByRole('button', { name: '查看面额' }).click()
    const dialog = page.getByRole('dialog', { name: '会话已结束' })
    await dialog.locator('input[type=password]').fill(account.password)
    await dialog.getByRole('button', { name: '登录' }).click()
    await dialog.waitFor({ state: 'hidden' })
    assert.equal(await field.inputValue(), 'TG-AAAA-BBBB-CCCC-DDDD')
    await page.getByRole('button', { name: '查看面额' }).click()
    await page
      .getByText(/兑换码(不存在|无效)|不存在/)
      .first()
      .waitFor()
  })

  browserTest('never acts for another account that signed in with another tab', async () => {
    const account = await service.account({ short_link: 10 })
    const other = await service.account({ short_link: 10 })
    await using visitor = await browser.visit(service.url)
    const { page } = visitor
    await signIn(visitor, account)
    await page.goto('/console/shortlink')
    await page.getByRole('button', { name: '创建短链接' }).first().click()
    const form = page.getByRole('dialog', { name: '创建短链接' })
    await form.getByLabel('目标地址', { exact: true }).fill('https://example.com/offer')

    const tab = await visitor.context.newPage()
    await tab.goto('/console/')
    await tab.getByRole('button', { name: /用户菜单/ }).click()
    await tab.getByText('退出登录').click()
    await tab.waitForURL(/sign-in/)
    await tab.getByLabel('用户名').fill(other.username)
    await tab.locator('input[type=password]').fill(other.password)
    await tab.keyboard.press('Enter')
    await tab.locator('nav').first().waitFor({ state: 'attached' })

    await form.getByRole('button', { name: '创建短链接' }).click()
    const dialog = page.getByRole('dialog', { name: '会话已结束' })
    await dialog.locator('input[type=password]').fill(account.password)
    await dialog.getByRole('button', { name: '登录' }).click()
    await dialog.waitFor({ state: 'hidden' })
    await form.getByRole('button', { name: '创建短链接' }).click()
    await form.waitFor({ state: 'hidden' })
    const used = async ({ id }: { readonly id: number }) =>
      (await service.app.services.credits.balance(id, 'short_link')).used
    assert.deepEqual([await used(account), await used(other)], [1, 0])

    // The tab that is left with the other account notices when it is used again.
    const notice = tab.getByRole('dialog', { name: '会话已结束' })
    await until(async () => {
      await tab.evaluate("window.dispatchEvent(new Event('visibilitychange'))")
      return notice.isVisible()
    })
    await tab.getByRole('link', { name: `以 ${account.username} 继续` }).click()
    await tab.getByRole('button', { name: `用户菜单：${account.username}` }).waitFor()
  })

  browserTest(
    'the dialog after a session has ended closes when another tab has signed in again',
    async () => {
      const account = await service.account()
      await using visitor = await browser.visit(service.url)
      const { page } = visitor
      await signIn(visitor, account)
      await page.goto('/console/credits?redeem=1')
      const field = page.getByRole('textbox', { name: '兑换码' })
      await field.fill('TG-AAAA-BBBB-CCCC-DDDD')
      await visitor.context.clearCookies()
      await page.getByRole('button', { name: '查看面额' }).click()
      const dialog = page.getByRole('dialog', { name: '会话已结束' })
      await dialog.waitFor()
      const tab = await visitor.context.newPage()
      await tab.goto('/console/sign-in')
      await tab.getByLabel('用户名').fill(account.username)
      await tab.locator('input[type=password]').fill(account.password)
      await tab.keyboard.press('Enter')
      await tab.locator('nav').first().waitFor({ state: 'attached' })
      await until(async () => {
        await page.evaluate("window.dispatchEvent(new Event('visibilitychange'))")
        return !(await dialog.isVisible())
      })
      assert.equal(await field.inputValue(), 'TG-AAAA-BBBB-CCCC-DDDD')
      await page.getByRole('button', { name: '查看面额' }).click()
      await page
        .getByText(/兑换码(不存在|无效)|不存在/)
        .first()
        .waitFor()
    },
  )

  browserTest(
    'the dialog after a session has ended leads to single sign-on where passwords are off',
    async () => {
      const account = await service.account()
      await using visitor = await browser.visit(service.url)
      const { page } = visitor
      await signIn(visitor, account)
      await page.route('**/console/api/start', async (route) => {
        const response = await route.fetch()
        const start = (await response.json()) as object
        await route.fulfill({ response, json: { ...start, password_login: false, oidc: true } })
      })
      await page.goto('/console/credits?redeem=1')
      await page.getByRole('textbox', { name: '兑换码' }).fill('TG-AAAA-BBBB-CCCC-DDDD')
      await visitor.context.clearCookies()
      await page.getByRole('button', { name: '查看面额' }).click()
      const dialog = page.getByRole('dialog', { name: '会话已结束' })
      const link = dialog.getByRole('link', { name: '在新标签页中单点登录' })
      await link.waitFor()
      assert.equal(await link.getAttribute('target'), '_blank')
      assert.equal(await dialog.locator('input').count(), 0)
    },
  )

  browserTest('a dialog that is closed with the keyboard gives the focus back', async () => {
    await using visitor = await browser.visit(service.url)
    const { page } = visitor
    await signIn(visitor, await service.account())
    await page.goto('/console/keys')
    const button = page.getByRole('button', { name: '修改限制' })
    await button.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: '修改限制' }).getByLabel('IP 白名单').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await page.waitForFunction("document.activeElement.textContent === '修改限制'")
  })

  browserTest('the button of a search has a name in the language of the console', async () => {
    await using visitor = await browser.visit(service.url)
    const { page } = visitor
    await signIn(visitor, await service.account())
    await page.goto('/console/requests')
    await page.locator('main').getByRole('button', { name: '搜索', exact: true }).first().waitFor()
  })

  browserTest('buttons that are only an icon of a component have a name', async () => {
    await using visitor = await browser.visit(service.url, { language: 'en', width: 700, height: 844 })
    const { page } = visitor
    await signIn(visitor, await service.account())
    await page.goto('/console/requests')
    const search = page.getByRole('searchbox', { name: 'Full IP address' })
    await search.fill('a')
    assert.deepEqual(await visitor.findViolations(), [])
    await page.getByRole('button', { name: 'Clear', exact: true }).click()
    assert.equal(await search.inputValue(), '')
    await page.goto('/console/sms')
    await page.getByRole('button', { name: 'More tabs' }).waitFor()
  })

  browserTest('changes the password and ends other sessions', async () => {
    const account = await service.account()
    await using first = await browser.visit(service.url)
    await using other = await browser.visit(service.url)
    await signIn(first, account)
    await signIn(other, account)
    const { page } = first
    await page.goto('/console/security')
    await page.getByText('本次登录').waitFor()
    await page.getByLabel('当前密码').fill(account.password)
    await page.getByLabel('新密码', { exact: true }).fill('a new horse 27')
    await page.getByLabel('确认新密码').fill('a new hors 27')
    await page.getByRole('button', { name: '修改密码' }).click()
    await page.getByText('两次输入不一致').waitFor()
    await page.getByLabel('确认新密码').fill('a new horse 27')
    await page.getByRole('button', { name: '修改密码' }).click()
    await page.getByText(/密码已修改，其他 1 个会话已退出/).waitFor()
    await other.page.goto('/console/credits')
    await other.page.waitForURL(/sign-in/)
    assert.deepEqual(first.problems, [])
  })
})

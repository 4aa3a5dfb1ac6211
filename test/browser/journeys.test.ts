// Three journeys in a real browser: an account holder's key, an operator's new account, and a short link.
import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { createAccount } from '../../server/accounts/accounts.ts'
import { systemActor } from '../../server/audit/audit.ts'
import {
  browserTest,
  confirmIdentity,
  noBrowser,
  openBrowser,
  signIn,
  type Visitor,
} from '../support/browser.ts'
import { uniqueName } from '../support/engines.ts'
import { post, startService, type TestService } from '../support/service.ts'

let service: TestService
let visitor: Visitor
const password = 'correct horse 9'
const browserAgent =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36'

/** Closes what `before` started, even when `before` fails. */
const started = new AsyncDisposableStack()

before(async () => {
  if (noBrowser !== false) return
  service = started.use(await startService('sqlite'))
  const browser = started.use(await openBrowser())
  visitor = started.use(await browser.visit(service.url))
})
after(() => started.disposeAsync())

/** All journeys use one page: a new one loads and compiles the console again. */
async function signInAs(who: { readonly username: string; readonly password: string }): Promise<Page> {
  await visitor.context.clearCookies()
  await signIn(visitor, who)
  return visitor.page
}

const createOperator = () =>
  createAccount(service.installation.db, systemActor, { username: uniqueName(), password, role: 'operator' })

const requestCredits = (username: string, key: string) =>
  post(`${service.url}/api/sms_api.php`, { action: 'get_credits', username, api_key: key })

const follow = (url: string, agent = browserAgent) =>
  fetch(url, { redirect: 'manual', headers: { 'user-agent': agent } })

const textOf = async (locator: Locator) => (await locator.textContent()) ?? ''

browserTest('account holder: generates a key, resets it, and the old key fails', async () => {
  const account = await service.account({ sms: 10 })
  const page = await signInAs(account)

  await visitor.navigateTo('/keys')
  await page.getByRole('button', { name: '清除密钥' }).click()
  let dialog = page.getByRole('dialog')
  await dialog.getByLabel('登录密码').fill(account.password)
  await dialog.getByRole('button', { name: '清除密钥' }).click()
  await page.getByText('还没有密钥').waitFor()
  assert.equal((await requestCredits(account.username, account.key)).status, 401)

  await page.getByRole('button', { name: '生成密钥' }).click()
  const first = (await page.getByTestId('fresh-key').textContent())!.trim()
  assert.match(first, /^tg_[0-9A-Za-z]{49}$/)
  assert.ok(
    (await page.getByTestId('sample').textContent())!.includes(first),
    'the sample contains the new key',
  )
  assert.equal((await requestCredits(account.username, first)).body.code, 0)
  const [docs] = await Promise.all([
    page.waitForEvent('popup'),
    page.getByRole('button', { name: '在接口文档中使用' }).click(),
  ])
  await docs.getByText(`已登录为 ${account.username}`).waitFor()
  const sample = await docs.locator('.op:has(#sms-credits) pre').first().textContent()
  assert.ok(sample!.includes(first) && sample!.includes(account.username), 'the reference has name and key')
  await docs.close()
  assert.equal(await page.evaluate(`sessionStorage.getItem('tollgate.docs-key')`), null)
  await page.getByRole('button', { name: '我已保存' }).click()
  assert.ok(!(await page.content()).includes(first), 'the page no longer contains the key')

  await page.getByRole('button', { name: '重置密钥' }).click()
  dialog = page.getByRole('dialog')
  await dialog.getByText(/近 24 小时内有 \d+ 次调用/).waitFor()
  await dialog.getByLabel('登录密码').fill('wrong password')
  await dialog.getByRole('button', { name: '重置密钥' }).click()
  await dialog.getByText(/密码/).nth(1).waitFor()
  assert.equal(
    (await requestCredits(account.username, first)).body.code,
    0,
    'a wrong password changes nothing',
  )
  await dialog.getByLabel('登录密码').fill(account.password)
  await dialog.getByRole('button', { name: '重置密钥' }).click()
  const second = (await page.getByTestId('fresh-key').textContent())!.trim()
  assert.notEqual(second, first)
  await page.getByRole('link', { name: '首页' }).click()
  await page.getByRole('dialog', { name: '密钥尚未保存' }).getByRole('button', { name: '返回保存' }).click()
  assert.equal((await page.getByTestId('fresh-key').textContent())!.trim(), second)
  assert.equal((await requestCredits(account.username, first)).body.code, 1003)
  assert.equal((await requestCredits(account.username, second)).body.code, 0)
  assert.deepEqual(visitor.problems, [])
})

browserTest('operator: creates an account that can sign in and grants it credits', async () => {
  const boss = await createOperator()
  const page = await signInAs(boss)
  const username = uniqueName()

  await visitor.navigateTo('/operator/accounts')
  await page.getByRole('button', { name: '创建账户' }).first().click()
  let dialog = page.getByRole('dialog')
  await dialog.getByLabel('用户名').fill(username)
  await dialog.getByRole('button', { name: '创建账户' }).click()
  await dialog.getByText('请写明原因').waitFor()
  await dialog.getByLabel('备注').fill('合同 2026-114')
  await dialog.getByRole('button', { name: '创建账户' }).click()
  const createdPassword = (await page.getByTestId('fresh-password').textContent())!
  await page.keyboard.press('Escape')
  await page.getByTestId('fresh-password').waitFor()
  await page.getByRole('button', { name: '我已保存' }).click()

  await page.getByRole('heading', { name: username }).waitFor()
  await page.getByRole('button', { name: '发放或扣减额度' }).click()
  dialog = page.getByRole('dialog', { name: /发放或扣减额度/ })
  await dialog.getByLabel('数量').fill('250')
  await dialog.getByLabel('备注').fill('首单')
  await dialog.getByRole('button', { name: '发放', exact: true }).click()
  await confirmIdentity(page, boss.password)
  await page.getByText('已用 0 / 总量 250').waitFor()

  await visitor.navigateTo('/operator/audit')
  await page.getByRole('row', { name: new RegExp(`credits.grant.*${username}.*首单`) }).waitFor()
  await page.getByRole('row', { name: new RegExp(`account.create.*${username}.*合同`) }).waitFor()

  await signInAs({ username, password: createdPassword })
  await page.getByRole('heading', { name: '首页' }).waitFor()
  await visitor.navigateTo('/credits')
  await page.getByRole('cell', { name: '首单' }).waitFor()
  assert.deepEqual(visitor.problems, [])
})

browserTest(
  'short links: creates, visits, counts, updates and refreshes a link, and shows its QR code',
  async () => {
    const account = await service.account({ short_link: 20 })
    const remaining = async () =>
      (await service.app.services.credits.balance(account.id, 'short_link')).remaining
    const page = await signInAs(account)
    await visitor.navigateTo('/shortlink')
    await page.getByText('还没有短链接').waitFor()
    await page.getByRole('button', { name: '创建短链接' }).first().click()
    const form = page.getByRole('dialog', { name: '创建短链接' })
    await form.getByLabel('目标地址').fill('example.com/no-scheme')
    await form.getByRole('button', { name: '创建短链接' }).click()
    await form.getByText('请输入 http:// 或 https:// 开头的完整地址').waitFor()
    assert.equal(await remaining(), 20)
    await form.getByLabel('目标地址').fill('https://shop.example.com/first')
    await form.getByText('消耗 1 次短链接额度').waitFor()
    await form.getByRole('button', { name: '创建短链接' }).click()

    const drawer = page.getByRole('dialog', { name: /^短链接( · |$)/ })
    const address = await textOf(drawer.getByText(service.url).first())
    assert.equal(await drawer.getByLabel('标题').inputValue(), 'shop.example.com')
    assert.equal(await remaining(), 19)

    const visit = await follow(address)
    assert.equal(visit.headers.get('location'), 'https://shop.example.com/first')
    await follow(address, 'Googlebot/2.1 (+http://www.google.com/bot.html)')
    await page.reload()
    await drawer.getByText(/访问 1 · 机器人 1 · 预览 0/).waitFor()
    await drawer.getByText('Chrome').first().waitFor()

    const qrCode = drawer.getByTestId('qr')
    await qrCode.waitFor()
    assert.equal(await qrCode.getAttribute('aria-label'), `二维码 ${address}?qr=1`)
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      drawer.getByRole('button', { name: '下载 SVG' }).click(),
    ])
    assert.equal(file.suggestedFilename(), 'shop.example.com.svg')

    await drawer.getByLabel('目标地址').fill('https://shop.example.com/second')
    await drawer.getByRole('button', { name: '保存' }).click()
    await page.getByText('已保存').waitFor()
    assert.equal((await follow(address)).headers.get('location'), 'https://shop.example.com/second')

    await drawer.getByRole('button', { name: '刷新地址' }).click()
    const confirmation = page.getByRole('dialog', { name: '刷新访问地址？' })
    await confirmation.getByText(address.split('/').at(-1)!).waitFor()
    await confirmation.getByRole('button', { name: '刷新地址' }).click()
    await page.getByText('地址已刷新').waitFor()
    await drawer.getByText('停用于').waitFor()
    const renewed = await textOf(drawer.getByText(service.url).first())
    assert.notEqual(renewed, address)
    assert.equal((await follow(address)).status, 410)
    assert.equal((await follow(renewed)).headers.get('location'), 'https://shop.example.com/second')
    assert.equal(await remaining(), 18)
    assert.deepEqual(visitor.problems, [])
  },
)

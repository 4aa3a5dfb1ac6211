// The operator's pages in a browser: accounts, credits, redeem codes, audit log, viewing an account.
import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { systemActor } from '../../server/audit/audit.ts'
import { changeAccount, createAccount, requireAccount } from '../../server/accounts/accounts.ts'
import { findPackage } from '../../server/payments/package-store.ts'
import { addPackage, changePackage } from '../../server/payments/packages.ts'
import {
  browserTest,
  confirmIdentity,
  noBrowser,
  openBrowser,
  signIn,
  type TestBrowser,
} from '../support/browser.ts'
import { uniqueName } from '../support/engines.ts'
import { startService, type TestService } from '../support/service.ts'
import { until } from '../support/until.ts'

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

const createOperator = () =>
  createAccount(service.installation.db, systemActor, { username: uniqueName(), password, role: 'operator' })

describe('operator', () => {
  browserTest('creates redeem codes, and an account can redeem a code once', async () => {
    await using visitor = await browser.visit(service.url)
    const { page } = visitor
    const boss = await createOperator()
    await signIn(visitor, boss)
    await page.goto('/console/operator/codes')
    await page.getByRole('button', { name: '批量生成' }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('单个面额').fill('500')
    await dialog.getByLabel('数量').fill('3')
    await dialog.getByLabel('备注').fill('渠道活动')
    await dialog.getByRole('button', { name: '批量生成' }).click()
    await confirmIdentity(page, boss.password)
    const codes = (await page.getByTestId('codes').textContent())!.trim().split('\n')
    assert.equal(codes.length, 3)
    await page.getByRole('button', { name: '我已保存' }).click()

    const account = await service.account()
    await using holder = await browser.visit(service.url)
    await signIn(holder, account)
    const redeem = async () => {
      await holder.page.goto('/console/credits?redeem=1')
      // Codes are accepted in lower case and without dashes.
      await holder.page
        .getByRole('textbox', { name: '兑换码' })
        .fill(codes[0]!.toLowerCase().replaceAll('-', ''))
      await holder.page.getByRole('button', { name: '查看面额' }).click()
    }
    await redeem()
    await holder.page.getByText('500 次短信额度').waitFor()
    await holder.page.getByRole('button', { name: '确认兑换' }).click()
    await holder.page.getByText('已到账 500 次短信额度').waitFor()
    const [balance] = (await service.app.services.credits.balances(account.id)).filter(
      ({ api_type }) => api_type === 'sms',
    )
    assert.equal(balance?.remaining, 500)
    await redeem()
    await holder.page
      .getByText(/已(经)?(被)?(使用|兑换)/)
      .first()
      .waitFor()

    await page.getByRole('link', { name: '批次 #1' }).click()
    const drawer = page.getByRole('dialog', { name: '批次 #1' })
    await drawer.getByRole('cell', { name: account.username }).waitFor()
    await drawer.getByRole('button', { name: '作废未使用的兑换码' }).click()
    const confirm = page.getByRole('dialog', { name: '作废未使用的兑换码' })
    await confirm.getByText('该批次中未兑换的 2 个兑换码').waitFor()
    await confirm.getByLabel('备注').fill('活动结束')
    await confirm.getByRole('button', { name: '作废', exact: true }).click()
    await page.getByText('已作废 2 个兑换码').waitFor()
    assert.deepEqual([...visitor.problems, ...holder.problems], [])
  })

  browserTest('an owner creates an operator, who signs in with the rights of the role', async () => {
    await using visitor = await browser.visit(service.url)
    const { page } = visitor
    const boss = await createOperator()
    await signIn(visitor, boss)
    await page.goto('/console/operator/accounts')
    await page.getByRole('button', { name: '创建账户' }).first().click()
    const dialog = page.getByRole('dialog')
    const username = uniqueName()
    await dialog.getByLabel('用户名').fill(username)
    await dialog.getByRole('combobox', { name: '角色' }).click()
    await page.getByTitle('管理员 · 客服').click()
    await dialog.getByLabel('有效期').waitFor({ state: 'hidden' })
    await dialog.getByLabel('备注').fill('新同事')
    await dialog.getByRole('button', { name: '创建账户' }).click()
    await confirmIdentity(page, boss.password)
    const created = (await page.getByTestId('fresh-password').textContent())!
    await page.getByRole('button', { name: '我已保存' }).click()

    await using colleague = await browser.visit(service.url)
    await signIn(colleague, { username, password: created })
    await colleague.page.goto('/console/operator/accounts')
    await colleague.page.getByText(username).first().waitFor()
    assert.equal(await colleague.page.getByRole('button', { name: '创建账户' }).count(), 0)
  })

  browserTest('an edit of a package leaves alone what another operator has changed meanwhile', async () => {
    await using visitor = await browser.visit(service.url)
    const { page } = visitor
    const boss = await createOperator()
    const { db } = service.installation
    const code = uniqueName()
    await addPackage(db, systemActor, code, { name: 'A', credits: { sms: 5 }, price: '5.00' })
    await signIn(visitor, boss)
    await page.goto('/console/operator/packages')
    await page.getByRole('row').filter({ hasText: code }).getByRole('button', { name: '修改' }).click()
    const dialog = page.getByRole('dialog')
    await changePackage(db, systemActor, code, { price: '6.00', credits: { sms: 6, short_link: 1 } })
    await dialog.getByLabel('名称').fill('B')
    await dialog.getByLabel('备注').fill('新名称')
    await dialog.getByRole('button', { name: '修改套餐' }).click()
    await dialog.waitFor({ state: 'hidden' })
    const changed = await findPackage(db, code)
    assert.deepEqual(
      [changed?.name, changed?.price, changed?.credits],
      ['B', 600, '{"sms":6,"short_link":1}'],
    )
    // The credits are one value: nobody overwrites those that somebody else has changed.
    await page.getByRole('row').filter({ hasText: code }).getByRole('button', { name: '修改' }).click()
    await changePackage(db, systemActor, code, { credits: { sms: 7, short_link: 1 } })
    await dialog.getByLabel('短链接').fill('2')
    await dialog.getByLabel('备注').fill('更多')
    await dialog.getByRole('button', { name: '修改套餐' }).click()
    await dialog.getByText('套餐的额度已被他人修改').waitFor()
    assert.equal((await findPackage(db, code))?.credits, '{"sms":7,"short_link":1}')
  })

  browserTest('an edit of prices is refused when another operator has changed them meanwhile', async () => {
    const account = await service.account()
    await using visitor = await browser.visit(service.url)
    const { page } = visitor
    const boss = await createOperator()
    await signIn(visitor, boss)
    await page.goto(`/console/operator/accounts/${account.id}/limits`)
    await page.getByRole('button', { name: '修改价格' }).click()
    const dialog = page.getByRole('dialog').filter({ has: page.getByRole('spinbutton') })
    const { db } = service.installation
    const holder = await requireAccount(db, account.username)
    await changeAccount(db, systemActor, holder, { prices: { domain: 3 } })
    await dialog.getByRole('spinbutton').first().fill('2')
    await dialog.getByLabel('备注').fill('优惠')
    await dialog.getByRole('button', { name: '保存' }).click()
    await confirmIdentity(page, boss.password)
    await dialog.getByText('账户的价格已被他人修改').waitFor()
    assert.equal((await requireAccount(db, account.username)).prices, 'domain=3')
  })

  browserTest('an edit of an account leaves alone what another operator has changed meanwhile', async () => {
    const account = await service.account()
    await using visitor = await browser.visit(service.url)
    const { page } = visitor
    await signIn(visitor, await createOperator())
    await page.goto(`/console/operator/accounts/${account.id}`)
    await page.getByRole('button', { name: '修改', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('短信签名').fill('云帆')
    await service.installation.db.write((tx) =>
      tx.run('UPDATE account SET sms_enabled = 0 WHERE id = ?', [account.id]),
    )
    // The page reads the account again when its tab is used again.
    await until(async () => {
      await page.evaluate("window.dispatchEvent(new Event('visibilitychange'))")
      return page.locator('main').getByText('未开通').first().isVisible()
    })
    await dialog.getByLabel('备注').fill('签名')
    await dialog.getByRole('button', { name: '保存' }).click()
    await dialog.waitFor({ state: 'hidden' })
    const row = await service.installation.db.one<{ sms_enabled: number; sign_name: string }>(
      'SELECT sms_enabled, sign_name FROM account WHERE id = ?',
      [account.id],
    )
    assert.deepEqual({ ...row }, { sms_enabled: 0, sign_name: '云帆' })
  })

  browserTest('the result of a gateway test has a button that closes it', async () => {
    await using visitor = await browser.visit(service.url)
    const { page } = visitor
    await signIn(visitor, await createOperator())
    await page.goto('/console/operator/gateways')
    await page.locator('main').getByRole('button', { name: '测试' }).last().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('备注').fill('检查')
    await dialog.getByRole('button', { name: '测试' }).click()
    await dialog.waitFor({ state: 'hidden' })
    const result = page.getByRole('alert').filter({ hasText: '测试成功' })
    await result.getByRole('button', { name: '关闭' }).click()
    await result.waitFor({ state: 'hidden' })
  })

  browserTest('a session that ends while a change is confirmed is continued above that dialog', async () => {
    await using visitor = await browser.visit(service.url)
    const { page } = visitor
    const boss = await createOperator()
    await signIn(visitor, boss)
    await page.goto('/console/operator/codes')
    await page.getByRole('button', { name: '批量生成' }).first().click()
    const form = page.getByRole('dialog', { name: '批量生成' })
    await form.getByLabel('单个面额').fill('500')
    await form.getByLabel('数量').fill('3')
    await form.getByLabel('备注').fill('渠道活动')
    await form.getByRole('button', { name: '批量生成' }).click()
    const confirmation = page.getByRole('dialog', { name: '确认身份' })
    await confirmation.getByLabel('登录密码').fill(boss.password)
    await visitor.context.clearCookies()
    await confirmation.getByRole('button', { name: '确认' }).click()
    const ended = page.getByRole('dialog', { name: '会话已结束' })
    await ended.locator('input[type=password]').fill(boss.password)
    await ended.getByRole('button', { name: '登录' }).click()
    await ended.waitFor({ state: 'hidden' })
    await confirmation.getByRole('button', { name: '确认' }).click()
    await page.getByTestId('codes').waitFor()
  })

  browserTest('asks before a page is left that shows redeem codes or a password once', async () => {
    await using visitor = await browser.visit(service.url)
    const { page } = visitor
    const boss = await createOperator()
    await signIn(visitor, boss)
    await page.getByRole('link', { name: '兑换码' }).click()
    await page.getByRole('button', { name: '批量生成' }).first().click()
    const form = page.getByRole('dialog', { name: '批量生成' })
    await form.getByLabel('单个面额').fill('5')
    await form.getByLabel('数量').fill('3')
    await form.getByLabel('备注').fill('活动')
    await form.getByRole('button', { name: '批量生成' }).click()
    const confirmation = page.getByRole('dialog', { name: '确认身份' })
    await confirmation.getByLabel('登录密码').fill(boss.password)
    await confirmation.getByRole('button', { name: '确认' }).click()
    await page.getByTestId('codes').waitFor()
    await page.goBack()
    await page
      .getByRole('dialog', { name: '兑换码尚未保存' })
      .getByRole('button', { name: '返回保存' })
      .click()
    assert.equal(await page.getByTestId('codes').isVisible(), true)
    await page.getByRole('button', { name: '我已保存' }).click()
    await page.goBack()
    await page.getByRole('heading', { name: '总览' }).waitFor()
  })

  browserTest(
    'an account has a page with a URL for each tab, and the way back keeps the filters',
    async () => {
      const account = await service.account({ sms: 77 })
      await using visitor = await browser.visit(service.url)
      const { page } = visitor
      const boss = await createOperator()
      await signIn(visitor, boss)
      const list = `/console/operator/accounts?q=${account.username}&state=active`
      const path = `/console/operator/accounts/${account.id}`
      await page.goto(list)
      const row = page.getByRole('link', { name: account.username })
      await row.waitFor()
      // As a link it can be opened in a new tab, also by a click anywhere in its row.
      const opened = page.context().waitForEvent('page')
      await page.getByRole('cell', { name: '正常' }).click({ modifiers: ['ControlOrMeta'] })
      const tab = await opened
      await tab.getByRole('heading', { name: account.username }).waitFor()
      await tab.close()
      await row.click()
      await page.getByText('已用 0 / 总量 77').waitFor()

      const tabs = page.getByRole('navigation', { name: '账户资料' })
      await page.getByLabel('公司').fill('云帆商城')
      await page.getByRole('button', { name: '保存联系方式' }).click()
      const toast = page.getByText('已保存')
      await toast.waitFor()
      // In the free space at the bottom of every page, 72 px high.
      assert.ok((await toast.boundingBox())!.y > page.viewportSize()!.height - 72, 'the toast covers nothing')
      await tabs.getByRole('link', { name: '备注' }).click()
      await page.getByLabel('新备注').fill('电话确认过合同')
      await page.getByRole('button', { name: '添加备注' }).click()
      await page
        .getByRole('listitem')
        .filter({ hasText: boss.username })
        .getByText('电话确认过合同')
        .waitFor()
      await tabs.getByRole('link', { name: '流水' }).click()
      await page.getByRole('row', { name: /发放 \+77 77/ }).waitFor()
      assert.equal(new URL(page.url()).pathname, `${path}/ledger`)
      await page.reload()
      await page.getByRole('row', { name: /发放 \+77 77/ }).waitFor()
      assert.equal(await tabs.getByRole('link', { name: '流水' }).getAttribute('aria-current'), 'page')
      await page.goBack()
      await page.getByText('电话确认过合同').waitFor()
      await tabs.getByRole('link', { name: '概览' }).click()
      assert.equal(await page.getByLabel('公司').inputValue(), '云帆商城')

      await page.goto(list)
      await row.click()
      await page.getByRole('heading', { name: account.username }).waitFor()
      await page.getByRole('link', { name: '返回账户列表' }).click()
      await row.waitFor()
      assert.equal(new URL(page.url()).search, new URL(list, page.url()).search)
      await page.goto('/console/operator/accounts?page=9999')
      await page.getByText('该页没有记录，请选择其他页。').waitFor()
      // The address of an account in older bookmarks.
      await page.goto(`/console/operator/accounts?open=${account.id}`)
      await page.getByRole('heading', { name: account.username }).waitFor()
      assert.equal(new URL(page.url()).pathname, path)
      assert.deepEqual(visitor.problems, [])
    },
  )

  browserTest('views an account read-only as its holder sees it', async () => {
    const account = await service.account({ sms: 77 })
    await using visitor = await browser.visit(service.url)
    const { page } = visitor
    await signIn(visitor, await createOperator())
    await page.goto(`/console/keys?view_as=${account.id}`)
    await page.getByText(`正在以“${account.username}”的视角查看`).waitFor()
    await page.getByText('当前密钥').waitFor()
    assert.equal(await page.getByRole('button', { name: '重置密钥' }).count(), 0)
    assert.equal(await page.getByRole('link', { name: '总览' }).count(), 0)
    // What these dialogs do would be done for the operator's own account.
    for (const path of ['/credits?redeem=1', '/invoices?request=1']) {
      await visitor.navigateTo(path)
      assert.equal(await page.getByRole('dialog').count(), 0, path)
    }
    await page.getByRole('button', { name: '退出查看' }).click()
    await page.getByRole('heading', { name: account.username }).waitFor()
    assert.ok(page.url().endsWith(`/operator/accounts/${account.id}`))
    assert.deepEqual(visitor.problems, [])
  })

  browserTest('shows account holders that operator pages are forbidden', async () => {
    await using visitor = await browser.visit(service.url)
    await signIn(visitor, await service.account())
    assert.equal(await visitor.page.getByRole('link', { name: '总览' }).count(), 0)
    await visitor.page.goto('/console/operator/accounts')
    await visitor.page.getByRole('heading', { name: '仅限平台管理员' }).waitFor()
    assert.equal(await visitor.page.getByRole('button', { name: '创建账户' }).count(), 0)
  })
})

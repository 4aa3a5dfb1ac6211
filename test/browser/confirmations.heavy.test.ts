// Every destructive action shows a confirmation with its consequences, and cancelling changes nothing.
import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type { Page } from 'playwright-core'
import { browserTest, noBrowser, openBrowser, signIn, type TestBrowser } from '../support/browser.ts'
import { createSampleData, type SampleData } from '../support/sample-data.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService
let browser: TestBrowser
let accounts: SampleData

/** Closes what `before` started, even when `before` fails. */
const started = new AsyncDisposableStack()

before(async () => {
  if (noBrowser !== false) return
  service = started.use(await startService('sqlite'))
  browser = started.use(await openBrowser())
  accounts = await createSampleData(service)
  await service.installation.db.write((tx) =>
    tx.run('UPDATE account SET sign_name = ? WHERE id = ?', ['云帆', accounts.holder.id]),
  )
})
after(() => started.disposeAsync())

interface DestructiveAction {
  readonly path: string
  /** The first button with this name opens the confirmation. */
  readonly button: string
  /** Changes in the dialog that make the action destructive. */
  readonly prepare?: (page: Page) => Promise<void>
  /** The consequences that the dialog shows. */
  readonly consequences: RegExp
  /** The name of the confirm button, when it differs. */
  readonly ok?: string
}

const accountsPath = '/operator/accounts?q=yunfan'

const openAccount = async (page: Page) => {
  await page.getByRole('link', { name: 'yunfan-mall' }).click()
  await page.getByRole('heading', { name: 'yunfan-mall' }).waitFor()
}

const holderActions: readonly DestructiveAction[] = [
  { path: '/keys', button: '重置密钥', consequences: /旧密钥立即失效.*\d+ 次调用/ },
  { path: '/keys', button: '清除密钥', consequences: /密钥将被删除.*\d+ 次调用/ },
  { path: '/security', button: '退出', consequences: /该设备需要重新登录/ },
  { path: '/security', button: '退出其他全部会话', consequences: /所有设备都需要重新登录/, ok: '退出' },
  { path: '/sms?tab=signatures', button: '删除', consequences: /立即停止使用.*重新审核/ },
  {
    path: '/shortlink?open=1',
    button: '刷新地址',
    consequences: /短码 \w+ 及其二维码将停止跳转，且无法恢复/,
  },
  { path: '/sms', button: '删除', consequences: /删除后，使用该模板的发送请求会失败/ },
  { path: '/domain-check?tab=watch', button: '移除', consequences: /不再检测.*历史结果一并删除/ },
]

const operatorActions: readonly (DestructiveAction & { readonly inAccount?: boolean })[] = [
  { path: '/operator/reviews', button: '不通过', consequences: /将标为审核不通过/ },
  {
    path: '/operator/codes?open=1',
    button: '作废未使用的兑换码',
    consequences: /19 个兑换码将永久失效/,
    ok: '作废',
  },
  { path: '/operator/codes?open=1', button: '作废', consequences: /TG-.*将永久失效/ },
  { path: '/operator/domains', button: '移除', consequences: /新链接不再使用/ },
  { path: accountsPath, inAccount: true, button: '停用账户', consequences: /接口调用会立即被拒绝.*停止跳转/ },
  { path: accountsPath, inAccount: true, button: '重置密码', consequences: /全部登录会话会退出/ },
  {
    path: accountsPath,
    inAccount: true,
    button: '发放或扣减额度',
    prepare: (page) => page.getByText('扣减', { exact: true }).click(),
    consequences: /额度会立即减少.*会被拒绝/,
    ok: '扣减',
  },
  {
    path: accountsPath,
    inAccount: true,
    button: '修改',
    prepare: async (page) => {
      await page.getByRole('switch').first().click()
      await page.locator('input[type=date]').fill('2026-01-01')
    },
    consequences: /该日期已过.*短信发送会立即被拒绝/,
    ok: '保存',
  },
]

describe('confirmations', () => {
  for (const [role, actions] of [
    ['holder', holderActions],
    ['operator', operatorActions],
  ] as const) {
    browserTest(`shows a confirmation for every action of the ${role}`, async () => {
      await using visitor = await browser.visit(service.url)
      const { page } = visitor
      await signIn(visitor, accounts[role])
      const changes: string[] = []
      page.on('request', (request) => {
        if (request.method() !== 'GET') changes.push(`${request.method()} ${request.url()}`)
      })
      for (const { path, button, prepare, consequences, ok = button, ...where } of actions) {
        await page.goto(`/console${path}`)
        if ('inAccount' in where) await openAccount(page)
        await page.getByRole('button', { name: button, exact: true }).first().click()
        const dialog = page.locator('.ant-modal').last()
        await dialog.waitFor()
        await prepare?.(page)
        await dialog.getByText(consequences).waitFor()
        const confirmButton = dialog.getByRole('button', { name: ok, exact: true })
        assert.match(
          (await confirmButton.getAttribute('class')) ?? '',
          /dangerous/,
          `${path} ${button} is red`,
        )
        await dialog.getByRole('button', { name: '取消' }).click()
        await dialog.waitFor({ state: 'hidden' })
        assert.deepEqual(changes, [], `${path} ${button} sends no request when cancelled`)
      }
      assert.deepEqual(visitor.problems, [])
    })
  }
})

describe('a dialog', () => {
  browserTest('is the only one, however fast the keys are pressed', async () => {
    await using visitor = await browser.visit(service.url)
    const { page } = visitor
    await page.emulateMedia({ reducedMotion: 'no-preference' })
    await signIn(visitor, accounts.holder)
    await visitor.navigateTo('/events?tab=alerts')
    const opener = page.getByRole('button', { name: '添加接收方式' })
    await opener.focus()
    await Promise.all(['Enter', 'Tab', 'Enter'].map((key) => page.keyboard.press(key)))
    const dialog = page.getByRole('dialog')
    await page.locator('.ant-modal:focus-within').first().waitFor()
    assert.equal(await page.locator('.ant-modal').count(), 1)
    await dialog.getByRole('button', { name: '取消' }).click()
    await dialog.waitFor({ state: 'hidden' })
    await page.locator('button:focus', { hasText: '添加接收方式' }).waitFor()
  })

  browserTest('is submitted once', async () => {
    const account = await service.account()
    await using visitor = await browser.visit(service.url)
    const { page } = visitor
    await signIn(visitor, account)
    await page.goto('/console/keys')
    await page.getByRole('button', { name: '清除密钥' }).click()
    await page.getByLabel('登录密码').fill(account.password)
    const calls: string[] = []
    page.on('request', (request) => {
      if (request.method() !== 'GET') calls.push(new URL(request.url()).pathname)
    })
    // The second time is after the fields were checked and before the page is drawn again.
    await page.evaluate(`(async () => {
      const form = document.querySelector('.ant-modal form')
      form.requestSubmit()
      for (let turn = 0; turn < 200; turn += 1) await undefined
      form.requestSubmit()
    })()`)
    await page.getByText('还没有密钥').waitFor()
    assert.equal(calls.length, 1)
    assert.deepEqual(visitor.problems, [])
  })
})

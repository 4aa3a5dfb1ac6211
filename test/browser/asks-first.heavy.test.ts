// Every destructive step asks first and says what it breaks; turning back changes nothing.
import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type { Page } from 'playwright-core'
import { browserTest, noBrowser, openBrowser, signIn, type TestBrowser } from '../support/browser.ts'
import { createSampleData, type SampleData } from '../support/sample-data.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService
let browser: TestBrowser
let people: SampleData

/** What "before" has started, also when a later step of it failed. */
const started = new AsyncDisposableStack()

before(async () => {
  if (noBrowser !== false) return
  service = started.use(await startService('sqlite'))
  browser = started.use(await openBrowser())
  people = await createSampleData(service)
  await service.installation.db.write((tx) =>
    tx.run('UPDATE account SET sign_name = ? WHERE id = ?', ['云帆', people.holder.id]),
  )
})
after(() => started.disposeAsync())

interface Step {
  readonly path: string
  /** The button that begins it; the first of that name on the page. */
  readonly button: string
  /** What is done in the dialog before it breaks anything. */
  readonly first?: (page: Page) => Promise<void>
  /** What the dialog says. */
  readonly breaks: RegExp
  /** The button that would do it, when it has another name. */
  readonly ok?: string
}

const accounts = '/operator/accounts?q=yunfan'

const openAccount = async (page: Page) => {
  await page.getByRole('button', { name: 'yunfan-mall' }).click()
  await page.getByRole('dialog', { name: '账户' }).getByText('yunfan-mall').waitFor()
}

const holderSteps: readonly Step[] = [
  { path: '/keys', button: '重置密钥', breaks: /旧密钥立即失效.*\d+ 次调用/ },
  { path: '/keys', button: '清除密钥', breaks: /密钥将被删除.*\d+ 次调用/ },
  { path: '/account', button: '退出', breaks: /该设备需要重新登录/ },
  { path: '/account', button: '退出其他全部会话', breaks: /所有设备都需要重新登录/, ok: '退出' },
  { path: '/account', button: '改用平台签名', breaks: /之后的短信使用平台签名.*重新提交审核/ },
  { path: '/shortlink?open=1', button: '刷新地址', breaks: /短码 \w+ 及其二维码将停止跳转，且无法恢复/ },
  { path: '/sms', button: '删除', breaks: /删除后，使用该模板的发送请求会失败/ },
  { path: '/domain-check?tab=watch', button: '移除', breaks: /不再检测.*历史结果一并删除/ },
]

const operatorSteps: readonly (Step & { readonly inAccount?: boolean })[] = [
  { path: '/operator/reviews', button: '不通过', breaks: /将标为审核不通过/ },
  {
    path: '/operator/codes?open=1',
    button: '作废未使用的兑换码',
    breaks: /19 个兑换码将永久失效/,
    ok: '作废',
  },
  { path: '/operator/codes?open=1', button: '作废', breaks: /TG-.*将永久失效/ },
  { path: '/operator/domains', button: '移除', breaks: /新链接不再使用/ },
  { path: accounts, inAccount: true, button: '停用账户', breaks: /接口调用会立即被拒绝.*停止跳转/ },
  { path: accounts, inAccount: true, button: '重置密码', breaks: /全部登录会话会退出/ },
  {
    path: accounts,
    inAccount: true,
    button: '发放或扣减额度',
    first: (page) => page.getByText('扣减', { exact: true }).click(),
    breaks: /额度会立即减少.*会被拒绝/,
    ok: '扣减',
  },
  {
    path: accounts,
    inAccount: true,
    button: '修改',
    first: async (page) => {
      await page.getByRole('switch').first().click()
      await page.locator('input[type=date]').fill('2026-01-01')
    },
    breaks: /该日期已过.*短信发送会立即被拒绝/,
    ok: '保存',
  },
]

describe('asks, says what it breaks, and takes no for an answer', () => {
  for (const [who, steps] of [
    ['holder', holderSteps],
    ['operator', operatorSteps],
  ] as const) {
    browserTest(`the steps of the ${who}`, async () => {
      await using visitor = await browser.visit(service.url)
      const { page } = visitor
      await signIn(visitor, people[who])
      const changes: string[] = []
      page.on('request', (request) => {
        if (request.method() !== 'GET') changes.push(`${request.method()} ${request.url()}`)
      })
      for (const { path, button, first, breaks, ok = button, ...where } of steps) {
        await page.goto(`/console${path}`)
        if ('inAccount' in where) await openAccount(page)
        await page.getByRole('button', { name: button, exact: true }).first().click()
        const dialog = page.locator('.ant-modal').last()
        await dialog.waitFor()
        await first?.(page)
        await dialog.getByText(breaks).waitFor()
        const doIt = dialog.getByRole('button', { name: ok, exact: true })
        assert.match((await doIt.getAttribute('class')) ?? '', /dangerous/, `${path} ${button} is red`)
        await dialog.getByRole('button', { name: '取消' }).click()
        await dialog.waitFor({ state: 'hidden' })
        assert.deepEqual(changes, [], `${path} ${button}: no is no`)
      }
      assert.deepEqual(visitor.problems, [])
    })
  }
})

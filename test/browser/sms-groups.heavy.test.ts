// Group sending in a browser: a bad file changes nothing, a file is mapped, checked, priced and sent, and its batch ends.
import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import { systemActor } from '../../server/audit/audit.ts'
import { createTemplate } from '../../server/sms/templates.ts'
import {
  browserTest,
  noBrowser,
  openBrowser,
  signIn,
  type TestBrowser,
  type Visitor,
} from '../support/browser.ts'
import { startService, type TestAccount, type TestService } from '../support/service.ts'

let service: TestService
let browser: TestBrowser
let account: TestAccount
let visitor: Visitor

const started = new AsyncDisposableStack()
const remaining = async () => (await service.app.services.credits.balance(account.id, 'sms')).remaining

before(async () => {
  if (noBrowser !== false) return
  service = started.use(await startService('sqlite'))
  browser = started.use(await openBrowser())
  account = await service.account({ sms: 2_000 })
  await createTemplate(service.installation.db, systemActor, {
    accountId: account.id,
    code: 'ORDER',
    name: '订单通知',
    content: '${name}您好，您的订单${order}已发货。',
    status: '审核通过',
  })
  visitor = await browser.visit(service.url)
  await signIn(visitor, account)
})
after(() => started.disposeAsync())

const csv = (name: string, text: string | Buffer) => ({
  name,
  mimeType: 'text/csv',
  buffer: Buffer.from(text),
})

browserTest('a bad file gets a clear message and changes nothing', async () => {
  const { page } = visitor
  await page.goto('/console/sms?tab=groups')
  const input = page.locator('input[type=file]')
  await input.setInputFiles(csv('old.xls', Buffer.from('d0cf11e0a1b11ae1', 'hex')))
  await page.getByRole('alert').getByText('旧版 .xls').waitFor()
  await input.setInputFiles(csv('empty.csv', '\n'))
  await page.getByRole('alert').getByText('文件中没有内容').waitFor()
  assert.equal(await remaining(), 2_000)
})

browserTest('maps, checks, prices and sends more rows than one batch takes', async () => {
  const { page } = visitor
  await page.goto('/console/sms?tab=groups')
  const rows = Array.from({ length: 1_200 }, (_one, i) => `小李,138${10_000_000 + i},A${i}`)
  const text = ['姓名,手机号,order', ...rows, '小王,1.38E+10,B1', '小王,13810000000,B2'].join('\r\n')
  await page.locator('input[type=file]').setInputFiles(csv('客户.csv', `\ufeff${text}`))
  await page.getByText('客户.csv · UTF-8 · 1,202 行').waitFor()
  // The heading 姓名 is not a variable, so its column is chosen by hand.
  await page.getByLabel('变量 name').click()
  await page.locator('.ant-select-item-option').filter({ hasText: '姓名' }).first().click()
  await page.getByRole('button', { name: '检查并计价' }).click()
  await page.getByText('小李您好，您的订单A0已发货。').waitFor()
  await page.getByRole('button', { name: '下载不发送的行 (2)' }).waitFor()
  assert.equal(await remaining(), 2_000)
  assert.deepEqual(await visitor.findViolations(), [])
  await page.getByRole('button', { name: '发送 1,200 条（消耗 1,200）' }).click()
  await page.getByRole('button', { name: '确认发送' }).click()
  await page.getByText('已提交 1,200 条，共 2 个批次').waitFor()
  await page.getByText('已完成', { exact: true }).nth(1).waitFor()
  await page.getByText('1,000/1,000 · 成功 1,000').waitFor()
  assert.equal(await remaining(), 800)
  assert.deepEqual(await visitor.findViolations(), [])
  assert.deepEqual(visitor.problems, [])
})

// Signatures with proofs, replies and the stop list in a browser.
import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import { storeReply } from '../../server/sms/replies.ts'
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

before(async () => {
  if (noBrowser !== false) return
  service = started.use(await startService('sqlite'))
  browser = started.use(await openBrowser())
  account = await service.account({ sms: 20 })
  visitor = await browser.visit(service.url)
  await signIn(visitor, account)
})
after(() => started.disposeAsync())

browserTest('adds a signature, uploads a proof and shows that it is in review', async () => {
  const { page } = visitor
  await page.goto('/console/sms?tab=signatures')
  await page.getByRole('button', { name: '添加签名' }).click()
  const dialog = page.getByRole('dialog', { name: '添加签名' })
  await dialog.getByLabel('签名', { exact: true }).fill('云帆商城')
  await dialog.getByRole('button', { name: '提交审核' }).click()
  await page.getByText('【云帆商城】').waitFor()
  const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(64)])
  const file = { name: '营业执照.png', mimeType: 'image/png', buffer: png }
  await page.locator('input[type=file]').setInputFiles(file)
  await page.getByRole('link', { name: '营业执照.png' }).waitFor()
  await page.getByText('审核中', { exact: true }).waitFor()
  assert.deepEqual(await visitor.findViolations(), [])
  assert.deepEqual(visitor.problems, [])
})

browserTest('shows replies, and numbers on the stop list can be added and removed', async () => {
  const { page } = visitor
  const { db } = service.installation
  await db.write((tx) =>
    tx.run(
      `INSERT INTO sms_send (account_id, operation_id, phone, template_code, template_params, sign_name, parts, gateway,
         state, created_at) VALUES (?, 1, '13800138000', 'X', '{}', '云帆商城', 1, 'sandbox', 'accepted', ${tx.now})`,
      [account.id],
    ),
  )
  const reply = { phone: '13800138000', content: 'TD', signName: undefined, sequence: '1' }
  await storeReply(db, 'aliyun', reply)
  await page.goto('/console/sms?tab=replies')
  await page.getByText('138****8000').waitFor()
  await page.getByText('已退订').waitFor()
  assert.deepEqual(await visitor.findViolations(), [])
  await page.goto('/console/sms?tab=stops')
  await page.getByText('收件人回复', { exact: true }).waitFor()
  await page.getByRole('button', { name: '添加号码' }).click()
  const dialog = page.getByRole('dialog', { name: '添加号码' })
  await dialog.getByLabel('手机号').fill('13900139000')
  await dialog.getByRole('button', { name: /^添\s*加$/ }).click()
  await page.getByText('139****9000').waitFor()
  assert.deepEqual(await visitor.findViolations(), [])
  assert.deepEqual(visitor.problems, [])
})

// The four products in a browser: the pages of the account holder and the operator.
import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type { Locator } from 'playwright-core'
import { systemActor } from '../../server/audit/audit.ts'
import { createAccount } from '../../server/accounts/accounts.ts'
import {
  browserTest,
  noBrowser,
  openBrowser,
  signIn,
  type TestBrowser,
  type Visitor,
} from '../support/browser.ts'
import { uniqueName } from '../support/engines.ts'
import { startService, type TestAccount, type TestService } from '../support/service.ts'

let service: TestService
let browser: TestBrowser
let account: TestAccount
let visitor: Visitor

const password = 'correct horse 9'

/** Closes what `before` started, even when `before` fails. */
const started = new AsyncDisposableStack()

before(async () => {
  if (noBrowser !== false) return
  service = started.use(await startService('sqlite', { DOMAIN_MAX_URLS: '600' }))
  browser = started.use(await openBrowser())
  account = await service.account({ short_link: 20, sms: 20, id_verification: 20, domain_check: 20 })
  visitor = await browser.visit(service.url)
  await signIn(visitor, account)
})
after(() => started.disposeAsync())

const remaining = async (type: 'short_link' | 'sms' | 'id_verification' | 'domain_check') =>
  (await service.app.services.credits.balance(account.id, type)).remaining

const createOperator = () =>
  createAccount(service.installation.db, systemActor, { username: uniqueName(), password, role: 'operator' })

const textOf = async (locator: Locator) => (await locator.textContent()) ?? ''

describe('SMS', () => {
  browserTest(
    'creates, reviews and sends a template, shows the price before sending, and records the send',
    async () => {
      const { page } = visitor
      await page.goto('/console/sms')
      await page.getByRole('button', { name: '创建模板' }).first().click()
      const editor = page.getByRole('dialog', { name: '创建模板' })
      await editor.getByLabel('模板名称').fill('取件通知')
      await editor.getByLabel('模板编号').fill('PARCEL')
      await editor.getByLabel('模板内容').fill('您的包裹已到，取件码${code}。')
      await editor.getByLabel('code', { exact: true }).fill('8-2-3017')
      await editor.getByText('8-2-3017').waitFor()
      await editor.getByText(/^\d+\/70 · 1 条$/).waitFor()
      await editor.getByRole('button', { name: '提交审核' }).click()
      await page.getByRole('row', { name: /PARCEL.*审核中/ }).waitFor()

      await using reviewer = await browser.visit(service.url)
      await signIn(reviewer, await createOperator())
      await reviewer.page.goto('/console/operator/reviews')
      const waiting = reviewer.page.getByRole('row', { name: /取件通知/ })
      await waiting.getByText('您的包裹已到，取件码${code}。').waitFor()
      await waiting.getByRole('button', { name: '通过', exact: true }).click()
      const decision = reviewer.page.getByRole('dialog')
      await decision.getByLabel('备注').fill('内容合规')
      await decision.getByRole('button', { name: '通过' }).click()
      await reviewer.page.getByText('没有等待审核的内容').waitFor()

      await page.reload()
      await page
        .getByRole('row', { name: /PARCEL.*审核通过/ })
        .getByRole('link', { name: '使用该模板发送' })
        .click()
      await page.getByLabel('手机号').fill('13800138000')
      await page.getByText('填写完整后显示价格').waitFor()
      await page.getByLabel('code', { exact: true }).fill('8-2-3017')
      await page.getByText('本条消耗 1，剩余 20').waitFor()
      assert.equal(await remaining('sms'), 20)
      await page.getByRole('button', { name: '发送', exact: true }).click()
      await page.getByText('已提交网关').waitFor()
      assert.equal(await remaining('sms'), 19)
      await page.getByText('本条消耗 1，剩余 19').waitFor()
      assert.equal(await page.getByRole('button', { name: '发送', exact: true }).isDisabled(), true)
      await page.getByRole('button', { name: '再发一条' }).click()
      assert.equal(await page.getByRole('button', { name: '发送', exact: true }).isDisabled(), false)

      // A send that the sandbox refuses shows an error and is refunded.
      await page.getByLabel('手机号').fill('19900000001')
      await page.getByText('本条消耗 1，剩余 19').waitFor()
      await page.getByRole('button', { name: '发送', exact: true }).click()
      await page.getByRole('alert').getByText('请求编号').waitFor()
      assert.deepEqual(visitor.problems.splice(0), [`502 ${service.url}/console/api/sms/send`])
      assert.equal(await page.getByLabel('手机号').inputValue(), '19900000001')
      assert.equal(await remaining('sms'), 19)

      await page.getByRole('tab', { name: '记录' }).click()
      await page.getByRole('row', { name: /138\*{4}8000 取件通知.*(已提交|已送达).*sandbox/ }).waitFor()
      await page.getByRole('row', { name: /199\*{4}0001 取件通知.*失败/ }).waitFor()
      assert.deepEqual([...visitor.problems, ...reviewer.problems], [])
    },
  )
})

describe('identity', () => {
  browserTest(
    'verifies a match and a mismatch, rejects an invalid number, and masks the history',
    async () => {
      const { page } = visitor
      await page.goto('/console/identity')
      await page.getByText('还没有核验记录').waitFor()
      const number = page.getByLabel('身份证号')
      await page.getByLabel('姓名').fill('张三')
      await number.fill('110105194912310021')
      await page.getByRole('button', { name: '核验', exact: true }).click()
      await page.getByText('校验位不正确').waitFor()
      await number.fill('11010519491231002X')
      await page.getByRole('button', { name: '核验', exact: true }).click()
      await page.getByText('剩余 19 次').waitFor()
      await page.getByRole('row', { name: /张\* 110105\*{8}002X 一致 sandbox/ }).waitFor()
      await page.getByLabel('姓名').fill('不匹配')
      await page.getByRole('button', { name: '核验', exact: true }).click()
      await page.getByText('剩余 18 次').waitFor()
      await page.getByRole('row', { name: /不\*+ 110105\*{8}002X 不一致/ }).waitFor()
      assert.ok(!(await textOf(page.getByRole('table').last())).includes('11010519491231002X'))
      assert.deepEqual(visitor.problems, [])
    },
  )
})

describe('domain check', () => {
  browserTest('checks pasted domains, shows the results, filters and exports them', async () => {
    const { page } = visitor
    await page.goto('/console/domain-check')
    const box = page.getByRole('textbox', { name: /每行一个/ })
    // The setting, not its default.
    await page.getByPlaceholder('最多 600 个').waitFor()
    await box.fill('example.com\nhttps://www.blocked.test/page\ndown.test\nnot a domain')
    await page.getByText('3 个有效，1 行有问题').waitFor()
    await page.getByText('第 4 行：not a domain').waitFor()
    await page.getByText('消耗 3 次，剩余 20').waitFor()
    await page.getByRole('checkbox', { name: /不检测重复的 0 行和无效的 1 行/ }).click()
    await page.getByText('消耗 4 次，剩余 20').waitFor()
    await page.getByRole('button', { name: '开始检测' }).click()
    await page.getByRole('heading', { name: '已完成' }).waitFor()
    await page.getByText('4 / 4').waitFor()
    for (const [address, verdict] of [
      ['example.com', '未拦截'],
      ['www.blocked.test', '已拦截'],
      ['down.test', '请求失败'],
      ['not a domain', '无效URL'],
    ] as const) {
      await page.getByRole('row', { name: new RegExp(`${address}.*${verdict}`) }).waitFor()
    }
    assert.equal(await remaining('domain_check'), 17, 'a failed check is refunded')
    await page.getByText('已拦截 1').click()
    await page.getByRole('row', { name: /example\.com/ }).waitFor({ state: 'hidden' })
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: /导出/ }).click(),
    ])
    assert.match(file.suggestedFilename(), /^domain-check-\d+\.csv$/)
    await page.getByRole('tab', { name: '检测历史' }).click()
    await page.getByRole('link', { name: '查看结果' }).click()
    await page.getByRole('row', { name: /down\.test/ }).waitFor()
    assert.deepEqual(visitor.problems, [])
  })

  browserTest('adds, pauses and removes a watched domain', async () => {
    const { page } = visitor
    await page.goto('/console/domain-check?tab=watch')
    await page.getByText('还没有监控的域名').waitFor()
    await page.getByLabel('网址').fill('shop.blocked.test')
    await page.getByRole('button', { name: '添加监控' }).click()
    const row = page.getByRole('row', { name: /shop\.blocked\.test.*1 小时/ })
    await row.waitFor()
    await row.getByRole('button', { name: '暂停' }).click()
    await row.getByText('已暂停').waitFor()
    await row.getByRole('button', { name: '移除' }).click()
    await page.getByRole('dialog').getByRole('button', { name: '移除' }).click()
    await page.getByText('还没有监控的域名').waitFor()
    assert.deepEqual(visitor.problems, [])
  })
})

browserTest('the request log shows console calls with masked personal data', async () => {
  const { page } = visitor
  await page.goto('/console/shortlink')
  await page.getByRole('button', { name: '创建短链接' }).first().click()
  const form = page.getByRole('dialog', { name: '创建短链接' })
  await form.getByLabel('目标地址').fill('https://shop.example.com/first')
  await form.getByRole('button', { name: '创建短链接' }).click()
  await page
    .getByRole('dialog', { name: /^短链接( · |$)/ })
    .getByText(service.url)
    .first()
    .waitFor()
  await page.goto('/console/requests')
  for (const action of ['generate 控制台', 'send 控制台', '域名检测 · 批量 控制台']) {
    await page
      .getByRole('cell', { name: new RegExp(action) })
      .first()
      .waitFor()
  }
  const shown = await textOf(page.locator('main'))
  for (const secret of ['13800138000', '11010519491231002X', account.key]) {
    assert.ok(!shown.includes(secret), 'masked')
  }
  assert.deepEqual(visitor.problems, [])
})

describe('operator', () => {
  browserTest('adds and probes a pool domain, tests a gateway, and shows both in the audit log', async () => {
    await using operator = await browser.visit(service.url)
    const { page } = operator
    await signIn(operator, await createOperator())
    await page.goto('/console/operator/domains')
    await page.getByRole('button', { name: '添加域名' }).first().click()
    const adding = page.getByRole('dialog', { name: '添加域名' })
    await adding.getByRole('textbox', { name: '域名' }).fill('go.blocked.test')
    await adding.getByLabel('备注').fill('新域名')
    await adding.getByRole('button', { name: '添加域名' }).click()
    const row = page.getByRole('row', { name: /A 池（a_url） go\.blocked\.test/ })
    await row.getByRole('button', { name: '立即探测' }).click()
    await row.getByText('已拦截').waitFor()
    await row.getByRole('button', { name: '移除' }).click()
    const removing = page.getByRole('dialog', { name: '移除域名？' })
    await removing.getByLabel('备注').fill('被拦截')
    await removing.getByRole('button', { name: '移除' }).click()
    await page.getByText('还没有域名').waitFor()

    await page.goto('/console/operator/gateways')
    await page
      .getByRole('row', { name: /短信 sandbox 1 正常/ })
      .getByRole('button', { name: '测试' })
      .click()
    const testing = page.getByRole('dialog', { name: '测试 sandbox' })
    await testing.getByLabel('接收测试短信的手机号').fill('13800138000')
    await testing.getByLabel('备注').fill('例行检查')
    await testing.getByRole('button', { name: '测试' }).click()
    await page.getByText(/测试成功，耗时/).waitFor()

    await page.goto('/console/operator/audit')
    for (const note of ['新域名', '例行检查']) await page.getByRole('row', { name: note }).waitFor()
    assert.deepEqual(operator.problems, [])
  })
})

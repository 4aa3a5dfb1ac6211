// Keys with limits, the second factor, operator tokens and roles, and webhooks, used in a browser from end to end.
import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type { Page } from 'playwright-core'
import { Webhook } from 'standardwebhooks'
import type { OperatorRole } from '../../contract/console/roles.ts'
import { createAccount } from '../../server/accounts/accounts.ts'
import { decodeBase32, stepAt, totpCode } from '../../server/accounts/totp.ts'
import { systemActor } from '../../server/audit/audit.ts'
import {
  browserTest,
  confirmIdentity,
  noBrowser,
  openBrowser,
  signIn,
  type TestBrowser,
} from '../support/browser.ts'
import { uniqueName } from '../support/engines.ts'
import { type FakeUpstream, startFakeUpstream, text } from '../support/fake-upstream.ts'
import { get, post, startService, type TestAccount, type TestService } from '../support/service.ts'
import { until } from '../support/until.ts'

let service: TestService
let browser: TestBrowser
let receiver: FakeUpstream

/** Closes what `before` started, even when `before` fails. */
const started = new AsyncDisposableStack()

before(async () => {
  if (noBrowser !== false) return
  receiver = started.adopt(await startFakeUpstream(), (one) => one.close())
  service = started.use(
    await startService('sqlite', { WEBHOOK_ALLOW_PRIVATE: 'on', WEBHOOK_RETRY_S: '86400' }),
  )
  browser = started.use(await openBrowser())
})
after(() => started.disposeAsync())

const requestCredits = ({ username, key }: TestAccount) =>
  post(`${service.url}/api/sms_api.php`, { action: 'get_credits', username, api_key: key })
const verify = ({ key }: TestAccount) =>
  post(`${service.url}/api/id_verification_api.php`, {
    name: '张三',
    idcard: '11010519491231002X',
    api_key: key,
  })

describe('limits of a key', () => {
  browserTest(
    'are set after a confirmation, warn before one locks oneself out, and hold at once',
    async () => {
      const account = await service.account({ sms: 10, id_verification: 5 })
      await using visitor = await browser.visit(service.url)
      const { page } = visitor
      await signIn(visitor, account)
      await page.goto('/console/keys')
      await page.getByRole('button', { name: '修改限制' }).click()
      const dialog = page.getByRole('dialog', { name: '修改限制' })
      await dialog.getByText('仅限所选').click()
      await dialog.getByRole('button', { name: '保存' }).click()
      await dialog.getByText('请至少选择一项权限').waitFor()
      await dialog.getByRole('checkbox', { name: /sms:read/ }).check()
      await dialog.getByLabel('IP 白名单').fill('192.0.2.0/24\n2001:db8::/32')
      await dialog.getByLabel('身份核验，每月上限').fill('1')
      await dialog.getByRole('button', { name: '保存' }).click()
      await confirmIdentity(page, account.password)
      // The warning comes before anything is saved.
      await dialog.getByText('从您当前的地址调用接口会被拒绝').waitFor()
      assert.equal((await requestCredits(account)).status, 200)
      await dialog.getByRole('button', { name: '仍要保存' }).click()
      await page.getByText('限制已保存').waitFor()
      const locked = await requestCredits(account)
      assert.deepEqual([locked.status, locked.body.message], [403, '来源地址不在允许范围'])

      // The console is not locked out: the list is emptied there.
      await page.getByRole('button', { name: '修改限制' }).click()
      await dialog.getByLabel('IP 白名单').fill('')
      await dialog.getByRole('button', { name: '保存' }).click()
      await page.getByText('不限 IP 地址').waitFor()
      assert.equal((await requestCredits(account)).status, 200)
      const outside = await verify(account)
      assert.deepEqual([outside.status, outside.body.message], [403, '无权执行此操作'])

      await page.getByRole('button', { name: '修改限制' }).click()
      await dialog.getByText('全部权限').click()
      await dialog.getByRole('button', { name: '保存' }).click()
      await page.getByRole('cell', { name: '0 / 1' }).waitFor()
      await page.getByText('全部权限').waitFor()
      assert.equal((await verify(account)).body.success, true)
      const capped = await verify(account)
      assert.deepEqual([capped.status, capped.body.message], [403, '超过每月用量上限'])
      assert.deepEqual(visitor.problems, [])
    },
  )
})

/** The code of the authenticator app; each step counts once, so a later sign-in takes the next one. */
const codeOf = (secret: string, stepsAhead = 0) =>
  totpCode(decodeBase32(secret), stepAt(Date.now()) + stepsAhead)

async function signInWithPassword(
  page: Page,
  account: { username: string; password: string },
): Promise<void> {
  await page.goto('/console/sign-in')
  await page.getByLabel('用户名').fill(account.username)
  await page.locator('input[type=password]').fill(account.password)
  await page.getByRole('button', { name: '登录' }).click()
}

describe('second factor', () => {
  browserTest(
    'is set up with a code, asked for at sign-in, and replaced by a recovery code once',
    async () => {
      const account = await service.account()
      await using first = await browser.visit(service.url)
      const { page } = first
      await signIn(first, account)
      await page.goto('/console/security')
      await page.getByRole('button', { name: '启用两步验证' }).click()
      await confirmIdentity(page, account.password)
      const dialog = page.getByRole('dialog', { name: '启用两步验证' })
      const secret = (await dialog.getByTestId('totp-secret').textContent())!.replaceAll(' ', '')
      await dialog.getByLabel('验证码').fill('000000')
      await dialog.getByRole('button', { name: '启用两步验证' }).click()
      await dialog.getByText('验证码错误，请检查手机时间').waitFor()
      await dialog.getByLabel('验证码').fill(codeOf(secret))
      await dialog.getByRole('button', { name: '启用两步验证' }).click()
      const codes = (await page.getByTestId('recovery-codes').textContent())!.trim().split('\n')
      assert.equal(codes.length, 10)
      await page.getByRole('button', { name: '我已保存' }).click()
      await page.getByText('剩余 10 个恢复码').waitFor()

      await using second = await browser.visit(service.url)
      await signInWithPassword(second.page, account)
      const field = second.page.getByLabel('验证码或恢复码')
      const submit = second.page.getByRole('button', { name: '验证并登录' })
      await field.fill('123')
      await submit.click()
      await second.page.getByText('验证码错误或已使用').waitFor()
      await field.fill(codeOf(secret, 1))
      await submit.click()
      await second.page.locator('nav').first().waitFor({ state: 'attached' })

      await using third = await browser.visit(service.url)
      for (const isUsed of [false, true]) {
        await third.context.clearCookies()
        await signInWithPassword(third.page, account)
        await third.page.getByLabel('验证码或恢复码').fill(codes[0]!.toLowerCase())
        await third.page.getByRole('button', { name: '验证并登录' }).click()
        if (isUsed) await third.page.getByText('验证码错误或已使用').waitFor()
        else await third.page.locator('nav').first().waitFor({ state: 'attached' })
      }
      await page.reload()
      await page.getByText('剩余 9 个恢复码').waitFor()
      for (const [left, warning] of [
        [3, '恢复码仅剩 3 个，请重新生成'],
        [0, '恢复码已用完，请重新生成'],
      ] as const) {
        await service.installation.db.write((tx) =>
          tx.run(
            `DELETE FROM recovery_code WHERE account_id = ? AND code_hash NOT IN (
               SELECT code_hash FROM recovery_code WHERE account_id = ? LIMIT ${left})`,
            [account.id, account.id],
          ),
        )
        await page.reload()
        await page.getByText(warning).waitFor()
      }
      await page
        .getByRole('cell', { name: /恢复码/ })
        .first()
        .waitFor()
      assert.deepEqual([...first.problems, ...second.problems, ...third.problems], [])
    },
  )
})

const createOperator = (operatorRole: OperatorRole) =>
  createAccount(service.installation.db, systemActor, {
    username: uniqueName(),
    password: 'correct horse 9',
    role: 'operator',
    operatorRole,
  })

describe('operators', () => {
  browserTest('create a token that is shown once, and revoke it', async () => {
    const boss = await createOperator('owner')
    await using visitor = await browser.visit(service.url)
    const { page } = visitor
    await signIn(visitor, boss)
    await page.goto('/console/operator/tokens')
    await page.getByRole('button', { name: '创建令牌' }).first().click()
    const dialog = page.getByRole('dialog', { name: '创建令牌' })
    await dialog.getByLabel('名称').fill('billing-sync')
    await dialog.getByLabel('备注').fill('每日同步')
    await dialog.getByRole('button', { name: '创建令牌' }).click()
    await dialog.getByText('请至少选择一项权限').waitFor()
    await dialog.getByRole('button', { name: '审计' }).click()
    await dialog.getByText('accounts:read').waitFor()
    await dialog.getByRole('button', { name: '创建令牌' }).click()
    await confirmIdentity(page, boss.password)
    const token = (await page.getByTestId('fresh-token').textContent())!.trim()
    assert.match(token, /^tgo_/)
    await page.getByRole('button', { name: '我已保存' }).click()
    await page.getByTestId('fresh-token').waitFor({ state: 'detached' })
    const headers = { authorization: `Bearer ${token}` }
    assert.equal((await get(`${service.url}/console/api/operator/accounts`, headers)).status, 200)
    const row = page.getByRole('row', { name: /billing-sync/ })
    assert.ok(!(await row.textContent())!.includes(token))
    await row.getByRole('button', { name: '吊销' }).click()
    const question = page.getByRole('dialog', { name: '吊销该令牌？' })
    await question.getByLabel('备注').fill('不再使用')
    await question.getByRole('button', { name: '吊销' }).click()
    await page.getByText('令牌已吊销').waitFor()
    assert.equal((await get(`${service.url}/console/api/operator/accounts`, headers)).status, 401)
    assert.deepEqual(visitor.problems, [])
  })

  browserTest('see in the menu what their role may use', async () => {
    const labels = ['账户', '订单', '审核', '令牌']
    const expected: Readonly<Record<OperatorRole, readonly boolean[]>> = {
      owner: [true, true, true, true],
      finance: [true, true, false, false],
      support: [true, false, true, false],
      auditor: [true, true, true, true],
    }
    for (const [role, shown] of Object.entries(expected)) {
      const person = await createOperator(role as OperatorRole)
      await using visitor = await browser.visit(service.url)
      const { page } = visitor
      await signIn(visitor, person)
      const menu = page.locator('nav').first()
      const links = await menu.locator('a[href*="/operator/"]').allTextContents()
      for (const [index, label] of labels.entries())
        assert.equal(
          links.some((link) => link.includes(label)),
          shown[index],
          `${role} ${label}: ${links.join(' ')}`,
        )
      await page.goto('/console/operator/tokens')
      if (role === 'finance') await page.getByText('您的角色不能查看此页').waitFor()
      if (role === 'auditor') {
        await page.getByRole('heading', { name: '管理员令牌' }).waitFor()
        assert.equal(await page.getByRole('button', { name: '创建令牌' }).count(), 0)
      }
      assert.deepEqual(visitor.problems, [])
    }
  })
})

describe('webhooks', () => {
  browserTest(
    'show their secret once, are tested, show attempts with request and answer, and are sent again',
    async () => {
      const account = await service.account()
      const answers = [text(500, 'out of order')]
      receiver.handle(() => answers.shift() ?? text(200, 'thank you'))
      await using visitor = await browser.visit(service.url)
      const { page } = visitor
      await signIn(visitor, account)
      await page.goto('/console/events')
      await page.getByRole('button', { name: '添加 Webhook' }).first().click()
      const dialog = page.getByRole('dialog', { name: '添加 Webhook' })
      await dialog.getByLabel('URL').fill('ftp://example.com/')
      await dialog.getByRole('button', { name: '保存' }).click()
      await dialog.getByText('必须是 http:// 或 https:// 开头的完整地址').waitFor()
      await dialog.getByLabel('URL').fill(`${receiver.url}hook`)
      await dialog.getByRole('button', { name: '保存' }).click()
      const secret = (await page.getByTestId('webhook-secret').textContent())!.trim()
      await page.getByRole('button', { name: '我已保存' }).click()
      await page.getByTestId('webhook-secret').waitFor({ state: 'detached' })

      await page.getByRole('button', { name: '发送测试' }).click()
      await page.getByText('测试事件已发送').waitFor()
      await until(() => receiver.requests.length === 1)
      await page.getByRole('link', { name: `${receiver.url}hook` }).click()
      await page.getByRole('link', { name: 'ping', exact: true }).click()
      const drawer = page.getByRole('dialog', { name: /投递详情/ })
      const [{ body, headers }] = receiver.requests as [(typeof receiver.requests)[number]]
      new Webhook(secret).verify(body, headers)
      await drawer.getByText(headers['webhook-id']!).waitFor()
      await drawer.getByText('"type": "ping"').waitFor()
      await drawer.getByText('out of order').waitFor()
      await drawer.getByRole('button', { name: '重新投递' }).click()
      await drawer.getByText('thank you').waitFor()
      await drawer.getByText('已送达').waitFor()
      assert.equal(receiver.requests[1]!.headers['webhook-id'], headers['webhook-id'])
      await page.keyboard.press('Escape')
      await drawer.waitFor({ state: 'hidden' })

      // All that failed since a time.
      await service.installation.db.write((tx) =>
        tx.run(`UPDATE event_delivery SET state = 'failed' WHERE account_id = ?`, [account.id]),
      )
      await page.getByRole('button', { name: '重新投递失败的事件' }).click()
      const since = page.getByRole('dialog', { name: '重新投递失败的事件' })
      await since.getByLabel('起始时间').fill('yesterday')
      await since.getByRole('button', { name: '重新投递' }).click()
      await since.getByText('请填写时间').waitFor()
      await since.getByLabel('起始时间').fill('2026-01-02 03:04')
      await since.getByRole('button', { name: '重新投递' }).click()
      await page.getByText('1 条已重新投递').waitFor()
      await until(() => receiver.requests.length === 3)
      assert.deepEqual(visitor.problems, [])
    },
  )
})

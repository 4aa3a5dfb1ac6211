// Second factors, confirmations, mail addresses, password recovery and the list of sign-ins. Links that recover nothing: see
// recovery-links.heavy.test.ts.
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { keyRoutes } from '../../../contract/console/key.ts'
import { oidcRoutes } from '../../../contract/console/oidc.ts'
import { operatorRoutes } from '../../../contract/console/operator.ts'
import { operatorApi } from '../../../contract/console/responses/operator-api.ts'
import { securityRoutes } from '../../../contract/console/security.ts'
import { sessionRoutes } from '../../../contract/console/session.ts'
import { accountWithMail } from '../../../test/support/account-with-mail.ts'
import {
  type Browser,
  createBrowser,
  operator,
  signedIn,
  testPassword,
} from '../../../test/support/console.ts'
import { accountApi, exampleParts } from '../../../test/support/console-responses.ts'
import { onEachEngine } from '../../../test/support/engines.ts'
import { type Mailbox, openMailbox } from '../../../test/support/mailbox.ts'
import { admin, startService, type TestAccount, type TestService } from '../../../test/support/service.ts'
import { decodeBase32, stepAt, totpCode } from '../../accounts/totp.ts'

/** The code of the next step: enrolments use that of the present one, and a code is accepted once. */
const codeOf = (secret: string, ahead = 1) => totpCode(decodeBase32(secret), stepAt(Date.now()) + ahead)

async function enrolled(browser: Browser): Promise<{ secret: string; codes: readonly string[] }> {
  await browser.confirm()
  const { body } = await browser.call(securityRoutes.enrol)
  const enabled = await browser.call(securityRoutes.enable, { sent: { code: codeOf(body.secret, 0) } })
  assert.equal(enabled.status, 200, JSON.stringify(enabled.body))
  return { secret: body.secret, codes: enabled.body.recovery_codes }
}

const step = (browser: Browser, code: string) => browser.call(sessionRoutes.secondStep, { sent: { code } })

onEachEngine('security of an account', (engine) => {
  let service: TestService
  let mailbox: Mailbox
  let account: TestAccount
  let browser: Browser

  before(async () => {
    mailbox = await openMailbox()
    service = await startService(engine, { ...mailbox.environment, TRUSTED_PROXIES: '127.0.0.1' })
    account = await service.account()
    browser = await signedIn(service, account)
  })
  after(async () => {
    await service[Symbol.asyncDispose]()
    await mailbox.close()
  })

  const audited = async (action: string, target: string) =>
    (
      await service.installation.db.all<{ actor: string }>(
        'SELECT actor FROM audit WHERE action = ? AND target = ?',
        [action, target],
      )
    ).map(({ actor }) => actor)

  it('enrols with a confirmation and a code, and stores neither the secret nor the recovery codes', async () => {
    const early = await browser.call(securityRoutes.enrol)
    assert.equal(early.status, 403)
    assert.equal(early.body.error.code, 'confirmation_required')
    await browser.confirm()
    const { body } = await browser.call(securityRoutes.enrol)
    assert.equal(
      body.uri,
      `otpauth://totp/Tollgate:${account.username}?secret=${body.secret}&issuer=Tollgate&algorithm=SHA1&digits=6&period=30`,
    )
    const wrong = await browser.call(securityRoutes.enable, { sent: { code: '12345' } })
    assert.deepEqual(Object.keys(wrong.body.error.fields), ['code'])
    assert.equal((await createBrowser(service).signIn(account.username)).status, 200, 'not in effect yet')
    const other = await signedIn(service, account)
    const enabled = await browser.call(securityRoutes.enable, { sent: { code: codeOf(body.secret) } })
    const codes: readonly string[] = enabled.body.recovery_codes
    assert.equal(new Set(codes).size, 10)
    for (const code of codes) assert.match(code, /^[A-HJ-NP-Z2-9]{5}-[A-HJ-NP-Z2-9]{5}$/)
    assert.equal((await other.call(sessionRoutes.me)).status, 401, 'other sessions end')
    assert.equal((await browser.call(sessionRoutes.me)).status, 200)
    const { db } = service.installation
    const rows = JSON.stringify([
      await db.all('SELECT * FROM second_factor'),
      await db.all('SELECT * FROM recovery_code'),
    ])
    for (const hidden of [body.secret, ...codes, ...codes.map((code) => code.replace('-', ''))])
      assert.ok(!rows.includes(hidden))
    assert.equal((await browser.call(securityRoutes.enrol)).body.error.code, 'conflict')
    assert.deepEqual(await audited('second_factor.enable', account.username), [account.username])
  })

  it('asks for a code after the right password only, and accepts each code once', async () => {
    const user = await service.account()
    const { secret, codes } = await enrolled(await signedIn(service, user))
    const enter = createBrowser(service)
    assert.equal((await enter.signIn(user.username, 'wrong password')).body.error.code, 'wrong_credentials')
    assert.equal((await step(enter, codeOf(secret))).status, 401, 'without the first step')
    const first = await enter.signIn(user.username)
    assert.equal(first.status, 401)
    assert.equal(first.body.error.code, 'second_factor_required')
    assert.equal((await enter.call(sessionRoutes.me)).status, 401)
    const code = codeOf(secret)
    const [a, b] = await Promise.all([step(enter, code), step(enter, `${code.slice(0, 3)} ${code.slice(3)}`)])
    assert.deepEqual(
      [a.status, b.status].toSorted((one, other) => one - other),
      [200, 400],
      'simultaneous uses of one code',
    )
    await enter.signIn(user.username)
    assert.equal((await step(enter, code)).status, 400, 'used before')
    const recovered = await step(enter, ` ${codes[0]!.toLowerCase()}`)
    assert.equal(recovered.status, 200)
    assert.equal(recovered.body.user.username, user.username)
    assert.deepEqual(await audited('second_factor.use_recovery_code', user.username), [user.username])
    await enter.signIn(user.username)
    assert.equal((await step(enter, codes[0]!)).status, 400, 'a recovery code works once')
    const last = await step(enter, codes[1]!)
    enter.csrf = last.body.csrf_token
    const { body } = await enter.call(securityRoutes.state)
    assert.equal(body.second_factor.recovery_codes_left, 8)
    const [row] = (await enter.call(securityRoutes.signIns)).body.items
    assert.deepEqual([row.method, row.second_factor], ['password', 'recovery'])
  })

  it('limits wrong codes per account, and a new password ends the second step', async () => {
    const user = await service.account()
    const { secret, codes } = await enrolled(await signedIn(service, user))
    const enter = createBrowser(service)
    await enter.signIn(user.username)
    const replies = await Promise.all(Array.from({ length: 8 }, () => step(enter, '000000')))
    assert.equal(replies.filter(({ status }) => status === 400).length, 5)
    assert.equal(replies.filter(({ status }) => status === 429).length, 3)
    await enter.signIn(user.username)
    assert.equal((await step(enter, codeOf(secret))).status, 429, 'a right password resets nothing')
    assert.equal((await step(enter, codes[0]!)).status, 429)

    const other = await service.account()
    const second = await enrolled(await signedIn(service, other))
    const waiting = createBrowser(service)
    await waiting.signIn(other.username)
    await admin(
      service.storage.environment,
      'account',
      'set',
      other.username,
      '--password',
      'another horse 9',
    )
    assert.equal((await step(waiting, codeOf(second.secret))).body.error.code, 'unauthenticated')
  })

  it('disables it, and renews the recovery codes, only with a confirmation and a code', async () => {
    const user = await service.account()
    const own = await signedIn(service, user)
    const { secret, codes } = await enrolled(own)
    const stolen = createBrowser(service)
    await stolen.signIn(user.username)
    const entered = await step(stolen, codes[0]!)
    stolen.csrf = entered.body.csrf_token
    for (const route of [securityRoutes.disable, securityRoutes.renewCodes]) {
      const reply = await stolen.call(route, { sent: { code: codeOf(secret) } })
      assert.equal(reply.body.error.code, 'confirmation_required')
      assert.equal((await own.call(route, { sent: { code: '000000' } })).status, 400)
    }
    const renewed = await own.call(securityRoutes.renewCodes, { sent: { code: codes[1]! } })
    assert.equal(renewed.body.recovery_codes.length, 10)
    assert.equal(
      (await own.call(securityRoutes.disable, { sent: { code: codes[2]! } })).status,
      400,
      'replaced',
    )
    const disabled = await own.call(securityRoutes.disable, { sent: { code: codeOf(secret) } })
    assert.equal(disabled.status, 200)
    assert.equal((await stolen.call(sessionRoutes.me)).status, 401, 'other sessions end')
    assert.equal((await createBrowser(service).signIn(user.username)).status, 200)
  })

  it('is removed on the command line, with an audit entry', async () => {
    const user = await service.account()
    const own = await signedIn(service, user)
    await enrolled(own)
    const environment = service.storage.environment
    const set = (value: string) =>
      admin(environment, 'account', 'set', user.username, '--2fa', value, '--json')
    assert.equal((await set('on')).code, 1)
    assert.equal((await set('off')).code, 0)
    assert.equal((await own.call(sessionRoutes.me)).status, 401)
    assert.equal((await createBrowser(service).signIn(user.username)).status, 200)
    assert.match((await set('off')).stderr, /has no second factor/)
    assert.deepEqual(await audited('second_factor.disable', user.username), ['cli'])
  })

  it('needs a confirmation of at most five minutes for credentials and credits', async () => {
    const boss = await operator(service)
    const fresh = await signedIn(service, { username: boss.username })
    const user = await service.account()
    const owner = await signedIn(service, user)
    const parts = { id: user.id }
    const note = 'test'
    const calls = [
      [owner, keyRoutes.reset, {}],
      [owner, keyRoutes.clear, {}],
      [owner, securityRoutes.setMail, { address: 'a@example.com' }],
      [owner, securityRoutes.removeMail, {}],
      [fresh, operatorRoutes.resetPassword, { note }],
      [fresh, operatorRoutes.changeCredits, { api_type: 'sms', direction: 'grant', amount: 1, note }],
      [fresh, operatorRoutes.createAccount, { username: 'x1', credits: { sms: 1 }, note }],
      [fresh, operatorRoutes.makeRedeemBatch, { api_type: 'sms', amount: 1, count: 1, note }],
    ] as const
    for (const [who, route, sent] of calls) {
      const reply = await who.call(route, { parts, sent })
      assert.equal(reply.status, 403, route.path)
      assert.equal(reply.body.error.code, 'confirmation_required', route.path)
    }
    const wrong = await owner.call(securityRoutes.confirm, { sent: { password: 'not this one' } })
    assert.deepEqual(wrong.body.error.fields, { password: '密码错误' })
    assert.deepEqual((await owner.call(securityRoutes.confirm)).body.error.fields, { password: '请填写' })
    await owner.confirm()
    assert.equal((await owner.call(keyRoutes.reset)).status, 200)
    await service.installation.db.write((tx) =>
      tx.run('UPDATE console_session SET confirmed_at = confirmed_at - 300000 WHERE account_id = ?', [
        user.id,
      ]),
    )
    assert.equal((await owner.call(keyRoutes.reset)).body.error.code, 'confirmation_required')
  })

  it('verifies a mail address with a code, and tells the old address about a new one', async () => {
    const user = await service.account()
    const own = await signedIn(service, user)
    await own.confirm()
    const first = `${user.username}@example.com`
    const second = `${user.username}.2@example.com`
    const set = (address: string) => own.call(securityRoutes.setMail, { sent: { address } })
    const verify = (code: string) => own.call(securityRoutes.verifyMail, { sent: { code } })
    assert.equal((await set('no address')).status, 400)
    assert.equal((await set(first)).body.sent, true)
    const code = /验证码：(\d{6})/.exec((await mailbox.next(first)).text)![1]!
    assert.equal((await verify(code === '000000' ? '111111' : '000000')).status, 400)
    assert.equal((await own.call(securityRoutes.state)).body.mail.address, null)
    assert.equal((await verify(code)).status, 200)
    assert.equal((await verify(code)).status, 400, 'once')
    assert.equal((await own.call(securityRoutes.state)).body.mail.address, first)
    const rows = await service.installation.db.all('SELECT * FROM account_mail')
    assert.ok(!JSON.stringify(rows).includes(user.username), 'the address is encrypted')
    await set(second)
    await verify(/验证码：(\d{6})/.exec((await mailbox.next(second)).text)![1]!)
    assert.match((await mailbox.next(first)).text, /不再使用此邮箱/)
    for (let i = 0; i < 5; i++) await set(`${user.username}.${i}@example.com`)
    assert.equal((await set(first)).status, 429)
  })

  it('accepts a recovery code while the mail server is down', async () => {
    const box = await openMailbox()
    await using other = await startService(engine, box.environment)
    const user = await other.account()
    const own = await signedIn(other, user)
    const { codes } = await enrolled(own)
    const address = `${user.username}@example.com`
    await own.call(securityRoutes.setMail, { sent: { address } })
    const [, code] = /(\d{6})/.exec((await box.next(address)).text)!
    assert.equal((await own.call(securityRoutes.verifyMail, { sent: { code } })).status, 200)
    await box.close()
    const enter = createBrowser(other)
    await enter.signIn(user.username)
    assert.equal((await step(enter, codes[0]!)).status, 200)
  })

  const withMail = () => accountWithMail(service, mailbox)

  it('recovers a password once, ends all sessions, and still asks for the second factor', async () => {
    const { user, own, address } = await withMail()
    const { secret } = await enrolled(own)
    const visitor = createBrowser(service)
    const ask = (mail: string) =>
      visitor.call(sessionRoutes.requestRecovery, {
        sent: { mail },
        headers: { 'x-forwarded-for': '198.51.100.1' },
      })
    const unknown = await ask('nobody@example.com')
    const known = await ask(address.toLowerCase())
    assert.deepEqual([known.status, known.body], [unknown.status, unknown.body])
    const mail = await mailbox.next(address.toLowerCase())
    assert.match(mail.text, new RegExp(`^${user.username}$`, 'm'))
    const [, token] = /\/console\/recover#([\w-]{43})$/m.exec(mail.text)!
    assert.ok(
      !JSON.stringify(await service.installation.db.all('SELECT * FROM mail_token')).includes(token!),
      'only a hash is stored',
    )
    const finish = (newPassword: string) =>
      visitor.call(sessionRoutes.recover, { sent: { token: token!, new_password: newPassword } })
    assert.deepEqual(Object.keys((await finish('12345678')).body.error.fields), ['new_password'])
    const both = await Promise.all([finish('a new horse 1'), finish('a new horse 2')])
    assert.deepEqual(
      both.map(({ status }) => status).toSorted((one, other) => one - other),
      [200, 400],
    )
    assert.equal((await finish('a new horse 3')).status, 400)
    assert.equal((await own.call(sessionRoutes.me)).status, 401)
    assert.equal((await visitor.signIn(user.username)).body.error.code, 'wrong_credentials')
    const chosen = both[0].status === 200 ? 'a new horse 1' : 'a new horse 2'
    assert.equal((await visitor.signIn(user.username, chosen)).body.error.code, 'second_factor_required')
    assert.equal((await step(visitor, codeOf(secret))).status, 200)
    await ask(address)
    await ask(address)
    assert.equal((await ask(address)).status, 429, 'three mails per address')
    assert.equal(mailbox.count('nobody@example.com'), 0)
  })

  it('reports each use of a recovery code by mail', async () => {
    const { user, own, address } = await withMail()
    const { secret, codes } = await enrolled(own)
    const enter = createBrowser(service)
    await enter.signIn(user.username)
    assert.equal((await step(enter, codes[0]!)).status, 200)
    const first = (await mailbox.next(address)).text
    assert.match(first, new RegExp(`账户 ${user.username} 的一个恢复码已被使用：\\n.* 127\\.0\\.0\\.1 `))
    assert.match(first, /剩余 9 个恢复码[^]*Recovery codes left: 9/)
    assert.ok(!first.includes(codes[0]!))
    const sent = { code: codes[1]! }
    assert.equal((await own.call(securityRoutes.renewCodes, { sent })).status, 200)
    assert.match((await mailbox.next(address)).text, /恢复码已被使用/)
    await enter.signIn(user.username)
    assert.equal((await step(enter, codeOf(secret))).status, 200)
    assert.equal(mailbox.count(address), 0, 'codes of the app are not reported')
  })

  it('lists sign-ins with their place and reports those from a new device or place by mail', async () => {
    const { user, own, address } = await withMail()
    const sign = (from: string, agent: string) =>
      createBrowser(service).call(sessionRoutes.signIn, {
        sent: { username: user.username, password: testPassword },
        headers: { 'x-forwarded-for': from, 'user-agent': agent },
      })
    const chrome = 'Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36'
    await sign('203.0.113.7', chrome)
    assert.match((await mailbox.next(address)).text, /203\.0\.113\.7 {2}Chrome · Windows/)
    await sign('203.0.113.99', chrome.replace('140', '141'))
    const { items } = (await own.call(securityRoutes.signIns)).body
    assert.deepEqual(
      items.map((one: { device: string; network: string; is_new: boolean }) => [
        one.device,
        one.network,
        one.is_new,
      ]),
      [
        ['Chrome · Windows', '203.0.113.0/24', false],
        ['Chrome · Windows', '203.0.113.0/24', true],
        ['node', '127.0.0.0/24', false],
      ],
    )
    assert.equal(mailbox.count(address), 0, 'a known device in a known network')
    await sign('114.114.114.114', chrome)
    assert.match(
      (await mailbox.next(address)).text,
      /114\.114\.114\.114 {2}江苏 \/ Jiangsu {2}Chrome · Windows/,
    )
    await sign('180.101.49.11', chrome)
    await sign('8.8.8.8', chrome)
    assert.match((await mailbox.next(address)).text, /8\.8\.8\.8 {2}美国 \/ United States/)
    const listed = await own.call(securityRoutes.signIns, { headers: { 'accept-language': 'en' } })
    assert.deepEqual(
      listed.body.items.slice(0, 4).map((one: { place: string; is_new: boolean }) => [one.place, one.is_new]),
      [
        ['United States', true],
        ['Jiangsu', false],
        ['Jiangsu', true],
        ['', false],
      ],
    )
  })
})

onEachEngine('OPERATOR_2FA=required', (engine) => {
  it('lets operators do nothing before they enrol, and never disable it', async () => {
    await using service = await startService(engine, { OPERATOR_2FA: 'required' })
    const boss = await operator(service)
    const refused = await boss.call(operatorRoutes.accounts)
    assert.deepEqual([refused.status, refused.body.error.code], [403, 'enrolment_required'])
    const allowed: readonly unknown[] = [
      ...Object.values(sessionRoutes),
      ...Object.values(oidcRoutes),
      ...Object.values(securityRoutes),
    ]
    const others = [...accountApi, ...operatorApi].filter(({ route }) => !allowed.includes(route))
    assert.ok(others.length > 150)
    for (const { name, route } of others) {
      const reply = await boss.text(route, { parts: exampleParts })
      assert.match(reply.text, /"enrolment_required"/, `${name} ${reply.status}`)
    }
    assert.equal((await boss.call(sessionRoutes.me)).body.user.must_enrol, true)
    const viewed = { query: { view_as: (await service.account()).id } }
    for (const route of [sessionRoutes.me, securityRoutes.state]) {
      const reply = await boss.call(route, viewed)
      assert.deepEqual([reply.status, reply.body.error?.code], [403, 'enrolment_required'], route.path)
    }
    const { codes } = await enrolled(boss)
    assert.equal((await boss.call(securityRoutes.state, viewed)).status, 200)
    assert.equal((await boss.call(operatorRoutes.accounts)).status, 200)
    assert.equal((await boss.call(sessionRoutes.me)).body.user.must_enrol, false)
    const disable = await boss.call(securityRoutes.disable, { sent: { code: codes[0]! } })
    assert.equal(disable.body.error.code, 'forbidden')
    const holder = await signedIn(service, await service.account())
    assert.equal((await holder.call(keyRoutes.state)).status, 200, 'account holders are free')
    const off = await createBrowser(service).call(sessionRoutes.requestRecovery, {
      sent: { mail: 'a@example.com' },
    })
    assert.equal(off.status, 403, 'no recovery without MAIL_URL')
  })
})

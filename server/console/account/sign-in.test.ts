// Signing in and out, sessions, passwords, sign-up.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { after, before, it } from 'node:test'
import { sessionRoutes } from '../../../contract/console/session.ts'
import { createBrowser, signedIn, testPassword } from '../../../test/support/console.ts'
import { onEachEngine, uniqueName } from '../../../test/support/engines.ts'
import { startService, type TestService } from '../../../test/support/service.ts'
import { until } from '../../../test/support/until.ts'
import { absoluteMs, deleteExpiredSessions, idleMs } from '../../accounts/session-store.ts'

onEachEngine('signing in', (engine) => {
  let service: TestService

  before(
    async () => void (service = await startService(engine, { SIGN_UP: 'on', TRUSTED_PROXIES: '127.0.0.1' })),
  )
  after(() => service[Symbol.asyncDispose]())

  it('returns the signed-in user, and signs out on the server', async () => {
    const account = await service.account({ sms: 7 })
    const browser = createBrowser(service)
    assert.equal((await browser.call(sessionRoutes.start)).body.me, null)
    const reply = await browser.signIn(account.username)
    assert.equal(reply.status, 200)
    assert.equal(reply.body.account.username, account.username)
    assert.equal(reply.body.balances[1].remaining, 7)
    assert.equal((await browser.call(sessionRoutes.start)).body.me.csrf_token, browser.csrf)
    const cookie = browser.cookie
    assert.equal((await browser.call(sessionRoutes.signOut)).status, 200)
    assert.equal(browser.cookie, undefined)
    browser.cookie = cookie
    assert.equal((await browser.call(sessionRoutes.me)).status, 401, 'the old cookie is worth nothing')
  })

  it('sets an HttpOnly cookie and stores only its hash', async () => {
    const account = await service.account()
    const browser = createBrowser(service)
    const reply = await browser.signIn(account.username)
    const [set] = reply.headers.getSetCookie()
    assert.match(set ?? '', /^tg_session=[\w-]{43}; .*Path=\/; HttpOnly; SameSite=Lax$/)
    const rows = await service.installation.db.all<Record<string, unknown>>('SELECT * FROM console_session')
    assert.ok(!JSON.stringify(rows).includes(browser.cookie!.split('=')[1]!))
  })

  it('creates a new session at every sign-in and ends the previous one', async () => {
    const account = await service.account()
    const browser = await signedIn(service, account)
    const first = browser.cookie
    await browser.signIn(account.username)
    assert.notEqual(browser.cookie, first)
    const old = createBrowser(service)
    old.cookie = first
    assert.equal((await old.call(sessionRoutes.me)).status, 401)
  })

  it('accepts no session id chosen by the client', async () => {
    const account = await service.account()
    const browser = createBrowser(service)
    browser.cookie = `tg_session=${'a'.repeat(43)}`
    await browser.signIn(account.username)
    assert.ok(!browser.cookie.includes('aaaa'))
  })

  it('responds to an unknown user as to a wrong password', async () => {
    const account = await service.account()
    const wrong = await createBrowser(service).signIn(account.username, 'wrong password')
    const unknown = await createBrowser(service).signIn(uniqueName(), 'wrong password')
    for (const reply of [wrong, unknown]) {
      assert.equal(reply.status, 401)
      assert.equal(reply.headers.getSetCookie().length, 0)
      delete reply.body.error.request_id
    }
    assert.deepEqual(wrong.body, unknown.body)
  })

  it('names the fields that are missing', async () => {
    const reply = await createBrowser(service).call(sessionRoutes.signIn, { sent: { username: 12 } })
    assert.equal(reply.status, 400)
    assert.deepEqual(Object.keys(reply.body.error.fields), ['username', 'password'])
  })

  it('limits concurrent guesses for a name at an address, and nothing else', async () => {
    const account = await service.account()
    const other = await service.account()
    const guess = (headers = {}) =>
      createBrowser(service).call(sessionRoutes.signIn, {
        sent: { username: account.username, password: 'a wrong guess' },
        headers,
      })
    const replies = await Promise.all(Array.from({ length: 15 }, () => guess()))
    assert.equal(replies.filter((one) => one.status === 401).length, 10)
    assert.equal(replies.filter((one) => one.status === 429).length, 5)
    const limited = await createBrowser(service).signIn(account.username)
    assert.equal(limited.status, 429)
    assert.equal(limited.body.error.code, 'too_many')
    assert.ok(Number(limited.headers.get('retry-after')) > 0)
    assert.equal((await createBrowser(service).signIn(other.username)).status, 200)
    const right = { username: account.username, password: testPassword }
    const fromElsewhere = { 'x-forwarded-for': '198.51.100.7' }
    const owner = await createBrowser(service).call(sessionRoutes.signIn, {
      sent: right,
      headers: fromElsewhere,
    })
    assert.equal(owner.status, 200, 'the owner is not locked out')

    const spread = await Promise.all(
      Array.from({ length: 60 }, (_one, index) => guess({ 'x-forwarded-for': `198.51.100.${index + 10}` })),
    )
    assert.equal(spread.filter((one) => one.status === 429).length, 20, 'ten of the fifty were counted above')
  })

  it('lists the sessions and ends one, or all others', async () => {
    const account = await service.account()
    const [first, second, third] = [
      await signedIn(service, account),
      await signedIn(service, account),
      await signedIn(service, account),
    ]
    const { items } = (await first.call(sessionRoutes.sessions)).body
    assert.equal(items.length, 3)
    assert.deepEqual(
      items.map((one: { current: boolean }) => one.current),
      [false, false, true],
    )
    const ended = await first.call(sessionRoutes.endSession, { parts: { id: items[0].id } })
    assert.equal(ended.status, 200)
    assert.equal((await third.call(sessionRoutes.me)).status, 401)
    assert.equal((await first.call(sessionRoutes.endSession, { parts: { id: items[0].id } })).status, 404)
    assert.deepEqual((await first.call(sessionRoutes.endOtherSessions)).body, { ended: 1 })
    assert.equal((await second.call(sessionRoutes.me)).status, 401)
    assert.equal((await first.call(sessionRoutes.me)).status, 200)
  })

  it('164 keeps a hundred sessions and ten thousand sign-ins of an account', async () => {
    const account = await service.account()
    const [first, second] = [await signedIn(service, account), await signedIn(service, account)]
    await service.installation.db.write((tx) =>
      tx.run(
        `INSERT INTO console_session (token_hash, account_id, address, agent, created_at, seen_at)
         WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 98)
         SELECT 'copy ' || i, ${account.id}, '', '', ${tx.now}, ${tx.now} FROM n`,
      ),
    )
    await service.installation.db.write((tx) =>
      tx.run(
        `INSERT INTO sign_in (account_id, at, address, network, place, device, agent, method, second_factor, is_new)
         WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
         SELECT ${account.id}, ${tx.now}, '', '', '', '', '', 'password', 'none', 0 FROM n`,
      ),
    )
    assert.equal((await first.call(sessionRoutes.me)).status, 200)
    const newest = await signedIn(service, account)
    assert.equal((await first.call(sessionRoutes.me)).status, 401)
    assert.equal((await second.call(sessionRoutes.me)).status, 200)
    assert.equal((await newest.call(sessionRoutes.sessions)).body.items.length, 100)
    const signIns = await service.installation.db.one<{ count: number }>(
      'SELECT COUNT(*) AS count FROM sign_in WHERE account_id = ?',
      [account.id],
    )
    assert.equal(signIns?.count, 10_000)
  })

  it('ends no session of another account', async () => {
    const otherBrowser = await signedIn(service, await service.account())
    const mine = await signedIn(service, await service.account())
    const { items } = (await otherBrowser.call(sessionRoutes.sessions)).body
    assert.equal((await mine.call(sessionRoutes.endSession, { parts: { id: items[0].id } })).status, 404)
    assert.equal((await otherBrowser.call(sessionRoutes.me)).status, 200)
  })

  it('changes the password and ends the other sessions', async () => {
    const account = await service.account()
    const first = await signedIn(service, account)
    const second = await signedIn(service, account)
    const change = (current: string, next: string) =>
      first.call(sessionRoutes.changePassword, { sent: { current_password: current, new_password: next } })
    const wrong = await change('not my password', 'another horse 8')
    assert.deepEqual(wrong.body.error.fields, { current_password: '密码错误' })
    for (const bad of ['short', 'password123', account.username, '88888888']) {
      const refused = await change(testPassword, bad)
      assert.equal(refused.status, 400, bad)
      assert.ok(refused.body.error.fields.new_password, bad)
    }
    assert.equal((await second.call(sessionRoutes.me)).status, 200)
    assert.deepEqual((await change(testPassword, 'another horse 8')).body, { ended: 1 })
    assert.equal((await second.call(sessionRoutes.me)).status, 401)
    assert.equal((await first.call(sessionRoutes.me)).status, 200)
    assert.equal((await createBrowser(service).signIn(account.username)).status, 401)
    assert.equal((await createBrowser(service).signIn(account.username, 'another horse 8')).status, 200)
    const row = await service.installation.db.one<{ password_hash: string }>(
      'SELECT password_hash FROM account WHERE id = ?',
      [account.id],
    )
    assert.match(row?.password_hash ?? '', /^\$argon2id\$/)
  })

  it('ends sessions after the idle and the absolute timeout', async () => {
    const { db } = service.installation
    for (const [column, ms] of [
      ['seen_at', idleMs],
      ['created_at', absoluteMs],
    ] as const) {
      const account = await service.account()
      const browser = await signedIn(service, account)
      const age = (by: number) =>
        db.write((tx) =>
          tx.run(`UPDATE console_session SET ${column} = ${column} - ${by} WHERE account_id = ?`, [
            account.id,
          ]),
        )
      await age(ms - 60_000)
      assert.equal((await browser.call(sessionRoutes.me)).status, 200, column)
      await db.write((tx) =>
        tx.run('UPDATE console_session SET seen_at = seen_at - 1 WHERE account_id = ?', [account.id]),
      )
      await age(ms + 60_000)
      assert.equal((await browser.call(sessionRoutes.me)).status, 401, column)
      await deleteExpiredSessions(db)
      const left = await db.all('SELECT 1 FROM console_session WHERE account_id = ?', [account.id])
      assert.equal(left.length, 0)
    }
  })

  it('extends an active session', async () => {
    const { db } = service.installation
    const account = await service.account()
    const browser = await signedIn(service, account)
    await db.write((tx) =>
      tx.run('UPDATE console_session SET seen_at = seen_at - ? WHERE account_id = ?', [
        idleMs - 60_000,
        account.id,
      ]),
    )
    await browser.call(sessionRoutes.me)
    await until(async () => {
      const row = await db.one<{ idle: number }>(
        `SELECT ${db.now} - seen_at AS idle FROM console_session WHERE account_id = ?`,
        [account.id],
      )
      return (row?.idle ?? Infinity) < 60_000
    })
  })

  it('lets visitors sign up as plain accounts when sign-up is on', async () => {
    const browser = createBrowser(service)
    const username = uniqueName()
    const sent = {
      username,
      password: testPassword,
      role: 'operator',
      account_id: 1,
      remaining: 99,
      suspended: 0,
    }
    const reply = await browser.call(sessionRoutes.signUp, { sent })
    assert.equal(reply.status, 200)
    assert.equal(reply.body.account.role, 'account')
    assert.deepEqual(
      reply.body.balances.map((one: { remaining: number }) => one.remaining),
      [0, 0, 0, 0],
    )
    const taken = await createBrowser(service).call(sessionRoutes.signUp, { sent })
    assert.deepEqual(taken.body.error.fields, { username: '用户名已被使用' })
    const weak = await createBrowser(service).call(sessionRoutes.signUp, {
      sent: { username: uniqueName(), password: '12345678' },
    })
    assert.ok(weak.body.error.fields.password)
    const invalid = await createBrowser(service).call(sessionRoutes.signUp, {
      sent: { username: '<b>\u001b[31m', password: testPassword },
    })
    assert.ok(invalid.body.error.fields.username)
  })

  it('limits how many names that are taken a network may try to sign up with', async () => {
    const { username } = await service.account()
    const signUp = (name: string, from = '198.51.100.77') =>
      createBrowser(service).call(sessionRoutes.signUp, {
        sent: { username: name, password: testPassword },
        headers: { 'x-forwarded-for': from },
      })
    assert.equal((await signUp(uniqueName())).status, 200)
    for (let tried = 0; tried < 30; tried += 1) assert.equal((await signUp(username)).status, 400)
    assert.equal((await signUp(username)).status, 429)
    assert.equal((await signUp(uniqueName())).status, 429)
    assert.equal((await signUp(uniqueName(), '198.51.100.78')).status, 200)
  })

  it('returns the prices and limits in use', async () => {
    await using other = await startService(engine, { PRICES: 'sms_part=3', DOMAIN_MAX_URLS: '700' })
    const { body } = await createBrowser(other).call(sessionRoutes.start)
    assert.deepEqual([body.prices.sms_part, body.prices.generate, body.domain_max_urls], [3, 1, 700])
  })

  it('writes neither passwords nor tokens into the log', async () => {
    const account = await service.account()
    const browser = createBrowser(service)
    await browser.signIn(account.username, 'seeded-secret-guess')
    await browser.signIn(account.username)
    const log = service.logged.join('')
    assert.ok(!log.includes('seeded-secret-guess'))
    assert.ok(!log.includes(testPassword))
    assert.ok(!log.includes(browser.cookie!.split('=')[1]!))
    assert.ok(!log.includes(browser.csrf!))
  })
})

onEachEngine('behind TLS', (engine) => {
  it('sets a Secure cookie and HSTS, and keeps sign-up closed by default', async () => {
    const port = await freePort()
    await using service = await startService(engine, { PUBLIC_URL: 'https://sell.test', PORT: String(port) })
    const account = await service.account()
    const browser = createBrowser({ url: `http://127.0.0.1:${port}` })
    const direct = {
      headers: { origin: 'https://sell.test' },
      sent: { username: account.username, password: testPassword },
    }
    const reply = await browser.call(sessionRoutes.signIn, direct)
    assert.equal(reply.status, 200)
    assert.match(reply.headers.getSetCookie()[0] ?? '', /; Secure/)
    assert.match(reply.headers.get('strict-transport-security') ?? '', /max-age=\d+/)
    const closed = await browser.call(sessionRoutes.signUp, direct)
    assert.equal(closed.status, 403)
    assert.equal((await browser.call(sessionRoutes.start)).body.sign_up, false)
  })
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

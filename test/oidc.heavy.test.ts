// Single sign-on against a real OpenID provider on loopback: linking, signing in, confirming, and attacks on the way back.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { keyRoutes } from '../contract/console/key.ts'
import { oidcRoutes } from '../contract/console/oidc.ts'
import { securityRoutes } from '../contract/console/security.ts'
import { sessionRoutes } from '../contract/console/session.ts'
import { insertOidcLink } from '../server/accounts/oidc-store.ts'
import { decodeBase32, stepAt, totpCode } from '../server/accounts/totp.ts'
import { type Browser, createBrowser, signedIn } from './support/console.ts'
import { freshStorage, onEachEngine } from './support/engines.ts'
import { providerSettings, startProvider, type TestProvider } from './support/oidc-provider.ts'
import { admin, freePort, startService, type TestService } from './support/service.ts'

interface SignInFixture {
  readonly service: TestService
  readonly provider: TestProvider
}

async function open(engine: 'sqlite' | 'postgres', more: Readonly<Record<string, string>> = {}) {
  const port = await freePort()
  const provider = await startProvider(`http://127.0.0.1:${port}`)
  const service = await startService(engine, { ...provider.environment, PORT: String(port), ...more })
  return {
    service,
    provider,
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]()
      await provider.close()
    },
  }
}

/** Opens our callback as the browser does, and returns the page it leads to. */
async function comeBack(browser: Browser, url: string): Promise<URL> {
  const { cookie } = browser
  const response = await fetch(url, { redirect: 'manual', headers: cookie === undefined ? {} : { cookie } })
  assert.equal(response.status, 303)
  for (const set of response.headers.getSetCookie()) {
    const pair = set.split(';')[0]!
    const name = `${pair.split('=')[0]}=`
    const others = (browser.cookie?.split('; ') ?? []).filter((one) => !one.startsWith(name))
    browser.cookie = (set.includes('Max-Age=0') ? others : [...others, pair]).join('; ')
  }
  return new URL(response.headers.get('location')!)
}

async function enter({ service, provider }: SignInFixture, subject: string, next?: string) {
  const browser = createBrowser(service)
  const begun = await browser.call(oidcRoutes.signIn, { sent: next === undefined ? {} : { next } })
  const back = await provider.signIn(begun.body.url, subject)
  const page = await comeBack(browser, back)
  const me = await browser.call(sessionRoutes.me)
  if (me.status === 200) browser.csrf = me.body.csrf_token
  return { browser, back, page, me }
}

async function link({ provider }: SignInFixture, browser: Browser, subject: string): Promise<URL> {
  const begun = await browser.call(oidcRoutes.link)
  return comeBack(browser, await provider.signIn(begun.body.url, subject))
}

onEachEngine('single sign-on', (engine) => {
  it('links, signs in, confirms, and links by subject, never by mail', async () => {
    await using fixture = await open(engine)
    const { service, provider } = fixture
    const account = await service.account()
    const own = await signedIn(service, account)

    const unlinked = await enter(fixture, 'subject-1')
    assert.equal(unlinked.me.status, 401)
    assert.equal(unlinked.page.pathname, '/console/sign-in')
    assert.deepEqual(Object.fromEntries(unlinked.page.searchParams), {
      oidc: 'unlinked',
      subject: 'subject-1',
    })

    assert.equal((await own.call(oidcRoutes.link)).body.error.code, 'confirmation_required')
    await own.confirm()
    assert.equal((await link(fixture, own, 'subject-1')).href, `${service.url}/console/security?oidc=linked`)
    const other = await signedIn(service, await service.account())
    await other.confirm()
    assert.equal((await link(fixture, other, 'subject-1')).searchParams.get('oidc'), 'conflict')

    const entered = await enter(fixture, 'subject-1', '/credits?type=sms')
    assert.equal(entered.page.href, `${service.url}/console/credits?type=sms`)
    assert.equal(entered.me.body.user.username, account.username)
    assert.equal(entered.me.body.confirm_with, 'oidc')
    const { items } = (await entered.browser.call(securityRoutes.signIns)).body
    assert.equal(items[0].method, 'oidc')
    const elsewhere = await enter(fixture, 'subject-1', '//example.com/')
    assert.equal(elsewhere.page.href, `${service.url}/console/`, 'never leads to another site')
    assert.equal(
      (await enter(fixture, 'subject-2')).page.searchParams.get('oidc'),
      'unlinked',
      'same mail address',
    )

    // The callback again, without its cookie, with another state, and with a code that is not ours.
    const again = await comeBack(entered.browser, entered.back)
    assert.equal(again.searchParams.get('oidc'), 'expired')
    for (const change of ['state', 'code', 'iss']) {
      const browser = createBrowser(service)
      const { body } = await browser.call(oidcRoutes.signIn)
      const back = new URL(await provider.signIn(body.url, 'subject-1'))
      back.searchParams.set(change, 'forged')
      assert.equal((await comeBack(browser, back.href)).searchParams.get('oidc'), 'refused', change)
      assert.equal((await browser.call(sessionRoutes.me)).status, 401)
    }

    // A session without a password confirms at the provider, as the same user.
    const { browser } = entered
    assert.equal((await browser.call(keyRoutes.reset)).body.error.code, 'confirmation_required')
    const confirm = async (subject: string) => {
      const { body } = await browser.call(oidcRoutes.confirm, { sent: { next: '/keys' } })
      return comeBack(browser, await provider.signIn(body.url, subject))
    }
    assert.equal((await confirm('subject-9')).searchParams.get('oidc'), 'other')
    assert.equal((await browser.call(keyRoutes.reset)).body.error.code, 'confirmation_required')
    assert.equal((await confirm('subject-1')).pathname, '/console/keys')
    assert.equal((await browser.call(keyRoutes.reset)).status, 200)

    // The second factor of the account is asked for after the provider too.
    const { secret } = (await own.call(securityRoutes.enrol)).body
    const code = (ahead: number) => totpCode(decodeBase32(secret), stepAt(Date.now()) + ahead)
    await own.call(securityRoutes.enable, { sent: { code: code(0) } })
    const half = await enter(fixture, 'subject-1')
    assert.equal(half.page.searchParams.get('step'), 'code')
    assert.equal(half.me.status, 401)
    const whole = await half.browser.call(sessionRoutes.secondStep, { sent: { code: code(1) } })
    assert.equal(whole.status, 200)
    half.browser.csrf = whole.body.csrf_token

    const unlink = await own.call(oidcRoutes.unlink, { sent: { subject: 'subject-1' } })
    assert.equal(unlink.status, 200)
    assert.equal((await half.browser.call(sessionRoutes.me)).status, 401, 'its sessions end')
    assert.equal((await enter(fixture, 'subject-1')).page.searchParams.get('oidc'), 'unlinked')
    assert.ok(!service.logged.some((line) => line.includes('forged')), 'codes and states are not logged')
  })

  it('156 asks the provider about no more than 60 refused ways back of one network', async () => {
    await using fixture = await open(engine)
    const browser = createBrowser(fixture.service)
    const begun = await browser.call(oidcRoutes.signIn, { sent: {} })
    const state = new URL(begun.body.url as string).searchParams.get('state')!
    const { cookie } = browser
    const reasons: (string | null)[] = []
    for (let index = 0; index <= 60; index += 1) {
      browser.cookie = cookie
      const page = await comeBack(
        browser,
        `${fixture.service.url}/console/api/oidc/callback?code=x&state=${state}`,
      )
      reasons.push(page.searchParams.get('oidc'))
    }
    assert.deepEqual([...new Set(reasons.slice(0, 60))], ['refused'])
    assert.equal(reasons[60], 'too_many')
  })

  it('is the only way in with PASSWORD_LOGIN=off, besides the command line', async () => {
    const storage = await freshStorage(engine)
    const before = await startService(engine, {}, storage)
    const account = await before.account()
    const old = await signedIn(before, account)
    await before[Symbol.asyncDispose]()

    const port = await freePort()
    const provider = await startProvider(`http://127.0.0.1:${port}`)
    const environment = {
      ...provider.environment,
      PORT: String(port),
      PASSWORD_LOGIN: 'off',
      SIGN_UP: 'on',
      MAIL_URL: 'smtp://127.0.0.1:1',
      MAIL_FROM: 'a@example.com',
    }
    const service = await startService(engine, environment, storage)
    const fixture = { service, provider }
    const visitor = createBrowser(service)
    visitor.cookie = old.cookie
    assert.equal(
      (await visitor.call(sessionRoutes.me)).status,
      401,
      'sessions of passwords are no longer valid',
    )
    const { body } = await visitor.call(sessionRoutes.start)
    assert.deepEqual(
      [body.password_login, body.sign_up, body.recovery, body.oidc],
      [false, false, false, true],
    )
    assert.equal((await visitor.signIn(account.username)).status, 403)
    const sent = { username: 'newcomer', password: 'a long horse 41' }
    assert.equal((await visitor.call(sessionRoutes.signUp, { sent })).status, 403)
    const recovery = await visitor.call(sessionRoutes.requestRecovery, { sent: { mail: 'a@example.com' } })
    assert.equal(recovery.status, 403)

    const run = (...words: string[]) =>
      admin({ ...storage.environment, ...environment }, 'oidc', ...words, '--json')
    assert.equal((await run('link', account.username, 'subject-7')).code, 0)
    assert.equal((await run('link', account.username, 'subject-7')).code, 1, 'linked already')
    const listed = JSON.parse((await run('list', account.username)).stdout)
    assert.equal(listed.links[0].subject, 'subject-7')
    const entered = await enter(fixture, 'subject-7')
    assert.equal(entered.me.body.user.username, account.username)
    const change = { current_password: account.password, new_password: 'a long horse 42' }
    assert.equal((await entered.browser.call(sessionRoutes.changePassword, { sent: change })).status, 403)
    const reset = await entered.browser.call(keyRoutes.reset, { sent: { password: account.password } })
    assert.equal(reset.body.error.code, 'confirmation_required', 'the password confirms nothing')

    // A link of an earlier provider is no way in.
    await service.installation.db.write((tx) =>
      insertOidcLink(tx, {
        issuer: 'https://old.example/',
        subject: 'old',
        account_id: account.id,
        name: '',
      }),
    )
    const { url } = (await entered.browser.call(oidcRoutes.confirm)).body
    await comeBack(entered.browser, await provider.signIn(url, 'subject-7'))
    const unlink = (subject: string) => entered.browser.call(oidcRoutes.unlink, { sent: { subject } })
    assert.equal((await unlink('subject-7')).body.error?.message, '这是唯一的登录方式，不能解除')

    assert.equal((await run('unlink', account.username, 'subject-7')).code, 0)
    assert.equal((await entered.browser.call(sessionRoutes.me)).status, 401)
    await service[Symbol.asyncDispose]()
    await provider.close()
    await storage.remove()
  })
})

it('starts without the provider, says so at sign-in, and works as soon as the provider is back', async () => {
  const [port, providerPort] = [await freePort(), await freePort()]
  const issuer = `http://127.0.0.1:${providerPort}`
  await using service = await startService('sqlite', { ...providerSettings(issuer), PORT: String(port) })
  const down = await createBrowser(service).call(oidcRoutes.signIn)
  assert.deepEqual([down.status, down.body.error.code], [503, 'unavailable'])
  assert.equal(down.body.error.message, '统一登录服务暂时无法访问，请稍后再试')
  assert.equal((await createBrowser(service).signIn((await service.account()).username)).status, 200)
  const provider = await startProvider(`http://127.0.0.1:${port}`, providerPort)
  assert.equal((await createBrowser(service).call(oidcRoutes.signIn)).status, 200)
  await provider.close()
})

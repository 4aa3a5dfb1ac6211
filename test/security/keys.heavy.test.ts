// Guessing keys and passwords: cost of a guess, equal responses, and limits per network.
import assert from 'node:assert/strict'
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemActor } from '../../server/audit/audit.ts'
import { sessionRoutes } from '../../contract/console/session.ts'
import { sms } from '../../contract/sms.ts'
import { createAuthenticator } from '../../server/accounts/authenticate.ts'
import { loadKeySecret } from '../../server/accounts/key-secret-store.ts'
import { hashKey, generateApiKey } from '../../server/accounts/key.ts'
import { hashPassword } from '../../server/accounts/password.ts'
import { countPasswordHashes, inTurn } from '../../server/accounts/password-turns.ts'
import { createKeyLookup } from '../../server/accounts/store.ts'
import { clearKey } from '../../server/accounts/accounts.ts'
import { networkOf, siteOf } from '../../server/http/address.ts'
import { createCall } from '../../server/http/call.ts'
import { AppError } from '../../server/http/errors.ts'
import { createLocalLimits } from '../../server/limits/limits.ts'
import { createBrowser, testPassword } from '../support/console.ts'
import { onEachEngine, uniqueName } from '../support/engines.ts'
import { post, startService, type TestService } from '../support/service.ts'
import { until } from '../support/until.ts'

/** Creates a call with these parameters. */
function callWith(json: Record<string, unknown>, address = '203.0.113.1') {
  const raw = new IncomingMessage(new Socket())
  return createCall(sms, 'r', raw, address, { headers: {}, json }, 0)
}

/** Signs in with the right password through a trusted proxy. Returns the status. */
async function signInFrom(
  service: TestService,
  username: string,
  address: string,
  password = testPassword,
): Promise<number> {
  const reply = await createBrowser(service).call(sessionRoutes.signIn, {
    sent: { username, password },
    headers: { 'x-forwarded-for': address },
  })
  return reply.status
}

/** Keeps the queue of password hashes full with tasks of one share. */
function floodPasswords(share: string): () => Promise<unknown> {
  let isOpen = true
  const senders = Array.from({ length: 100 }, async () => {
    while (isOpen) {
      await hashPassword('a guess', share).catch(() => new Promise(setImmediate))
    }
  })
  return () => {
    isOpen = false
    return Promise.all(senders)
  }
}

onEachEngine('credentials', (engine) => {
  it('5 an unknown user, a wrong key and a cleared key cost one lookup and return the same error', async () => {
    await using service = await startService(engine)
    const { db } = service.installation
    const [holder, cleared] = [await service.account(), await service.account()]
    await clearKey(db, systemActor, cleared.id)
    let lookups = 0
    const find = createKeyLookup(db)
    const keySecret = await loadKeySecret(db)
    const authenticate = createAuthenticator({
      knownAccounts: undefined,
      keySecret,
      rateLimit: undefined,
      limits: createLocalLimits(),
      findByKey(hash) {
        lookups += 1
        return find(hash)
      },
    })
    const attempts = [
      { username: 'nobody', api_key: generateApiKey(keySecret) },
      { username: holder.username, api_key: generateApiKey(keySecret) },
      { username: 'nobody', api_key: holder.key },
      { username: cleared.username, api_key: cleared.key },
    ]
    const errors = new Set<string>()
    for (const credentials of attempts) {
      lookups = 0
      const call = callWith({ ...credentials, action: 'get_credits' })
      await assert.rejects(authenticate(call, sms.common), (error) => {
        assert.ok(error instanceof AppError)
        errors.add(`${error.code} ${error.status} ${error.text.zh}`)
        return true
      })
      assert.equal(lookups, 1, JSON.stringify(credentials))
      assert.equal(call.trace.accountId, undefined)
    }
    assert.equal(errors.size, 1)
    assert.notEqual(hashKey(holder.key), hashKey(cleared.key))
  })
})

describe('guesses', () => {
  it('5 rejecting an unknown user takes as long as rejecting a wrong password', async () => {
    await using service = await startService('sqlite', { TRUSTED_PROXIES: '127.0.0.0/8' })
    const known = (await service.account()).username
    for (const [index, username] of [known, uniqueName()].entries()) {
      const before = countPasswordHashes()
      const reply = await createBrowser(service).call(sessionRoutes.signIn, {
        sent: { username, password: 'not the password' },
        headers: { 'x-forwarded-for': `198.51.100.${index}` },
      })
      assert.equal(reply.status, 401)
      // Nearly all the time of a sign-in is this hash.
      assert.equal(countPasswordHashes() - before, 1, username)
    }
  })

  it('6 malformed keys cost no lookup', async () => {
    let lookups = 0
    const keySecret = 'a secret of the installation'
    const authenticate = createAuthenticator({
      knownAccounts: undefined,
      keySecret,
      rateLimit: undefined,
      limits: createLocalLimits(),
      async findByKey() {
        lookups += 1
        return undefined
      },
    })
    const valid = generateApiKey(keySecret)
    const malformed = [
      'x',
      'tg_',
      `tg_${'a'.repeat(49)}`,
      valid.slice(0, -1),
      `${valid}0`,
      valid.toLowerCase(),
      `tg_${'漢'.repeat(49)}`,
      generateApiKey('the secret of another installation'),
    ]
    for (const api_key of malformed) {
      await assert.rejects(authenticate(callWith({ username: 'u', api_key, action: 'a' }), sms.common))
    }
    assert.equal(lookups, 0)
  })

  it('40 keys that imitate old ones cost no lookup once their network is blocked, and issued keys still work', async () => {
    let lookups = 0
    const keySecret = 'a secret of the installation'
    const authenticate = createAuthenticator({
      knownAccounts: undefined,
      keySecret,
      rateLimit: undefined,
      limits: createLocalLimits(),
      async findByKey() {
        lookups += 1
        return undefined
      },
    })
    // The checksum of keys from before 0.2.0 has no secret, so anybody can compute it.
    const api_key = 'tg_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG32L9Jw'
    const attempt = (key: string) =>
      assert.rejects(authenticate(callWith({ username: 'u', api_key: key, action: 'a' }), sms.common))
    for (let i = 0; i < 200; i += 1) await attempt(api_key)
    assert.equal(lookups, 60)
    await attempt(generateApiKey(keySecret))
    assert.equal(lookups, 61)
  })

  it('6 counts wrong keys from one IPv6 network together', async () => {
    await using service = await startService('sqlite', { TRUSTED_PROXIES: '127.0.0.0/8' })
    const countRejected = async (addressOf: (index: number) => string) => {
      const responses = await Promise.all(
        Array.from({ length: 70 }, (_, index) =>
          post(
            `${service.url}${sms.path}`,
            { username: 'x', api_key: 'y', action: 'z' },
            { 'x-forwarded-for': addressOf(index) },
          ),
        ),
      )
      return responses.filter(({ status }) => status === 429).length
    }
    assert.equal(await countRejected((index) => `2001:db8:1:2:${index.toString(16)}::${index}`), 10)
    assert.equal(await countRejected((index) => `2001:db8:2:${index.toString(16)}::1`), 0)
  })

  it('9 limits guesses from different addresses of one IPv6 network', async () => {
    await using service = await startService('sqlite', { TRUSTED_PROXIES: '127.0.0.0/8' })
    const { username } = await service.account()
    const attempt = (index: number, password: string, prefix = '2001:db8:9:9') =>
      createBrowser(service).call(sessionRoutes.signIn, {
        sent: { username, password },
        headers: { 'x-forwarded-for': `${prefix}::${index.toString(16)}` },
      })
    for (let index = 1; index <= 10; index += 1) assert.equal((await attempt(index, 'wrong')).status, 401)
    assert.equal((await attempt(99, testPassword)).status, 429)
    assert.equal((await attempt(1, testPassword, '2001:db8:9:a')).status, 200)
  })

  it('35 limits guesses from many networks of one IPv6 /48, and none from elsewhere', async () => {
    await using service = await startService('sqlite', { TRUSTED_PROXIES: '127.0.0.0/8' })
    const { username } = await service.account()
    const attempt = (name: string, password: string, address: string) =>
      createBrowser(service).call(sessionRoutes.signIn, {
        sent: { username: name, password },
        headers: { 'x-forwarded-for': address, 'accept-language': 'en' },
      })
    const statuses: number[] = []
    for (let start = 0; start < 250; start += 50) {
      const replies = await Promise.all(
        Array.from({ length: 50 }, (_, index) =>
          attempt(uniqueName(), 'wrong', `2001:db8:48:${(start + index).toString(16)}::1`),
        ),
      )
      statuses.push(...replies.map(({ status }) => status))
    }
    assert.equal(statuses.filter((status) => status === 401).length, 240)
    const limited = await attempt(username, testPassword, '2001:db8:48:ffff::1')
    assert.equal(limited.status, 429)
    assert.ok(Number(limited.headers.get('retry-after')) > 0)
    assert.match(limited.body.error.message, /^Too many attempts/)
    assert.equal((await attempt(username, testPassword, '2001:db8:49:1::1')).status, 200)
  })

  it('35 a password that does not fit into the queue is refused with 429 in the language of the user', async () => {
    await using service = await startService('sqlite', { TRUSTED_PROXIES: '127.0.0.0/8' })
    const { username } = await service.account()
    const endFlood = floodPasswords('2001:db8:48::/48')
    const attempt = (name: string, address: string, language: string) =>
      createBrowser(service).call(sessionRoutes.signIn, {
        sent: { username: name, password: testPassword },
        headers: { 'x-forwarded-for': address, 'accept-language': language },
      })
    /** The queue has room for a moment whenever a hash ends. */
    const refused = async (language: string) => {
      for (let network = 1; ; network += 1) {
        const reply = await attempt(uniqueName(), `2001:db8:48:${network.toString(16)}::1`, language)
        if (reply.status !== 401) return reply
      }
    }
    const english = await refused('en')
    assert.deepEqual([english.status, english.headers.get('retry-after')], [429, '2'])
    assert.equal(english.body.error.message, 'Too many sign-ins at the moment, try again in 2 s')
    assert.equal((await refused('zh')).body.error.message, '登录请求过多，请 2 秒后再试')
    assert.equal((await attempt(username, '203.0.113.9', 'zh')).status, 200, 'from elsewhere')
    await endFlood()
  })

  it('35 guesses from hundreds of networks keep out nobody who signed in from there before or who did not guess', async () => {
    await using service = await startService('sqlite', { TRUSTED_PROXIES: '127.0.0.0/8' })
    const { username } = await service.account()
    const signIn = (address: string) => signInFrom(service, username, address)
    assert.equal(await signIn('203.0.113.9'), 200)
    let isOpen = true
    const answered = new Set<string>()
    const senders = Array.from({ length: 200 }, async (_, index) => {
      const share = `198.51.100.${index}`
      while (isOpen) {
        await hashPassword('a guess', share).catch(() => undefined)
        answered.add(share)
        await new Promise(setImmediate)
      }
    })
    try {
      for (let time = 1; time <= 10; time += 1) {
        assert.equal(await signIn('203.0.113.9'), 200, `known network, time ${time}`)
      }
      await until(() => answered.size === senders.length, 60_000)
      assert.equal(await signIn('192.0.2.50'), 200, 'network without guesses')
    } finally {
      isOpen = false
      await Promise.all(senders)
    }
  })

  it('35 guesses from ever new networks keep out nobody who comes back after a refusal or mistyped the password', async () => {
    await using service = await startService('sqlite', { TRUSTED_PROXIES: '127.0.0.0/8' })
    const { username } = await service.account()
    const signIn = (address: string, password?: string) => signInFrom(service, username, address, password)
    let isOpen = true
    const senders = Array.from({ length: 150 }, async (_, sender) => {
      for (let time = 0; isOpen; time += 1) {
        // Only the queue must be full.
        await inTurn(`guesser ${sender} ${time}`, () => sleep(20)).catch(() => sleep(20))
      }
    })
    try {
      let network = 0
      // The queue has room for a moment whenever a hash ends.
      while ((await signIn(`192.0.2.${network}`)) !== 429) network += 1
      assert.equal(await signIn(`192.0.2.${network}`), 200)
      let mistyped = 429
      while (mistyped === 429) mistyped = await signIn('198.18.0.1', 'wrong')
      assert.equal(mistyped, 401)
      assert.equal(await signIn('198.18.0.1'), 200)
    } finally {
      isOpen = false
      await Promise.all(senders)
    }
  })

  it('35 guesses at one name lock out its owner only in networks where they never signed in', async () => {
    await using service = await startService('sqlite', { TRUSTED_PROXIES: '127.0.0.0/8' })
    const { username } = await service.account()
    const attempt = async (password: string, address: string) => {
      const reply = await createBrowser(service).call(sessionRoutes.signIn, {
        sent: { username, password },
        headers: { 'x-forwarded-for': address },
      })
      return reply.status
    }
    assert.equal(await attempt(testPassword, '203.0.113.9'), 200)
    const guesses = Array.from({ length: 60 }, (_, index) => attempt('wrong', `198.51.100.${index}`))
    assert.equal((await Promise.all(guesses)).filter((status) => status === 401).length, 50)
    assert.equal(await attempt(testPassword, '192.0.2.50'), 429)
    assert.equal(await attempt(testPassword, '203.0.113.9'), 200)
  })

  it('6 a network is the first half of an IPv6 address in any notation', () => {
    const network = '2001:db8:0:1::/64'
    for (const address of [
      '2001:db8:0:1::',
      '2001:DB8:0:1:ffff::1',
      '2001:0db8:0000:0001:0:0:0:1',
      '2001:db8:0:1::1.2.3.4',
    ]) {
      assert.equal(networkOf(address), network, address)
    }
    assert.equal(siteOf('2001:db8::1'), '2001:db8:0::/48')
    assert.equal(siteOf('192.0.2.7'), '192.0.2.7')
    assert.equal(networkOf('::1'), '0:0:0:0::/64')
    assert.equal(networkOf('fe80::1'), 'fe80:0:0:0::/64')
    assert.equal(networkOf('192.0.2.7'), '192.0.2.7')
    assert.equal(networkOf(''), '')
  })
})

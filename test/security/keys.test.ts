// Guessing keys and passwords: what a guess costs us, what it tells the guesser, whom a limit counts.
import assert from 'node:assert/strict'
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { describe, it } from 'node:test'
import { systemActor } from '../../server/audit/audit.ts'
import { sessionRoutes } from '../../contract/console/session.ts'
import { sms } from '../../contract/sms.ts'
import { createAuthenticator } from '../../server/accounts/authenticate.ts'
import { hashKey, generateApiKey } from '../../server/accounts/key.ts'
import { createKeyLookup } from '../../server/accounts/store.ts'
import { clearKey } from '../../server/accounts/accounts.ts'
import { networkOf } from '../../server/http/address.ts'
import { createCall } from '../../server/http/call.ts'
import { AppError } from '../../server/http/errors.ts'
import { createLocalLimits } from '../../server/limits/limits.ts'
import { openBrowser, testPassword } from '../support/console.ts'
import { onEachEngine, uniqueName } from '../support/engines.ts'
import { post, startService } from '../support/service.ts'

/** A call that carries these parameters, as the endpoint would make it. */
function callWith(json: Record<string, unknown>, address = '203.0.113.1') {
  const raw = new IncomingMessage(new Socket())
  return createCall(sms, 'r', raw, address, { headers: {}, json }, 0)
}

onEachEngine('credentials', (engine) => {
  it('5 unknown user, wrong key and cleared key: one look-up each and the same words', async () => {
    await using service = await startService(engine)
    const { db } = service.installation
    const [holder, cleared] = [await service.account(), await service.account()]
    await clearKey(db, systemActor, cleared.id)
    let lookups = 0
    const find = createKeyLookup(db)
    const authenticate = createAuthenticator({
      rateLimit: undefined,
      limits: createLocalLimits(),
      findByKey(hash) {
        lookups += 1
        return find(hash)
      },
    })
    const tries = [
      { username: 'nobody', api_key: generateApiKey() },
      { username: holder.username, api_key: generateApiKey() },
      { username: 'nobody', api_key: holder.key },
      { username: cleared.username, api_key: cleared.key },
    ]
    const words = new Set<string>()
    for (const one of tries) {
      lookups = 0
      const call = callWith({ ...one, action: 'get_credits' })
      await assert.rejects(authenticate(call, sms.common), (error) => {
        assert.ok(error instanceof AppError)
        words.add(`${error.code} ${error.status} ${error.text.zh}`)
        return true
      })
      assert.equal(lookups, 1, JSON.stringify(one))
      assert.equal(call.trace.accountId, undefined)
    }
    assert.equal(words.size, 1)
    assert.notEqual(hashKey(holder.key), hashKey(cleared.key))
  })
})

describe('guesses', () => {
  it('5 an unknown user takes as long to be refused as a wrong password', async () => {
    await using service = await startService('sqlite', { TRUSTED_PROXIES: '127.0.0.0/8' })
    const known = (await service.account()).username
    const spent = { known: 0, unknown: 0 }
    for (let round = 0; round < 3; round += 1) {
      for (const [kind, username] of [
        ['known', known],
        ['unknown', uniqueName()],
      ] as const) {
        const browser = openBrowser(service)
        const startedAt = performance.now()
        const reply = await browser.call(sessionRoutes.signIn, {
          sent: { username, password: 'not the password' },
          // Each from elsewhere: who guesses often is made to wait, which is not what is compared here.
          headers: { 'x-forwarded-for': `198.51.100.${round * 2 + (kind === 'known' ? 0 : 1)}` },
        })
        spent[kind] += performance.now() - startedAt
        assert.equal(reply.status, 401)
      }
    }
    // Without the work of a hash it would be a twentieth.
    assert.ok(spent.unknown > spent.known / 5, JSON.stringify(spent))
  })

  it('6 invented keys cost no look-up at all', async () => {
    let lookups = 0
    const authenticate = createAuthenticator({
      rateLimit: undefined,
      limits: createLocalLimits(),
      async findByKey() {
        lookups += 1
        return undefined
      },
    })
    const good = generateApiKey()
    const invented = [
      'x',
      'tg_',
      `tg_${'a'.repeat(49)}`,
      good.slice(0, -1),
      `${good}0`,
      good.toLowerCase(),
      `tg_${'漢'.repeat(49)}`,
    ]
    for (const api_key of invented) {
      await assert.rejects(authenticate(callWith({ username: 'u', api_key, action: 'a' }), sms.common))
    }
    assert.equal(lookups, 0)
  })

  it('6 a flood from all over one IPv6 network is one flood', async () => {
    await using service = await startService('sqlite', { TRUSTED_PROXIES: '127.0.0.0/8' })
    const flood = async (addressOf: (index: number) => string) => {
      const answers = await Promise.all(
        Array.from({ length: 70 }, (_, index) =>
          post(
            `${service.url}${sms.path}`,
            { username: 'x', api_key: 'y', action: 'z' },
            { 'x-forwarded-for': addressOf(index) },
          ),
        ),
      )
      return answers.filter(({ status }) => status === 429).length
    }
    assert.equal(await flood((index) => `2001:db8:1:2:${index.toString(16)}::${index}`), 10)
    assert.equal(await flood((index) => `2001:db8:2:${index.toString(16)}::1`), 0)
  })

  it('9 a guesser who moves about in one IPv6 network is met by the limit', async () => {
    await using service = await startService('sqlite', { TRUSTED_PROXIES: '127.0.0.0/8' })
    const { username } = await service.account()
    const tryOnce = (index: number, password: string, prefix = '2001:db8:9:9') =>
      openBrowser(service).call(sessionRoutes.signIn, {
        sent: { username, password },
        headers: { 'x-forwarded-for': `${prefix}::${index.toString(16)}` },
      })
    for (let index = 1; index <= 10; index += 1) assert.equal((await tryOnce(index, 'wrong')).status, 401)
    assert.equal((await tryOnce(99, testPassword)).status, 429)
    assert.equal((await tryOnce(1, testPassword, '2001:db8:9:a')).status, 200)
  })

  it('6 a network is the first half of an address, however it is written', () => {
    const network = '2001:db8:0:1::/64'
    for (const address of [
      '2001:db8:0:1::',
      '2001:DB8:0:1:ffff::1',
      '2001:0db8:0000:0001:0:0:0:1',
      '2001:db8:0:1::1.2.3.4',
    ]) {
      assert.equal(networkOf(address), network, address)
    }
    assert.equal(networkOf('::1'), '0:0:0:0::/64')
    assert.equal(networkOf('fe80::1'), 'fe80:0:0:0::/64')
    assert.equal(networkOf('192.0.2.7'), '192.0.2.7')
    assert.equal(networkOf(''), '')
  })
})

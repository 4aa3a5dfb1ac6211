// Limits of API keys, caps and price plans over HTTP, changed by the command line and effective with the next call.
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import type { ApiType } from '../../contract/credits.ts'
import { domainCheck } from '../../contract/domain-check.ts'
import type { Endpoint } from '../../contract/endpoint.ts'
import { identity } from '../../contract/identity.ts'
import { includesScope, type Scope } from '../../contract/scopes.ts'
import { shortlink } from '../../contract/shortlink.ts'
import { sms } from '../../contract/sms.ts'
import { onEachEngine } from '../../test/support/engines.ts'
import { admin, startService, type TestAccount, type TestService } from '../../test/support/service.ts'

interface Reply {
  readonly status: number
  readonly limit: string | null
  readonly body: {
    readonly code?: number
    readonly message?: string
    readonly data?: Record<string, unknown>
  }
}

/** A call of each operation that would succeed. */
const calls: Readonly<Record<string, { endpoint: Endpoint; scope: Scope; sent: Record<string, unknown> }>> = {
  generate: {
    endpoint: shortlink,
    scope: 'short_link:write',
    sent: { action: 'generate', target_url: 'https://example.com/', title: 't' },
  },
  templates: { endpoint: sms, scope: 'sms:read', sent: { action: 'get_templates' } },
  credits: { endpoint: sms, scope: 'sms:read', sent: { action: 'check_credits', api_type: 'short_link' } },
  records: { endpoint: sms, scope: 'sms:read', sent: { action: 'get_logs', phone_number: '13800138000' } },
  verify: {
    endpoint: identity,
    scope: 'id_verification:write',
    sent: { name: '张三', idcard: '11010519491231002X' },
  },
  check: { endpoint: domainCheck, scope: 'domain_check:write', sent: { urls: ['example.com'] } },
}

onEachEngine('key limits', (engine) => {
  let service: TestService

  before(
    async () =>
      void (service = await startService(engine, { TRUSTED_PROXIES: '127.0.0.1', RATE_LIMIT: '1000,1000' })),
  )
  after(() => service[Symbol.asyncDispose]())

  const set = async (account: TestAccount, ...flags: string[]) => {
    const done = await admin(
      service.storage.environment,
      'account',
      'set',
      account.username,
      ...flags,
      '--json',
    )
    assert.equal(done.code, 0, done.stderr)
    return JSON.parse(done.stdout) as Record<string, unknown>
  }
  const send = async (
    endpoint: Endpoint,
    sent: Record<string, unknown>,
    headers: Record<string, string> = {},
  ): Promise<Reply> => {
    const response = await fetch(`${service.url}${endpoint.path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(sent),
    })
    return {
      status: response.status,
      limit: response.headers.get('ratelimit'),
      body: (await response.json()) as Reply['body'],
    }
  }
  const call = (account: TestAccount, name: string, headers: Record<string, string> = {}) => {
    const { endpoint, sent } = calls[name]!
    return send(endpoint, { ...sent, username: account.username, api_key: account.key }, headers)
  }
  const remaining = async (account: TestAccount, type: ApiType) =>
    (await service.app.services.credits.balance(account.id, type)).remaining
  const all = { short_link: 100, sms: 100, id_verification: 100, domain_check: 100 }
  const forbidden = (reply: Reply, name: string) => {
    const isShortlink = calls[name]!.endpoint === shortlink
    assert.equal(reply.status, 403, name)
    assert.equal(reply.body.code, isShortlink ? undefined : 1004, name)
    return reply.body.message
  }

  it('the key of Authorization: Bearer counts when no other carrier has one', async () => {
    const account = await service.account({ id_verification: 5 })
    const { sent } = calls['verify']!
    const withHeader = (authorization: string, more: Record<string, unknown> = {}) =>
      send(identity, { ...sent, ...more }, { authorization })
    assert.equal((await withHeader(`Bearer ${account.key}`)).status, 200)
    assert.equal((await withHeader(`Bearer ${account.key}`, { api_key: '' })).status, 200)
    const without = await send(identity, sent)
    for (const header of ['Bearer', `Basic ${account.key}`, `Bearer ${account.key} x`, account.key]) {
      assert.deepEqual(await withHeader(header), without, header)
    }
    assert.deepEqual([without.status, without.body.code], [401, 1001])
    assert.equal((await withHeader('Bearer wrong', { api_key: account.key })).status, 200)
    assert.equal((await withHeader(`Bearer ${account.key}`, { api_key: 'wrong' })).body.code, 1003)
    assert.equal((await withHeader('Bearer wrong')).body.code, 1003)
    assert.equal(await remaining(account, 'id_verification'), 2)
  })

  it('70 a key does only what its scopes allow, from the next call on', async () => {
    const account = await service.account(all)
    for (const granted of [
      'sms:read',
      'sms:write',
      'short_link:read',
      'id_verification:write,domain_check:write',
    ]) {
      await set(account, '--scopes', granted)
      for (const [name, { scope }] of Object.entries(calls)) {
        const reply = await call(account, name)
        if (includesScope(granted.split(','), scope)) assert.equal(reply.status, 200, `${granted} ${name}`)
        else assert.equal(forbidden(reply, name), '无权执行此操作', `${granted} ${name}`)
      }
    }
    const english = await call(account, 'generate', { 'accept-language': 'en' })
    assert.equal(english.body.message, 'No permission for this operation')
    const unknown = await send(sms, { action: 'nothing', username: account.username, api_key: account.key })
    assert.deepEqual([unknown.status, unknown.body.message], [400, '无效的操作类型'])
    await set(account, '--scopes', 'all')
    assert.equal((await call(account, 'generate')).status, 200)
    assert.equal(await remaining(account, 'short_link'), 99)
  })

  it('70 a key works only from allowed addresses; wrong keys get the same answer from everywhere', async () => {
    const account = await service.account(all)
    const other = await service.account()
    const shown = await set(account, '--allow-ips', '203.0.113.0/24,2001:db8::/32')
    assert.deepEqual(shown['allow_ips'], ['203.0.113.0/24', '2001:db8::/32'])
    const from = (address: string) => ({ 'x-forwarded-for': address })
    for (const name of Object.keys(calls)) {
      assert.equal(
        forbidden(await call(account, name, from('198.51.100.1')), name),
        '来源地址不在允许范围',
        name,
      )
    }
    assert.equal((await call(account, 'generate')).status, 403)
    assert.equal((await call(account, 'generate', from('203.0.113.9'))).status, 200)
    assert.equal((await call(account, 'generate', from('2001:db8:5::1'))).status, 200)
    // A hop that the caller invented does not count.
    assert.equal((await call(account, 'generate', from('203.0.113.9, 198.51.100.1'))).status, 403)
    const wrong = { ...calls['templates']!.sent, api_key: other.key }
    const named = await send(sms, { ...wrong, username: account.username }, from('198.51.100.1'))
    const unlimited = await send(sms, { ...wrong, username: 'nobody' }, from('198.51.100.1'))
    assert.deepEqual(named, unlimited)
    assert.equal(named.body.code, 1003)
    await set(account, '--allow-ips', 'any')
    assert.equal((await call(account, 'generate')).status, 200)
  })

  it('70 refused calls use nothing of the rate limit', async () => {
    const account = await service.account(all)
    await set(account, '--scopes', 'sms:read')
    assert.equal((await call(account, 'generate')).limit, null)
    assert.match((await call(account, 'templates')).limit ?? '', /r=999/)
  })

  it('70 a charge that was checked before a change is checked again in its transaction', async () => {
    const account = await service.account(all)
    const { credits } = service.app.services
    const request = {
      accountId: account.id,
      apiType: 'sms',
      action: 'test',
      cost: 1,
      requestId: 'r',
    } as const
    const keyLimits = { scopes: null, allow_ips: null }
    assert.equal((await credits.charge({ ...request, keyLimits })).kind, 'charged')
    await set(account, '--scopes', 'sms:read')
    assert.equal((await credits.charge({ ...request, keyLimits })).kind, 'key_limits_changed')
    assert.equal((await credits.charge(request)).kind, 'charged', 'calls from the console have no key')
  })

  it('71 caps end like too few credits, in the shape of each endpoint', async () => {
    const account = await service.account(all)
    await call(account, 'generate')
    const shown = await set(
      account,
      '--daily-cap',
      'short_link=2,id_verification=0',
      '--monthly-cap',
      'domain_check=1',
    )
    assert.deepEqual(shown['daily_cap'], { short_link: 2, id_verification: 0 })
    assert.deepEqual(shown['monthly_cap'], { domain_check: 1 })
    assert.equal((await call(account, 'generate')).status, 200, 'what was used before the cap counts')
    const capped = await call(account, 'generate')
    assert.deepEqual([capped.status, capped.body.message], [400, '超过每日用量上限'])
    const verified = await call(account, 'verify')
    assert.deepEqual(
      [verified.status, verified.body.code, verified.body.message],
      [403, 1004, '超过每日用量上限'],
    )
    assert.equal((await call(account, 'check')).status, 200)
    const checked = await call(account, 'check')
    assert.deepEqual(
      [checked.status, checked.body.code, checked.body.message],
      [403, 1004, '超过每月用量上限'],
    )
    await set(account, '--daily-cap', 'none', '--monthly-cap', 'none')
    assert.equal((await call(account, 'generate')).status, 200)
    assert.equal(await remaining(account, 'short_link'), 97)
  })

  it('71 100 charges at the same time against a daily cap of 10 give exactly 10', async () => {
    const account = await service.account(all)
    await set(account, '--daily-cap', 'sms=10')
    const { credits } = service.app.services
    const request = {
      accountId: account.id,
      apiType: 'sms',
      action: 'test',
      cost: 1,
      requestId: 'r',
    } as const
    const results = await Promise.all(Array.from({ length: 100 }, () => credits.charge(request)))
    assert.equal(results.filter(({ kind }) => kind === 'charged').length, 10)
    assert.equal(results.filter(({ kind }) => kind === 'capped').length, 90)
    assert.equal(await remaining(account, 'sms'), 90)
  })

  it('71 refunds give back to the day and month of their charge only', async () => {
    const account = await service.account(all)
    const { credits } = service.app.services
    const { db } = service.installation
    const request = {
      accountId: account.id,
      apiType: 'sms',
      action: 'test',
      requestId: 'r',
      leaseMs: 60_000,
    } as const
    const charge = async (cost: number) => {
      const result = await credits.charge({ ...request, cost })
      assert.equal(result.kind, 'charged')
      return result.kind === 'charged' ? result.operationId : 0
    }
    const refund = (operationId: number) =>
      credits.end({ accountId: account.id, operationId, end: { state: 'refunded' } })
    const usage = () =>
      db.one<{ day: number; month: number }>(
        `SELECT used_on_day AS day, used_in_month AS month FROM credit WHERE account_id = ? AND api_type = 'sms'`,
        [account.id],
      )
    const age = (operationId: number, days: number) =>
      db.write((tx) =>
        tx.run(`UPDATE operation SET created_at = created_at - ${days * 86_400_000} WHERE id = ?`, [
          operationId,
        ]),
      )
    const [today, yesterday, lastMonth] = [await charge(3), await charge(5), await charge(7)]
    await age(yesterday, 1)
    await age(lastMonth, 40)
    await db.write((tx) =>
      tx.run(
        `UPDATE credit SET used_on_day = 3, used_in_month = 8 WHERE account_id = ? AND api_type = 'sms'`,
        [account.id],
      ),
    )
    await Promise.all([refund(lastMonth), refund(yesterday), refund(today)])
    const isFirstDay = new Date(Date.now() + 8 * 3_600_000).getUTCDate() === 1
    assert.deepEqual({ ...(await usage()) }, { day: 0, month: isFirstDay ? 5 : 0 })
    // A new day starts from zero, within a cap that yesterday's usage has reached.
    await charge(4)
    await db.write((tx) =>
      tx.run(
        `UPDATE credit SET usage_day = '2020-01-31', daily_cap = 4, monthly_cap = 4 WHERE account_id = ?`,
        [account.id],
      ),
    )
    await charge(4)
    assert.equal((await credits.charge({ ...request, cost: 1 })).kind, 'capped')
    assert.deepEqual({ ...(await usage()) }, { day: 4, month: 4 })
    assert.equal(await remaining(account, 'sms'), 92)
  })

  it('72 an account pays its own prices, and refunds give back what was charged', async () => {
    const account = await service.account(all)
    const shown = await set(account, '--prices', 'generate=3,domain=2,identity=0')
    assert.deepEqual(shown['prices'], { generate: 3, domain: 2, identity: 0 })
    assert.equal((await call(account, 'generate')).status, 200)
    assert.equal((await call(account, 'verify')).status, 200)
    const checked = await send(domainCheck, {
      username: account.username,
      api_key: account.key,
      urls: ['example.com', 'failed.test', 'not a domain'],
    })
    assert.equal(checked.status, 200)
    const { db } = service.installation
    const rows = await db.all<{ action: string; cost: number; given_back: number }>(
      'SELECT action, cost, given_back FROM operation WHERE account_id = ? ORDER BY id',
      [account.id],
    )
    assert.deepEqual(
      rows.map(({ action, cost }) => [action, cost]),
      [
        ['shortlink.generate', 3],
        ['identity.verify', 0],
        ['domain.check', 6],
      ],
    )
    const failed = (checked.body.data!['results'] as string[]).filter((one) => one === '请求失败').length
    assert.equal(rows[2]!.given_back, failed * 2)
    await set(account, '--prices', 'default')
    assert.equal((await call(account, 'generate')).status, 200)
    assert.equal(await remaining(account, 'short_link'), 96)
    const check = await admin(service.storage.environment, 'ledger', 'check', '--json')
    assert.equal(check.code, 0, check.stdout)
  })

  it('names all problems of account set in one line and changes nothing', async () => {
    const account = await service.account()
    const flags = [
      '--scopes',
      'gold',
      '--allow-ips',
      '300.0.0.1',
      '--daily-cap',
      'sms=x',
      '--prices',
      'generate=-1',
    ]
    const more = ['--sms', 'maybe', '--expires', 'soon']
    const result = await admin(
      service.storage.environment,
      'account',
      'set',
      account.username,
      ...flags,
      ...more,
    )
    assert.equal(result.code, 1)
    assert.equal(result.stderr.trim().split('\n').length, 1)
    for (const part of ['gold', '300.0.0.1', 'daily_cap', 'prices', '--sms', 'expires_on']) {
      assert.ok(result.stderr.includes(part), part)
    }
    const shown = await admin(service.storage.environment, 'account', 'show', account.username, '--json')
    const { scopes: shownScopes, allow_ips: ips, daily_cap: cap, prices } = JSON.parse(shown.stdout)
    assert.deepEqual([shownScopes, ips, cap, prices], ['all', 'any', 'none', 'default'])
  })
})

// The short link endpoint on both engines.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { systemActor } from '../audit/audit.ts'
import { onEachEngine } from '../../test/support/engines.ts'
import {
  post,
  type Reply,
  startService,
  type TestAccount,
  type TestService,
} from '../../test/support/service.ts'
import { changeAccount, requireAccount } from '../accounts/accounts.ts'
import { checkLedger } from '../credits/ledger/check-store.ts'
import { loadCodes } from './codes/store.ts'

const target = 'https://example.com/landing'

onEachEngine('short link endpoint', (engine) => {
  let service: TestService
  let account: TestAccount

  before(async () => {
    service = await startService(engine)
    account = await service.account({ short_link: 1_000 })
  })
  after(async () => {
    const report = await checkLedger(service.installation.db, 0)
    await service[Symbol.asyncDispose]()
    assert.equal(report.ok, true)
  })

  const call = (
    body: unknown,
    headers: Record<string, string> = {},
    who: TestAccount = account,
  ): Promise<Reply> =>
    post(
      `${service.url}/api/shortlink_api.php`,
      { username: who.username, api_key: who.key, ...(body as object) },
      headers,
    )
  const generate = (more: object = {}, headers?: Record<string, string>, who?: TestAccount) =>
    call({ action: 'generate', target_url: target, title: '标题', ...more }, headers, who)
  const remaining = async (who: TestAccount) =>
    (await service.app.services.credits.balance(who.id, 'short_link')).remaining
  const countLinks = async (who: TestAccount) => {
    const row = await service.installation.db.one<{ count: number }>(
      'SELECT COUNT(*) AS count FROM link WHERE account_id = ?',
      [who.id],
    )
    return row?.count
  }
  const refused = (reply: Reply, status: number, message: string | RegExp) => {
    assert.equal(reply.status, status)
    assert.deepEqual(Object.keys(reply.body), ['success', 'message'])
    assert.equal(reply.body.success, false)
    if (typeof message === 'string') assert.equal(reply.body.message, message)
    else assert.match(reply.body.message, message)
  }

  test('generate returns every documented field, and link_id', async () => {
    const had = await remaining(account)
    const { status, body } = await generate()
    assert.equal(status, 200)
    assert.deepEqual(Object.keys(body), ['success', 'data'])
    const { link_id: id, short_code: code, a_url: a, b_url: b, remaining_balance: left } = body.data
    assert.equal(Object.keys(body.data).length, 5)
    assert.ok(Number.isInteger(id))
    assert.match(code, /^[2-9A-HJ-NP-Za-km-z]{7}$/)
    assert.equal(a, `${service.url}/${code}`)
    assert.equal(b, `${service.url}/b/${code}`)
    assert.equal(left, had - 1)
    assert.equal(await remaining(account), had - 1)
  })

  test('get returns the whole record, by code and by id', async () => {
    const made = (await generate({ redirect_type: 'page', redirect_url_a: 'https://example.com/甲' })).body
      .data
    for (const by of [
      { short_code: made.short_code },
      { link_id: made.link_id },
      { short_code: made.short_code, link_id: made.link_id },
    ]) {
      const { status, body } = await call({ action: 'get', ...by })
      assert.equal(status, 200)
      const { created_at: createdAt, ...data } = body.data
      assert.match(createdAt, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
      assert.deepEqual(
        { ...body, data },
        {
          success: true,
          status: 'success',
          data: {
            link_id: made.link_id,
            short_code: made.short_code,
            a_url: made.a_url,
            b_url: made.b_url,
            target_url: target,
            title: '标题',
            redirect_type: 'page',
            redirect_url_a: 'https://example.com/甲',
            clicks: 0,
            bot_clicks: 0,
            preview_clicks: 0,
            state: 'active',
            expires_at: '',
            expired_url: '',
            max_clicks: null,
            remaining_clicks: null,
            has_password: false,
            tags: [],
            external_id: '',
            domain: '',
            rules: [],
          },
        },
      )
    }
    const plain = (await generate()).body.data
    assert.equal((await call({ action: 'get', link_id: plain.link_id })).body.data.redirect_url_a, '')
    assert.equal((await call({ action: 'get', link_id: plain.link_id })).body.data.redirect_type, 'direct')
  })

  test('update changes target and title, is free, and keeps an omitted title', async () => {
    const { link_id: id } = (await generate()).body.data
    const had = await remaining(account)
    const changed = await call({
      action: 'update',
      link_id: String(id),
      target_url: 'https://example.com/2',
      title: '新',
    })
    assert.deepEqual(changed.body, { success: true, data: { link_id: id, message: '短链接已更新' } })
    await call({ action: 'update', link_id: id, target_url: 'https://example.com/3', title: '  ' })
    const { data } = (await call({ action: 'get', link_id: id })).body
    assert.deepEqual([data.target_url, data.title], ['https://example.com/3', '新'])
    assert.equal(await remaining(account), had)
  })

  test('execute_update returns new addresses for one credit', async () => {
    const made = (await generate()).body.data
    const { status, body } = await call({ action: 'execute_update', link_id: made.link_id })
    assert.equal(status, 200)
    assert.equal(body.data.link_id, made.link_id)
    assert.match(body.data.new_a_url, /^http:\/\/127\.0\.0\.1:\d+\/[2-9A-Za-z]{7}$/)
    assert.match(body.data.new_b_url, /\/b\/[2-9A-Za-z]{7}$/)
    assert.notEqual(body.data.new_a_url, made.a_url)
    assert.equal(body.data.remaining_balance, made.remaining_balance - 1)
    assert.equal(body.data.message, '访问地址已刷新')
    refused(await call({ action: 'get', short_code: made.short_code }), 400, '链接不存在或无权修改')
    assert.equal((await call({ action: 'get', link_id: made.link_id })).body.data.a_url, body.data.new_a_url)
  })

  test('each operation has its message for missing parameters', async () => {
    const url = `${service.url}/api/shortlink_api.php`
    refused(await post(url, {}), 400, '缺少必要参数：username 缺失；api_key 缺失；action 缺失')
    refused(await call({ action: ' ' }), 400, '缺少必要参数：action 缺失')
    refused(await call({ action: 'generate' }), 400, '生成短链接缺少必要参数：target_url、title')
    refused(
      await call({ action: 'generate', target_url: target, title: '' }),
      400,
      '生成短链接缺少必要参数：title',
    )
    refused(await call({ action: 'update' }), 400, '更新短链接缺少必要参数：link_id、target_url')
    refused(
      await call({ action: 'update', link_id: 'x' }),
      400,
      '更新短链接缺少必要参数：target_url；link_id 必须是整数',
    )
    refused(await call({ action: 'execute_update' }), 400, '执行更新缺少必要参数：link_id')
    refused(await call({ action: 'get' }), 400, '查询短链接缺少必要参数：short_code、link_id')
    const english = { 'accept-language': 'en-US,en;q=0.9' }
    refused(
      await call({ action: 'generate' }, english),
      400,
      'generate is missing required parameters: target_url, title',
    )
  })

  test('rejects unknown actions, methods and credentials', async () => {
    refused(await call({ action: 'remove' }), 400, '无效的操作类型')
    const wrong = await call({ action: 'generate' }, {}, { ...account, username: 'nobody' })
    refused(wrong, 401, '认证失败，用户名或 API 密钥错误')
    assert.ok(wrong.headers.get('www-authenticate'))
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const reply = await fetch(`${service.url}/api/shortlink_api.php?action=generate`, { method })
      assert.equal(reply.status, 405)
      assert.equal(reply.headers.get('allow'), 'POST')
      assert.deepEqual(await reply.json(), { success: false, message: '只支持 POST 请求' })
    }
  })

  test('reads headers and query, but no form', async () => {
    const form = new URLSearchParams({
      username: account.username,
      api_key: account.key,
      action: 'generate',
      target_url: target,
      title: 't',
    })
    const reply = await fetch(`${service.url}/api/shortlink_api.php`, { method: 'POST', body: form })
    assert.equal(reply.status, 400)
    assert.match(((await reply.json()) as { message: string }).message, /^缺少必要参数：/)
    const query = new URLSearchParams({ action: 'generate', target_url: target, title: 't' })
    const mixed = await fetch(`${service.url}/api/shortlink_api.php?${query.toString()}`, {
      method: 'POST',
      headers: { username: account.username, 'api-key': account.key },
    })
    assert.equal(mixed.status, 200)
  })

  test('rejects invalid values with all their names, and changes nothing', async () => {
    const made = (await generate()).body.data
    const had = await remaining(account)
    const links = await countLinks(account)
    for (const url of [
      'javascript:alert(1)',
      'data:text/html,x',
      'https://example.com/\r\nSet-Cookie: a=b',
      'https://user:pw@example.com/',
      `https://example.com/${'x'.repeat(3_000)}`,
      `${service.url}/abcdefg`,
    ]) {
      refused(await generate({ target_url: url }), 400, /^target_url /)
      refused(await generate({ redirect_url_a: url }), 400, /^redirect_url_a /)
      refused(await call({ action: 'update', link_id: made.link_id, target_url: url }), 400, /^target_url /)
      refused(
        await call({ action: 'update', link_id: made.link_id, target_url: target, redirect_url_a: url }),
        400,
        /^redirect_url_a /,
      )
    }
    refused(await generate({ redirect_type: 'meta' }), 400, 'redirect_type 只能是 direct、permanent 或 page')
    refused(await generate({ title: '长'.repeat(201) }), 400, 'title 最多 200 个字符')
    refused(
      await call({ action: 'update', link_id: made.link_id, target_url: target, title: 'x'.repeat(201) }),
      400,
      /^title /,
    )
    refused(
      await generate({ target_url: 'x', redirect_type: 'x', redirect_url_a: 'x', title: 'x'.repeat(201) }),
      400,
      /^target_url .+；redirect_url_a .+；title .+；redirect_type /,
    )
    refused(
      await generate({ title: '', target_url: 'x', redirect_type: 'x' }),
      400,
      /^生成短链接缺少必要参数：title；target_url .+；redirect_type /,
    )
    refused(
      await call({ action: 'update', link_id: 'x', target_url: 'x', title: 'x'.repeat(201) }),
      400,
      /^link_id 必须是整数；target_url .+；title /,
    )
    assert.equal(await remaining(account), had)
    assert.equal(await countLinks(account), links)
    const { data } = (await call({ action: 'get', link_id: made.link_id })).body
    assert.deepEqual([data.target_url, data.title], [target, '标题'])
  })

  test("returns the same error for unknown ids and another account's links", async () => {
    const stranger = await service.account({ short_link: 10 })
    const theirs = (await generate({}, {}, stranger)).body.data
    for (const id of [theirs.link_id, 0, -1, 999_999_999, Number.MAX_SAFE_INTEGER]) {
      refused(await call({ action: 'update', link_id: id, target_url: target }), 400, '链接不存在或无权修改')
      refused(await call({ action: 'execute_update', link_id: id }), 400, '链接不存在或无权修改')
      refused(await call({ action: 'get', link_id: id }), 400, '链接不存在或无权修改')
    }
    refused(await call({ action: 'get', short_code: theirs.short_code }), 400, '链接不存在或无权修改')
    refused(await call({ action: 'get', short_code: "' OR 1=1" }), 400, '链接不存在或无权修改')
    for (const id of ['abc', 1.5, '1.5', 1e300, true, [], {}, '9'.repeat(30)])
      refused(await call({ action: 'execute_update', link_id: id }), 400, 'link_id 必须是整数')
    assert.equal(await remaining(stranger), 9)
  })

  test('creates and refreshes nothing without credits', async () => {
    const poor = await service.account({ short_link: 1 })
    const made = (await generate({}, {}, poor)).body.data
    assert.equal(made.remaining_balance, 0)
    refused(await generate({}, {}, poor), 400, '生成次数不足')
    refused(
      await call({ action: 'execute_update', link_id: made.link_id }, {}, poor),
      400,
      '余额不足，无法执行更新',
    )
    assert.equal(await countLinks(poor), 1)
    assert.equal(
      (await call({ action: 'get', link_id: made.link_id }, {}, poor)).body.data.short_code,
      made.short_code,
    )
    // The link is looked at before the credits are.
    refused(
      await call({ action: 'execute_update', link_id: 999_999_999 }, {}, poor),
      400,
      '链接不存在或无权修改',
    )
  })

  test('creates exactly 10 links with 10 credits and 100 concurrent calls', async () => {
    const poor = await service.account({ short_link: 10 })
    const replies = await Promise.all(Array.from({ length: 100 }, () => generate({}, {}, poor)))
    assert.equal(replies.filter(({ status }) => status === 200).length, 10)
    assert.equal(await countLinks(poor), 10)
    assert.equal(await remaining(poor), 0)
    assert.deepEqual(
      replies.flatMap(({ body }) => body.data?.remaining_balance ?? []).toSorted((x, y) => x - y),
      [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    )
  })

  test('replays the response for an Idempotency-Key and charges once', async () => {
    const had = await remaining(account)
    const key = { 'idempotency-key': 'one' }
    const replies = await Promise.all(Array.from({ length: 8 }, () => generate({}, key)))
    const again = await generate({}, key)
    assert.equal(again.headers.get('idempotent-replayed'), 'true')
    for (const reply of replies) assert.deepEqual(reply.body, again.body)
    assert.equal(await remaining(account), had - 1)
    refused(await generate({ title: 'another' }, key), 422, /Idempotency-Key/)

    const refresh = () =>
      call({ action: 'execute_update', link_id: again.body.data.link_id }, { 'idempotency-key': 'two' })
    const first = await refresh()
    assert.deepEqual((await refresh()).body, first.body)
    assert.equal(await remaining(account), had - 2)
  })

  test('concurrent refreshes of one link each retire one code', async () => {
    const rich = await service.account({ short_link: 11 })
    const made = (await generate({}, {}, rich)).body.data
    const replies = await Promise.all(
      Array.from({ length: 10 }, () => call({ action: 'execute_update', link_id: made.link_id }, {}, rich)),
    )
    assert.ok(replies.every(({ status }) => status === 200))
    assert.equal(new Set(replies.map(({ body }) => body.data.new_a_url)).size, 10)
    const { db } = service.installation
    const rows = await db.all<{ position: number }>(
      'SELECT position FROM link_code WHERE link_id = ? AND retired_at IS NULL',
      [made.link_id],
    )
    assert.equal(rows.length, 1)
    assert.equal(
      (await call({ action: 'get', link_id: made.link_id }, {}, rich)).body.data.short_code,
      (await loadCodes(db)).codeAt(rows[0]!.position),
    )
  })

  test('updates at the same time with an external_id: different ones succeed, of equal ones one', async () => {
    const who = await service.account({ short_link: 8 })
    const made = await Promise.all(Array.from({ length: 8 }, () => generate({}, {}, who)))
    const update = (idOf: (index: number) => string) =>
      Promise.all(
        made.map(({ body }, index) => {
          const { link_id } = body.data
          const change = { action: 'update', link_id, target_url: target, external_id: idOf(index) }
          return call(change, {}, who)
        }),
      )
    const different = await update((index) => `order-${index}`)
    assert.deepEqual(
      different.map(({ status }) => status),
      Array(8).fill(200),
    )
    const equal = (await update(() => 'same')).toSorted((a, b) => a.status - b.status)
    assert.equal(equal.shift()?.status, 200)
    for (const reply of equal) refused(reply, 400, 'external_id 已被使用')
  })

  test('an expired account can only read, a suspended one can do nothing', async () => {
    const { db } = service.installation
    const old = await service.account({ short_link: 10 })
    const made = (await generate({}, {}, old)).body.data
    await changeAccount(db, systemActor, await requireAccount(db, old.username), { expires: '2020-01-01' })
    const update = { action: 'update', link_id: made.link_id, target_url: target }
    refused(await generate({}, {}, old), 400, '账户已过期')
    refused(await call(update, {}, old), 400, '账户已过期')
    refused(await call({ action: 'execute_update', link_id: made.link_id }, {}, old), 400, '账户已过期')
    assert.equal((await call({ action: 'get', link_id: made.link_id }, {}, old)).status, 200)
    // Parameters are looked at before the account's state.
    refused(await generate({ title: '' }, {}, old), 400, '生成短链接缺少必要参数：title')

    await changeAccount(db, systemActor, await requireAccount(db, old.username), {
      expires: 'never',
      suspended: true,
    })
    for (const body of [
      { action: 'get', link_id: made.link_id },
      update,
      { action: 'generate', target_url: target, title: 't' },
    ])
      refused(await call(body, {}, old), 403, '账户已停用')
    assert.equal(await remaining(old), 9)
  })
})

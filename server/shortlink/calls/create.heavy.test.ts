// New links: all problems of a batch in one error, and replays of calls whose values are no longer right.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { formatTime } from '../../../contract/time.ts'
import { onEachEngine } from '../../../test/support/engines.ts'
import { post, startService, type TestAccount, type TestService } from '../../../test/support/service.ts'
import { until } from '../../../test/support/until.ts'

onEachEngine('new links', (engine) => {
  let service: TestService
  let account: TestAccount

  before(async () => {
    service = await startService(engine)
    account = await service.account({ short_link: 100 })
  })
  after(() => service[Symbol.asyncDispose]())

  const call = (body: object, headers: Record<string, string> = {}) =>
    post(
      `${service.url}/api/shortlink_api.php`,
      { username: account.username, api_key: account.key, ...body },
      headers,
    )
  const link = { target_url: 'https://example.com/', title: 't' }

  test('a batch names wrong values and conflicts of all links in one error', async () => {
    const taken = `taken-${engine}`
    assert.equal((await call({ action: 'generate', ...link, short_code: taken })).status, 200)
    const links = [
      { ...link, target_url: 'x' },
      { ...link, short_code: taken },
      { ...link, short_code: '-' },
      { title: 'no target', external_id: 'a' },
      { ...link, external_id: 'a' },
    ]
    const reply = await call({ action: 'generate_batch', links })
    assert.deepEqual(
      [reply.status, reply.body.message],
      [
        400,
        '批量生成短链接缺少必要参数：links[3].target_url；links[0].target_url 必须是 http:// 或 https:// 开头的完整网址；' +
          'links[2].short_code 必须是 3 至 32 个字母、数字、_ 或 -，首尾为字母或数字；' +
          'links[1].short_code 短码已被占用；links[4].external_id 已被使用',
      ],
    )
  })

  for (const [action, bodyOf] of [
    ['generate', (one: object) => one],
    ['generate_batch', (one: object) => ({ links: [one] })],
  ] as const) {
    test(`${action} is answered again after its expires_at has passed`, async () => {
      const expiresAt = formatTime(Date.now() + 2_000)
      const body = { action, ...bodyOf({ ...link, expires_at: expiresAt }) }
      const other = { action, ...bodyOf({ ...link, title: 'other', expires_at: expiresAt }) }
      const key = { 'idempotency-key': `expiry-${action}` }
      const first = await call(body, key)
      assert.equal(first.status, 200, JSON.stringify(first.body))
      await until(() => formatTime(Date.now()) > expiresAt)
      const again = await call(body, key)
      assert.deepEqual([again.status, again.body], [200, first.body])
      assert.equal(again.headers.get('idempotent-replayed'), 'true')
      assert.equal((await call(body)).status, 400)
      assert.equal((await call(other, key)).status, 400)
    })
  }
})

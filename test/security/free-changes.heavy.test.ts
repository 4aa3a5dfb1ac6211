// Free operations that change something: an account that is suspended, expires or gets a new key during the call changes nothing.
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { shortlink } from '../../contract/shortlink.ts'
import { formatTime } from '../../contract/time.ts'
import { hashKey } from '../../server/accounts/key.ts'
import type { Database } from '../../server/db/database.ts'
import { onEachEngine } from '../support/engines.ts'
import { post } from '../support/service.ts'
import { phone, type SmsService, startSmsService } from '../support/sms.ts'

onEachEngine('free changes', (engine) => {
  let service: SmsService
  let other: Database

  before(async () => {
    service = await startSmsService(engine, {}, { sms: 20, short_link: 20 })
    other = service.service.storage.open()
  })
  after(async () => {
    await other.close()
    await service[Symbol.asyncDispose]()
  })

  const link = (values: Record<string, unknown>) => {
    const { username, key } = service.account
    return post(`${service.service.url}${shortlink.path}`, { username, api_key: key, ...values })
  }

  /** Makes the calls while the account is being changed: they are authenticated before the commit and change something after it. */
  async function duringChange(set: string, calls: readonly (() => ReturnType<typeof post>)[]) {
    const { promise, resolve } = Promise.withResolvers<void>()
    const change = Promise.withResolvers<void>()
    const written = other.write(async (tx) => {
      await tx.run(`UPDATE account SET ${set} WHERE id = ?`, [service.account.id])
      change.resolve()
      await promise
    })
    await change.promise
    const replies = calls.map((call) => call())
    // Later calls are refused by the authentication, so too short a time never fails a right service.
    await Promise.race([Promise.all(replies), sleep(300)])
    resolve()
    await written
    const ended = await Promise.all(replies)
    await other.write((tx) =>
      tx.run(
        'UPDATE account SET suspended = 0, expires_on = NULL, scopes = NULL, key_hash = ? WHERE id = ?',
        [hashKey(service.account.key), service.account.id],
      ),
    )
    return ended.map(({ status, body }) => [status, body.message ?? body.error_message])
  }

  it('change nothing after a suspension, an expiry or a new key that was committed first', async () => {
    const made = await link({ action: 'generate', target_url: 'https://example.com/1', title: 't' })
    const { link_id } = made.body.data
    const batch = await service.call({
      action: 'send_batch',
      template_code: 'CODE',
      phone_numbers: [phone],
      template_params: { code: '1' },
      send_at: formatTime(Date.now() + 86_400_000),
    })
    const { batch_id } = batch.body.data
    const changes = [
      () => link({ action: 'update', link_id, target_url: 'https://example.com/2' }),
      () => link({ action: 'update', link_id, target_url: 'https://example.com/2', tags: ['a'] }),
      () => link({ action: 'pause', link_id }),
      () => link({ action: 'resume', link_id }),
      () => link({ action: 'delete', link_id }),
    ]
    const messages = [
      () => service.call({ action: 'check_code', phone_number: phone, code: '123456' }),
      () => service.call({ action: 'cancel_batch', batch_id }),
    ]
    const suspended = await duringChange('suspended = 1', [...changes, ...messages])
    for (const reply of suspended) assert.deepEqual(reply, [403, '账户已停用'])
    const expired = await duringChange("expires_on = '2020-01-01'", [...changes, ...messages])
    assert.deepEqual(expired, [
      ...changes.map(() => [400, '账户已过期']),
      ...messages.map(() => [403, '账户已过期']),
    ])
    const scoped = await duringChange("scopes = 'short_link:read'", [...changes, ...messages])
    for (const reply of scoped) assert.deepEqual(reply, [403, '无权执行此操作'])
    const reset = await duringChange("key_hash = 'another'", [...changes, ...messages])
    for (const reply of reset) assert.deepEqual(reply, [401, '认证失败，用户名或 API 密钥错误'])
    assert.equal((await other.one<{ n: number }>('SELECT count(*) AS n FROM sms_queue'))?.n, 1)
    const row = await other.one<{ target_url: string; paused: number }>(
      'SELECT target_url, paused FROM link WHERE id = ?',
      [link_id],
    )
    assert.deepEqual(row, { target_url: 'https://example.com/1', paused: 0 })
  })
})

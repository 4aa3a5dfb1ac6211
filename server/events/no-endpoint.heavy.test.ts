// A paid call of an account without a webhook endpoint writes nothing about events.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import pg from 'pg'
import { shortlink } from '../../contract/shortlink.ts'
import { identity } from '../../contract/identity.ts'
import { post, startService, type TestAccount } from '../../test/support/service.ts'
import { systemActor } from '../audit/audit.ts'
import { createEventRules } from './delivery.ts'

it('paid calls without an endpoint run no statement that writes events, and with one only when there is an event', async (context) => {
  await using service = await startService('postgres', { WEBHOOK_ALLOW_PRIVATE: 'on' })
  const { db, secretKey } = service.installation
  // 19 of 20 credits are left after the first call, 0 of 1 after the only one.
  const [without, withEndpoint] = [
    await service.account({ short_link: 20, id_verification: 1 }),
    await service.account({ short_link: 20, id_verification: 1 }),
  ]
  const rules = createEventRules({
    db,
    secretKey,
    config: { WEBHOOK_ALLOW_PRIVATE: 'on', MAIL_URL: undefined, MAIL_FROM: undefined },
    publicUrl: () => service.url,
  })
  // No server answers there; only what is written counts.
  await rules.webhooks.add(systemActor, withEndpoint.id, { url: 'http://127.0.0.1:9/', events: [] })
  await rules.close()

  const texts: string[] = []
  const { query } = pg.Client.prototype
  context.mock.method(pg.Client.prototype, 'query', function (this: pg.Client, ...args: unknown[]) {
    const [first] = args
    texts.push(typeof first === 'string' ? first : String((first as { text?: string } | undefined)?.text))
    return Reflect.apply(query, this, args) as unknown
  })
  /** The statements of the call that write an event of the account. Jobs of the service read at any time, so only inserts count. */
  async function insertsOf(call: () => ReturnType<typeof post>): Promise<number> {
    texts.length = 0
    const reply = await call()
    assert.equal(reply.status, 200, JSON.stringify(reply.body))
    return texts.filter((text) => /INSERT INTO event\b/.test(text)).length
  }
  const generate = ({ username, key }: TestAccount) =>
    post(service.url + shortlink.path, {
      username,
      api_key: key,
      action: 'generate',
      target_url: 'https://example.com/',
      title: 't',
    })
  const verify = ({ key }: TestAccount) =>
    post(service.url + identity.path, { name: '张三', idcard: '11010519491231002X' }, { api_key: key })

  assert.equal(await insertsOf(() => generate(without)), 0)
  assert.equal(await insertsOf(() => verify(without)), 0, 'the last credit goes, and nobody wants to know')
  assert.equal(await insertsOf(() => generate(withEndpoint)), 0, 'no threshold is crossed')
  assert.ok((await insertsOf(() => verify(withEndpoint))) > 0, 'credits.low and credits.empty')
  const { n } = (await db.one<{ n: number }>('SELECT count(*) AS n FROM event WHERE account_id = ?', [
    without.id,
  ]))!
  assert.equal(n, 0)
})

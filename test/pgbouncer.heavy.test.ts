// The service behind PgBouncer: session mode works, transaction mode only with prepared statements.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { shortlink } from '../contract/shortlink.ts'
import { findPooling } from '../server/db/postgres-pooler.ts'
import { freshStorage } from './support/engines.ts'
import { visit } from './support/new-connection.ts'
import { pgbouncerVersion, startPgBouncer } from './support/pgbouncer.ts'
import { admin, get, post, runNode, startService } from './support/service.ts'

const version = pgbouncerVersion()
const notInstalled = 'PgBouncer is not installed'
const keepsStatements = version !== undefined && (version[0] > 1 || version[1] >= 21)

it('works whole in session mode: calls, link changes on every process, health, commands', async (context) => {
  if (!version) return context.skip(notInstalled)
  const storage = await freshStorage('postgres')
  await using pooler = await startPgBouncer(storage.environment['DATABASE_URL']!, 'session')
  const pooled = { ...storage, environment: { ...storage.environment, DATABASE_URL: pooler.url } }
  assert.equal(await findPooling(pooler.url), 'session')
  assert.equal(await findPooling(storage.environment['DATABASE_URL']!), 'direct')
  const first = await startService('postgres', {}, pooled)
  const second = await startService('postgres', {}, pooled)
  try {
    const holder = await first.account({ short_link: 1_000 })
    const call = async (values: object, url = first.url) => {
      const reply = await post(`${url}${shortlink.path}`, {
        username: holder.username,
        api_key: holder.key,
        ...values,
      })
      assert.equal(reply.status, 200, JSON.stringify(reply.body))
      return reply.body.data as { link_id: number; short_code: string }
    }
    const created = await Promise.all(
      Array.from({ length: 200 }, () =>
        call({ action: 'generate', target_url: 'https://example.com/0', title: 't' }),
      ),
    )
    const { link_id, short_code } = created[0]!
    const isUp = async () =>
      /^tollgate_link_channel_up 1$/m.test(await (await fetch(`${second.url}/metrics`)).text())
    while (!(await isUp())) await sleep(20)
    for (let n = 1; n <= 10; n += 1) {
      await call({ action: 'update', link_id, target_url: `https://example.com/${n}` })
      for (const { url } of [second, first]) {
        assert.equal((await visit(`${url}/${short_code}`)).location, `https://example.com/${n}`)
      }
    }
    assert.equal((await get(`${second.url}/readyz`)).status, 200)
    const checked = await admin(pooled.environment, 'ledger', 'check', '--json')
    assert.equal((JSON.parse(checked.stdout) as { ok: boolean }).ok, true)
  } finally {
    await first[Symbol.asyncDispose]()
    await second[Symbol.asyncDispose]()
  }
  const doctor = await runNode(['start.js', 'cli/doctor.ts'], pooled.environment)
  assert.match(doctor.stdout, /✓ pooler .*session/)
  await storage.remove()
})

it('does not start in transaction mode without prepared statements, and says why in one line', async (context) => {
  if (!version) return context.skip(notInstalled)
  const storage = await freshStorage('postgres')
  const settings = keepsStatements ? { max_prepared_statements: '0' } : {}
  await using pooler = await startPgBouncer(storage.environment['DATABASE_URL']!, 'transaction', settings)
  assert.equal(await findPooling(pooler.url), 'unsupported')
  const environment = { PORT: '0', ...storage.environment, DATABASE_URL: pooler.url }
  const started = await runNode(['start.js'], environment)
  assert.deepEqual([started.code, started.stdout], [1, ''])
  assert.match(started.stderr, /^[^\n]*PgBouncer 1\.21[^\n]*max_prepared_statements[^\n]*\n$/)
  const doctor = await runNode(['start.js', 'cli/doctor.ts'], environment)
  assert.equal(doctor.code, 1)
  assert.match(doctor.stdout, /✗ pooler .*prepared statements/)
  const direct = { ...environment, DATABASE_URL: storage.environment['DATABASE_URL']! }
  const indirect = await runNode(['start.js'], { ...direct, DATABASE_DIRECT_URL: pooler.url })
  assert.equal(indirect.code, 1)
  assert.match(indirect.stderr, /^[^\n]*DATABASE_DIRECT_URL[^\n]*\n$/)
  await storage.remove()
})

it('works in transaction mode with prepared statements, and caches links with DATABASE_DIRECT_URL', async (context) => {
  if (!keepsStatements) return context.skip('PgBouncer 1.21 or later is not installed')
  const storage = await freshStorage('postgres')
  const direct = storage.environment['DATABASE_URL']!
  await using pooler = await startPgBouncer(direct, 'transaction', { max_prepared_statements: '500' })
  assert.equal(await findPooling(pooler.url), 'transaction')
  for (const more of [{}, { DATABASE_DIRECT_URL: direct }]) {
    const environment = { ...storage.environment, DATABASE_URL: pooler.url }
    const service = await startService('postgres', more, { ...storage, environment })
    const holder = await service.account({ short_link: 1_000 })
    const replies = await Promise.all(
      Array.from({ length: 200 }, () =>
        post(`${service.url}${shortlink.path}`, {
          username: holder.username,
          api_key: holder.key,
          action: 'generate',
          target_url: 'https://example.com/0',
          title: 't',
        }),
      ),
    )
    assert.deepEqual([...new Set(replies.map(({ status }) => status))], [200])
    assert.equal(service.installation.isListening, 'DATABASE_DIRECT_URL' in more)
    await service[Symbol.asyncDispose]()
  }
  await storage.remove()
})

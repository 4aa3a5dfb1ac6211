// What the service needs of PostgreSQL: rights of its role, and free connections.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Client } from 'pg'
import { freshStorage, type FreshStorage, uniqueName } from '../../test/support/engines.ts'
import { admin, get, post, startService } from '../../test/support/service.ts'
import { openPostgres } from './postgres.ts'

/** Creates a role, runs statements as the owner, and returns the URL of the role. */
async function createRole(storage: FreshStorage, attributes: string, ...grants: string[]): Promise<string> {
  const role = uniqueName()
  const url = new URL(storage.environment['DATABASE_URL']!)
  const owner = new Client({ connectionString: url.href })
  await owner.connect()
  await owner.query(`CREATE ROLE ${role} LOGIN ${attributes}`)
  for (const grant of grants) await owner.query(`${grant} TO ${role}`)
  await owner.end()
  url.username = role
  return url.href
}

it('starts on a migrated schema with a role that may only read and write rows, and serves paid calls', async (context) => {
  const storage = await freshStorage('postgres')
  context.after(() => storage.remove())
  const url = await createRole(
    storage,
    '',
    'GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public',
  )
  const limited = { ...storage, environment: { ...storage.environment, DATABASE_URL: url } }
  await using service = await startService('postgres', {}, limited)
  assert.equal((await get(`${service.url}/readyz`)).status, 200)
  const { username, key } = await service.account({ short_link: 5, id_verification: 5 })
  const call = async (path: string, values: object) =>
    (await post(`${service.url}${path}`, { username, api_key: key, ...values })).status
  const link = { target_url: 'https://example.com/', title: 't' }
  assert.equal(await call('/api/shortlink_api.php', { action: 'generate', ...link }), 200)
  assert.equal(await call('/api/shortlink_api.php', { action: 'generate_batch', links: [link, link] }), 200)
  const person = { name: '张三', idcard: '11010519491231002X' }
  assert.equal(await call('/api/id_verification_api.php', person), 200)
  assert.deepEqual(JSON.parse((await admin(limited.environment, 'migrate', '--json')).stdout), {
    applied: [],
  })
})

it('waits for a free connection when the server refuses more', { timeout: 60_000 }, async (context) => {
  const storage = await freshStorage('postgres')
  context.after(() => storage.remove())
  const url = await createRole(
    storage,
    'CONNECTION LIMIT 3',
    'GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public',
  )
  const db = openPostgres(url)
  const calls = Array.from({ length: 400 }, (_, index) =>
    index % 2 === 0 ? db.write((tx) => tx.all('SELECT 1')) : db.all('SELECT 2'),
  )
  try {
    await Promise.all(calls)
  } finally {
    await db.close()
  }
})

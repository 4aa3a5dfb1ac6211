// A newer version migrates the database while this version serves: what is promised in the section Updates of docs/operations.md.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { listTables } from '../server/db/catalog.ts'
import { type Database, DatabaseUnavailable } from '../server/db/database.ts'
import { freshStorage, onEachEngine, uniqueName } from './support/engines.ts'
import { admin, get, post, type ServiceProcess, spawnService } from './support/service.ts'

const record = (db: Database, name: string, oldest: string) =>
  db.write((tx) =>
    tx.run('INSERT INTO migration (name, applied_at, oldest_version) VALUES (?, 0, ?)', [name, oldest]),
  )

async function untilReady(service: ServiceProcess, status: number) {
  for (let tries = 0; ; tries += 1) {
    const ready = await get(`${service.url}/readyz`)
    if (ready.status === status) return ready
    assert.ok(tries < 200, `/readyz does not become ${status}`)
    await sleep(50)
  }
}

onEachEngine('a process of this version', (engine) => {
  it(
    'goes on after a newer version has only added, and is not ready after it has removed',
    { timeout: 120_000 },
    async () => {
      const storage = await freshStorage(engine)
      const service = await spawnService({ ...storage.environment, SAMPLE_ACCOUNT: 'off' })
      const newer = storage.open()
      try {
        const username = uniqueName()
        const created = await admin(
          storage.environment,
          ...[
            'account',
            'create',
            username,
            '--credits',
            'short_link=1000,sms=1000,id_verification=1000,domain_check=1000',
          ],
          '--json',
        )
        const { api_key } = JSON.parse(created.stdout) as { api_key: string }
        const call = (path: string, values: object) =>
          post(`${service.url}${path}`, { username, api_key, ...values })
        const callAll = async () => {
          const generate = { action: 'generate', target_url: 'https://example.com/', title: 't' }
          const replies = await Promise.all(
            Array.from({ length: 10 }, () => [
              call('/api/shortlink_api.php', generate),
              call('/api/sms_api.php', { action: 'get_credits' }),
              call('/api/id_verification_api.php', { name: '张三', idcard: '11010519491231002X' }),
              call('/api/video_platform_check.php', { url: 'https://example.com/' }),
            ]).flat(),
          )
          return replies.filter(({ status }) => status >= 500).map(({ status, body }) => ({ status, body }))
        }
        assert.deepEqual(await callAll(), [])

        // The next version adds a column to every table, under load.
        const tables = await newer.write((tx) => listTables(tx))
        const load = Array.from({ length: 5 }, () => callAll())
        for (const table of tables) {
          await newer.write((tx) => tx.run(`ALTER TABLE "${table}" ADD COLUMN added_later text`))
        }
        await record(newer, '9998-added', '0.2.0')
        assert.deepEqual((await Promise.all(load)).flat(), [], service.output())
        assert.deepEqual(await callAll(), [])
        assert.deepEqual((await untilReady(service, 200)).body, { status: 'ok' })

        // A version that comes after removes what this one uses.
        await record(newer, '9999-removed', '99.0.0')
        assert.deepEqual((await untilReady(service, 503)).body, { status: 'schema too new' })
        while (!service.output().includes('9999-removed')) await sleep(20)
        await newer.write((tx) => tx.run(`DELETE FROM migration WHERE name = '9999-removed'`))
        await untilReady(service, 200)
      } finally {
        await service.kill('SIGKILL')
        await newer.close().catch((error: unknown) => assert.ok(error instanceof DatabaseUnavailable))
        await storage.remove()
      }
    },
  )
})

// An import that is killed in the middle continues after the next start: every row once, every credit once.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { linkImportRoutes } from '../contract/console/link-import.ts'
import { createBrowser } from './support/console.ts'
import { freshStorage, onEachEngine } from './support/engines.ts'
import { admin, freePort, spawnService } from './support/service.ts'
import { until } from './support/until.ts'

const rows = 20_000
const password = 'correct horse 9'

onEachEngine('imports after kill -9', (engine) => {
  it('continue where they stopped and create and charge every row once', async () => {
    const storage = await freshStorage(engine)
    const settings = { ...storage.environment, SAMPLE_ACCOUNT: 'off', PORT: String(await freePort()) }
    // oxlint-disable-next-line typescript/no-explicit-any -- commands print different shapes
    const run = async (...words: string[]): Promise<any> => {
      const result = await admin(settings, ...words, '--json')
      assert.equal(result.code, 0, result.stderr)
      return JSON.parse(result.stdout)
    }
    let service = await spawnService(settings)
    const db = storage.open()
    try {
      await run('account', 'create', 'acme', '--password', password, '--credits', `short_link=${rows + 7}`)
      const browser = createBrowser(service)
      await browser.signIn('acme', password)
      const lines = Array.from(
        { length: rows },
        (_one, index) => `https://example.com/${index},批量 ${index}`,
      )
      const uploaded = await browser.call(linkImportRoutes.upload, {
        query: { name: 'links.csv', codes: 'new', tag: 'crash' },
        file: `url,title\n${lines.join('\n')}`,
      })
      assert.equal(uploaded.status, 200)
      const { id } = uploaded.body
      const show = async (by = browser) => (await by.call(linkImportRoutes.one, { parts: { id } })).body
      await until(async () => (await show()).state === 'checked', 120_000)
      await browser.call(linkImportRoutes.start, { parts: { id } })
      await until(async () => (await show()).created > 0, 120_000)
      await service.kill('SIGKILL')
      const killed = await db.one<{ created: number; done: number }>(
        'SELECT created, next_row AS done FROM link_import WHERE id = ?',
        [id],
      )
      assert.ok(killed && killed.created > 0, 'it had begun')
      const made = await db.one<{ links: number }>('SELECT COUNT(*) AS links FROM link')
      assert.deepEqual([killed.done, Number(made?.links)], [killed.created, killed.created])
      // The lease of the killed process ends now instead of some seconds later.
      await db.write((tx) => tx.run('UPDATE link_import SET lease_until = 0 WHERE id = ?', [id]))
      service = await spawnService(settings)
      const again = createBrowser(service)
      await again.signIn('acme', password)
      await until(async () => (await show(again)).state === 'finished', 240_000)
      const done = await show(again)
      assert.deepEqual([done.created, done.failed, done.invalid], [rows, 0, 0])
      const links = await db.one<{ links: number; targets: number }>(
        'SELECT COUNT(*) AS links, COUNT(DISTINCT target_url) AS targets FROM link',
      )
      assert.deepEqual([Number(links?.links), Number(links?.targets)], [rows, rows])
      const { credits } = await run('credits', 'show', 'acme')
      const left = (credits as { api_type: string; remaining: number }[]).find(
        ({ api_type: type }) => type === 'short_link',
      )
      assert.equal(left?.remaining, 7)
      assert.equal((await run('ledger', 'check')).ok, true)
    } finally {
      await service.kill('SIGKILL')
      await db.close()
    }
  })
})

// Links with a limit over four processes: exactly that many people get the destination, and a change takes effect immediately in each of them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shortlink } from '../contract/shortlink.ts'
import { freshStorage, onEachEngine } from './support/engines.ts'
import { post, type ServiceProcess, spawnService, startService } from './support/service.ts'

const chrome =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36'

onEachEngine('limits of links over processes', (engine) => {
  test('89 exactly max_clicks of 200 visits to four processes get the destination, also after kill -9', async () => {
    const storage = await freshStorage(engine)
    const local = await startService(engine, {}, storage)
    const others: ServiceProcess[] = []
    try {
      for (let i = 0; i < 3; i += 1)
        others.push(await spawnService({ ...storage.environment, SAMPLE_ACCOUNT: 'off' }))
      const account = await local.account({ short_link: 10 })
      const call = async (body: object) => {
        const sent = { username: account.username, api_key: account.key, ...body }
        const reply = await post(`${local.url}${shortlink.path}`, sent)
        assert.equal(reply.status, 200, JSON.stringify(reply.body))
        return reply.body.data
      }
      const urls = [local.url, ...others.map(({ url }) => url)]
      const visitAll = async (code: string, visits: number) => {
        const replies = await Promise.all(
          Array.from({ length: visits }, (_one, i) =>
            fetch(`${urls[i % urls.length]}/${code}`, {
              redirect: 'manual',
              headers: { 'user-agent': chrome },
            }),
          ),
        )
        return replies.map(({ status }) => status).filter((status) => status === 302).length
      }
      const made = await call({
        action: 'generate',
        target_url: 'https://example.com/',
        title: 't',
        max_clicks: 10,
      })
      assert.equal(await visitAll(made.short_code, 200), 10)
      const update = { action: 'update', link_id: made.link_id, target_url: 'https://example.com/' }
      await call({ ...update, max_clicks: 15 })
      await others.pop()!.kill('SIGKILL')
      urls.pop()
      assert.equal(await visitAll(made.short_code, 60), 5)
      assert.equal((await call({ action: 'get', link_id: made.link_id })).remaining_clicks, 0)
      await call({ ...update, clear: ['max_clicks'] })
      assert.equal(await visitAll(made.short_code, 12), 12)
      await call({ action: 'pause', link_id: made.link_id })
      assert.equal(await visitAll(made.short_code, 12), 0)
    } finally {
      for (const one of others) await one.kill('SIGKILL')
      await local[Symbol.asyncDispose]()
      await storage.remove()
    }
  })
})

// New links when the codes that come next are taken, for example by another process or before a restart.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { onEachEngine } from '../../../test/support/engines.ts'
import { post, startService, type TestAccount, type TestService } from '../../../test/support/service.ts'
import { loadCodes } from '../codes/store.ts'
import { codeInsert } from '../store.ts'
import { insertRows } from '../../db/bulk-insert.ts'

/** The distance between two new codes is at most 64 positions. */
const places = 64 * 20

onEachEngine('codes that are taken', (engine) => {
  let service: TestService
  let account: TestAccount

  before(async () => {
    service = await startService(engine)
    account = await service.account({ short_link: 100 })
  })
  after(() => service[Symbol.asyncDispose]())

  const call = (body: object) =>
    post(`${service.url}/api/shortlink_api.php`, {
      username: account.username,
      api_key: account.key,
      ...body,
    })
  const link = { target_url: 'https://example.com/', title: 't' }

  for (const [name, body] of [
    ['generate', { action: 'generate', ...link }],
    ['generate with options', { action: 'generate', ...link, tags: ['a'] }],
    ['generate_batch', { action: 'generate_batch', links: [link, link, link] }],
  ] as const) {
    test(`${name} takes others`, async () => {
      const first = await call({ action: 'generate', ...link })
      assert.equal(first.status, 200)
      const { db } = service.installation
      const codes = await loadCodes(db)
      const { link_id: id, short_code: code } = first.body.data
      const position = codes.positionOf(code)!
      const taken = Array.from({ length: places }, (_one, index) => ({
        position: position + 1 + index,
        link_id: id,
      }))
      await db.write((tx) => insertRows(tx, codeInsert, taken))
      const reply = await call(body)
      assert.equal(reply.status, 200, JSON.stringify(reply.body))
    })
  }
})

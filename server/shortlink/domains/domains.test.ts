// Link domains that the domain check finds blocked.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Compile } from 'typebox/schema'
import { freshDatabase, onEachEngine, uniqueName } from '../../../test/support/engines.ts'
import { createAccount } from '../../accounts/accounts.ts'
import { systemActor } from '../../audit/audit.ts'
import { openApiWebhooks } from '../../docs/openapi-webhooks.ts'
import { loadCodes } from '../codes/store.ts'
import { insertOwnDomain } from '../own-domains/store.ts'
import { listPoolDomains, createLookup } from '../redirect/lookup-store.ts'
import { createWatchedDomains } from './domains.ts'
import { insertDomain } from './store.ts'

onEachEngine('watched domains', (engine) => {
  test('logs a blocked domain once, and marks it', async () => {
    await using fresh = await freshDatabase(engine)
    const { db } = fresh
    await db.write((tx) => insertDomain(tx, 'a', 'a.test'))
    await db.write((tx) => insertDomain(tx, 'b', 'b.test'))
    const logged: string[] = []
    const log = {
      warn: (facts: object, text: string) => void logged.push(`warn ${JSON.stringify(facts)} ${text}`),
      info: (facts: object, text: string) => void logged.push(`info ${JSON.stringify(facts)} ${text}`),
    }
    const watched = createWatchedDomains(db, createLookup(db, await loadCodes(db)), log)
    assert.deepEqual(await watched.hosts(), ['a.test', 'b.test'])
    await watched.recordVerdict(systemActor, 'a.test', true)
    await watched.recordVerdict(systemActor, 'a.test', true)
    await watched.recordVerdict(systemActor, 'b.test', false)
    await watched.recordVerdict(systemActor, 'unknown.test', true)
    assert.equal(logged.length, 1)
    assert.match(logged[0] ?? '', /^warn \{"domain":"a\.test"\} .*blocked/)
    const [domain] = await listPoolDomains(db)
    assert.equal(domain?.blocked, 1)
    assert.ok(domain.blocked_at)
    await watched.recordVerdict(systemActor, 'a.test', false)
    assert.equal(logged.length, 2)
    assert.equal((await listPoolDomains(db))[0]?.blocked_at, null)
  })

  test('changes are published to every process before they are reported as done', async () => {
    await using fresh = await freshDatabase(engine)
    const { db } = fresh
    const lookup = createLookup(db, await loadCodes(db))
    const published: string[] = []
    const log = { warn: () => undefined, info: () => undefined }
    const watched = createWatchedDomains(
      db,
      {
        ...lookup,
        async publishChanges() {
          const [domain] = await listPoolDomains(db)
          published.push(`${domain?.host} ${domain?.removed} ${domain?.blocked}`)
          await lookup.publishChanges()
        },
      },
      log,
    )
    await watched.add(systemActor, 'a', 'a.test')
    await watched.recordVerdict(systemActor, 'a.test', true)
    await watched.recordVerdict(systemActor, 'a.test', true)
    await watched.remove(systemActor, 'a', 'a.test')
    assert.deepEqual(published, ['a.test 0 0', 'a.test 0 1', 'a.test 1 1'])
  })

  test('reports an own domain to its account with the documented fields', async () => {
    await using fresh = await freshDatabase(engine)
    const { db } = fresh
    const { id: accountId } = await createAccount(db, systemActor, { username: uniqueName() })
    await db.write(async (tx) => {
      await tx.run(`UPDATE account SET event_types = '*' WHERE id = ?`, [accountId])
      const { id } = await insertOwnDomain(tx, { account_id: accountId, host: 'own.test', token: 't' })
      await tx.run('UPDATE link_own_domain SET verified_at = 1 WHERE id = ?', [id])
    })
    const log = { warn: () => undefined, info: () => undefined }
    const watched = createWatchedDomains(db, createLookup(db, await loadCodes(db)), log)
    for (const isBlocked of [false, true, true, false])
      await watched.recordVerdict(systemActor, 'own.test', isBlocked)
    const events = await db.all<{ type: string; data: string }>('SELECT type, data FROM event ORDER BY id')
    const data = { watch_id: null, url: 'http://own.test/', host: 'own.test' }
    assert.deepEqual(
      events.map((event) => [event.type, JSON.parse(event.data)]),
      [
        ['domain.blocked', data],
        ['domain.unblocked', data],
      ],
    )
    const documented = JSON.parse(JSON.stringify(openApiWebhooks(({ en }) => en)['domain.blocked'])) as {
      post: { requestBody: { content: Record<string, { schema: { properties: { data: object } } }> } }
    }
    const { schema } = documented.post.requestBody.content['application/json']!
    assert.ok(Compile(schema.properties.data).Check(data))
  })
})

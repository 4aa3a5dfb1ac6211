import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freshDatabase, onEachEngine } from '../../../test/support/engines.ts'
import { findCodes } from '../codes/store.ts'
import { listPoolDomains, openLookup } from '../redirect/lookup-store.ts'
import { watchedDomains } from './domains.ts'
import { addDomain } from './store.ts'

onEachEngine('watched domains', (engine) => {
  test('a domain found blocked gets no new links; the operator is told once', async () => {
    await using fresh = await freshDatabase(engine)
    const { db } = fresh
    await db.write((tx) => addDomain(tx, 'a', 'a.test'))
    await db.write((tx) => addDomain(tx, 'b', 'b.test'))
    const told: string[] = []
    const log = {
      warn: (facts: object, text: string) => void told.push(`warn ${JSON.stringify(facts)} ${text}`),
      info: (facts: object, text: string) => void told.push(`info ${JSON.stringify(facts)} ${text}`),
    }
    const watched = watchedDomains(db, openLookup(db, await findCodes(db)), log)
    assert.deepEqual(await watched.hosts(), ['a.test', 'b.test'])
    await watched.found('a.test', true)
    await watched.found('a.test', true)
    await watched.found('b.test', false)
    await watched.found('unknown.test', true)
    assert.equal(told.length, 1)
    assert.match(told[0] ?? '', /^warn \{"domain":"a\.test"\} .*blocked/)
    const [domain] = await listPoolDomains(db)
    assert.equal(domain?.blocked, 1)
    assert.ok(domain.blocked_at)
    await watched.found('a.test', false)
    assert.equal(told.length, 2)
    assert.equal((await listPoolDomains(db))[0]?.blocked_at, null)
  })
})

// When the service is ready, and how often that is checked.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { freshDatabase, onEachEngine } from '../../test/support/engines.ts'
import type { Database, Job } from '../db/database.ts'
import { createReadiness } from './readiness-store.ts'

const quiet = pino({ level: 'silent' })

/** A database whose probes are counted and may hang or fail. */
function probedDatabase(db: Database) {
  const probed = { probes: 0, behaviour: 'works' as 'works' | 'fails' | 'hangs', end: () => {} }
  const probe = <T>(job: Job<T>): Promise<T> => {
    probed.probes += 1
    if (probed.behaviour === 'works') return db.probe(job)
    if (probed.behaviour === 'fails') return Promise.reject(new Error('no space'))
    return new Promise((_resolve, reject) => (probed.end = () => reject(new Error('ended'))))
  }
  return { probed, db: { ...db, probe } }
}

onEachEngine('readiness', (engine) => {
  it('checks once, however many ask', async () => {
    await using fresh = await freshDatabase(engine)
    const { probed, db } = probedDatabase(fresh.db)
    const readiness = createReadiness(db, quiet, new Registry())
    for (let round = 0; round < 3; round += 1) {
      const states = await Promise.all(Array.from({ length: 1_000 }, () => readiness.check()))
      assert.deepEqual([...new Set(states)], ['ok'])
    }
    assert.equal(probed.probes, 1)
  })

  it('is not ready on a schema that needs a newer version, and says so', async () => {
    await using fresh = await freshDatabase(engine)
    const lines: string[] = []
    const log = pino({ base: null, timestamp: false }, { write: (line) => void lines.push(line) })
    const record = (name: string, oldest: string) =>
      fresh.db.write((tx) =>
        tx.run('INSERT INTO migration (name, applied_at, oldest_version) VALUES (?, 0, ?)', [name, oldest]),
      )
    const check = () => createReadiness(fresh.db, log, new Registry()).check()
    await record('9998-added', '0.2.0')
    assert.equal(await check(), 'ok')
    await record('9999-removed', '99.0.0')
    assert.equal(await check(), 'schema too new')
    assert.equal(lines.length, 1)
    assert.match(lines[0]!, /9999-removed.*needs an update/)
  })
})

describe('readiness', () => {
  it('reports a failure once in the log, and the recovery', async (context) => {
    context.mock.timers.enable({ apis: ['setTimeout'] })
    await using fresh = await freshDatabase('sqlite')
    const { probed, db } = probedDatabase(fresh.db)
    const lines: string[] = []
    const registry = new Registry()
    const log = pino({ base: null, timestamp: false }, { write: (line) => void lines.push(line) })
    const now = context.mock.method(performance, 'now', () => 0)
    const readiness = createReadiness(db, log, registry)
    const at = async (ms: number) => {
      now.mock.mockImplementation(() => ms)
      return readiness.check()
    }
    probed.behaviour = 'fails'
    assert.equal(await at(0), 'database unavailable')
    assert.equal(await at(999), 'database unavailable')
    assert.equal(probed.probes, 1)
    assert.equal(await at(2_000), 'database unavailable')
    assert.match(await registry.metrics(), /^tollgate_database_up 0$/m)
    probed.behaviour = 'works'
    assert.equal(await at(4_000), 'ok')
    assert.match(await registry.metrics(), /^tollgate_database_up 1$/m)
    assert.equal(lines.length, 2)
    assert.match(lines[0]!, /the database cannot be written/)
    assert.match(lines[1]!, /ready again/)
  })

  it('does not wait for a database that does not respond, and starts no second check', async (context) => {
    await using fresh = await freshDatabase('sqlite')
    const { probed, db } = probedDatabase(fresh.db)
    const readiness = createReadiness(db, quiet, new Registry())
    const now = context.mock.method(performance, 'now', () => 0)
    context.mock.timers.enable({ apis: ['setTimeout'] })
    probed.behaviour = 'hangs'
    const first = readiness.check()
    context.mock.timers.tick(2_000)
    assert.equal(await first, 'database unavailable')
    now.mock.mockImplementation(() => 5_000)
    assert.equal(await readiness.check(), 'database unavailable')
    assert.equal(probed.probes, 1)
    probed.behaviour = 'works'
    probed.end()
    await new Promise(setImmediate)
    assert.equal(await readiness.check(), 'ok')
  })
})

// The short run of the fault suite, and the proof that it can fail. The long one: npm run faults.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { isFaultInjected } from '../../server/runtime/installation.ts'
import { engines, freshStorage } from '../support/engines.ts'
import { runNode } from '../support/service.ts'
import { faults, runFault } from './suite.ts'
import { stopFaultCluster } from './world.ts'

/** For a machine that does ten other things at once. */
const timeout = 900_000
const seed = 'npm test'

describe('faults survived', { concurrency: 1 }, () => {
  after(stopFaultCluster)
  for (const engine of engines) {
    for (const fault of faults.filter(({ shortOn }) => shortOn.includes(engine))) {
      test(`${fault.name} (${engine}): ${fault.text}`, { timeout }, async (t) => {
        const row = await runFault(fault, engine, { seed, short: true })
        if (row.skipped !== undefined) return t.skip(row.skipped)
        assert.deepEqual(row.lost, [])
        assert.deepEqual(row.problems, [])
        assert.ok(row.acknowledged > 0, 'no call succeeded: nothing was shown')
      })
    }
  }
})

describe('the suite can fail', { concurrency: 1 }, () => {
  after(stopFaultCluster)
  test('SQLite that answers before its commit loses what it acknowledged', { timeout }, async (t) => {
    const kill = faults.find(({ name }) => name === 'kill')!
    const row = await runFault(kill, 'sqlite', { seed, rounds: 4, broken: true })
    if (row.skipped !== undefined) return t.skip(row.skipped)
    assert.ok(row.lost.length > 0)
  })

  test(
    'PostgreSQL that answers before its WAL is written loses what was acknowledged',
    { timeout },
    async (t) => {
      const kill = faults.find(({ name }) => name === 'kill-database')!
      const row = await runFault(kill, 'postgres', { seed, rounds: 1, broken: true })
      if (row.skipped !== undefined) return t.skip(row.skipped)
      assert.ok(row.lost.length > 0)
    },
  )

  test('the switch for that takes two variables, and never in production', async () => {
    const wish = { TOLLGATE_BREAK: 'ack-before-commit', TOLLGATE_BREAK_I_MEAN_IT: 'yes' }
    assert.equal(isFaultInjected({}), false)
    assert.equal(isFaultInjected({ TOLLGATE_BREAK: '', TOLLGATE_BREAK_I_MEAN_IT: 'yes' }), false)
    assert.equal(isFaultInjected(wish), true)
    for (const half of [
      { TOLLGATE_BREAK: 'ack-before-commit' },
      { ...wish, TOLLGATE_BREAK_I_MEAN_IT: 'no' },
      { ...wish, TOLLGATE_BREAK: 'yes' },
      { ...wish, NODE_ENV: 'production' },
    ]) {
      assert.throws(() => isFaultInjected(half), /TOLLGATE_BREAK/)
    }
    for (const engine of engines) {
      const storage = await freshStorage(engine)
      const ended = await runNode(['start.js'], {
        ...storage.environment,
        PORT: '0',
        TOLLGATE_BREAK: 'ack-before-commit',
      })
      assert.equal(ended.code, 1)
      assert.match(ended.stderr, /^[^\n]*TOLLGATE_BREAK[^\n]*\n$/)
      await storage.remove()
    }
  })
})

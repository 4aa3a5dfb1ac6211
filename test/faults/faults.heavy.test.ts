// The short run of the fault suite, and tests that the suite detects lost calls. The long run is `npm run faults`. The
// shortest one, one kill on each engine, is faults.test.ts.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { engines } from '../support/engines.ts'
import { faults, runFault } from './suite.ts'
import { stopFaultCluster } from './test-system.ts'

/** Long enough for a heavily loaded machine. */
const timeout = 900_000
const seed = 'npm run test:heavy'

describe('faults lose no acknowledged call', { concurrency: 1 }, () => {
  after(stopFaultCluster)
  for (const engine of engines) {
    for (const fault of faults.filter(({ shortOn }) => shortOn.includes(engine))) {
      test(`${fault.name} (${engine}): ${fault.text}`, { timeout }, async (t) => {
        const row = await runFault(fault, engine, { seed, short: true })
        if (row.skipped !== undefined) return t.skip(row.skipped)
        assert.deepEqual(row.lost, [])
        assert.deepEqual(row.problems, [])
        assert.ok(row.acknowledged > 0, 'no call succeeded, so nothing was tested')
      })
    }
  }
})

describe('the suite detects lost calls', { concurrency: 1 }, () => {
  after(stopFaultCluster)
  test('reports lost calls if SQLite responds before the commit', { timeout }, async (t) => {
    const kill = faults.find(({ name }) => name === 'kill')!
    const row = await runFault(kill, 'sqlite', { seed, rounds: 4, broken: true })
    if (row.skipped !== undefined) return t.skip(row.skipped)
    assert.ok(row.lost.length > 0)
  })

  test('reports lost calls if PostgreSQL responds before the WAL is written', { timeout }, async (t) => {
    const kill = faults.find(({ name }) => name === 'kill-database')!
    const row = await runFault(kill, 'postgres', { seed, rounds: 1, broken: true })
    if (row.skipped !== undefined) return t.skip(row.skipped)
    assert.ok(row.lost.length > 0)
  })
})

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

/** A kill may hit a moment in which every acknowledged call is written, so there are several runs. */
const detectionRuns = 3

describe('the suite detects lost calls', { concurrency: 1 }, () => {
  after(stopFaultCluster)
  for (const { engine, fault, rounds, mistake } of [
    { engine: 'sqlite', fault: 'kill', rounds: 4, mistake: 'SQLite responds before the commit' },
    {
      engine: 'postgres',
      fault: 'kill-database',
      rounds: 1,
      mistake: 'PostgreSQL responds before the WAL is written',
    },
  ] as const) {
    test(`reports lost calls if ${mistake}`, { timeout }, async (t) => {
      const kill = faults.find(({ name }) => name === fault)!
      for (let run = 1; run <= detectionRuns; run += 1) {
        const row = await runFault(kill, engine, { seed: `${seed} ${run}`, rounds, broken: true })
        if (row.skipped !== undefined) return t.skip(row.skipped)
        if (row.lost.length > 0) return
      }
      assert.fail('no lost call was reported')
    })
  }
})

// kill -9 under load, once on each engine. All faults: faults.heavy.test.ts and npm run faults.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isFaultInjected } from '../../server/runtime/installation.ts'
import { emptyStorage, engines } from '../support/engines.ts'
import { runNode } from '../support/service.ts'
import { faults, runFault } from './suite.ts'

describe('kill -9 loses no acknowledged call', { concurrency: 1 }, () => {
  const kill = faults.find(({ name }) => name === 'kill')!
  for (const engine of engines) {
    test(`${kill.name} (${engine}): ${kill.text}`, async (t) => {
      const storage = await emptyStorage(engine)
      const databaseUrl = storage.environment['DATABASE_URL']
      const row = await runFault(kill, engine, { seed: 'npm test', rounds: 1, databaseUrl })
      await storage.remove()
      if (row.skipped !== undefined) return t.skip(row.skipped)
      assert.deepEqual(row.lost, [])
      assert.deepEqual(row.problems, [])
      assert.ok(row.acknowledged > 0, 'no call succeeded, so nothing was tested')
    })
  }
})

test('fault injection needs two variables and is rejected in production', async () => {
  const bothVariables = { TOLLGATE_BREAK: 'ack-before-commit', TOLLGATE_BREAK_I_MEAN_IT: 'yes' }
  assert.equal(isFaultInjected({}), false)
  assert.equal(isFaultInjected({ TOLLGATE_BREAK: '', TOLLGATE_BREAK_I_MEAN_IT: 'yes' }), false)
  assert.equal(isFaultInjected(bothVariables), true)
  for (const invalid of [
    { TOLLGATE_BREAK: 'ack-before-commit' },
    { ...bothVariables, TOLLGATE_BREAK_I_MEAN_IT: 'no' },
    { ...bothVariables, TOLLGATE_BREAK: 'yes' },
    { ...bothVariables, NODE_ENV: 'production' },
  ]) {
    assert.throws(() => isFaultInjected(invalid), /TOLLGATE_BREAK/)
  }
  for (const engine of engines) {
    const storage = await emptyStorage(engine)
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

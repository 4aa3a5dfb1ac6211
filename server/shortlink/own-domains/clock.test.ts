// A clock that was ahead and is set back, for example a machine whose hardware clock has the local time.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { dayMs, hourMs } from '../../../contract/time.ts'
import { withClock } from '../../../test/support/clock.ts'
import { freshDatabase, onEachEngine } from '../../../test/support/engines.ts'
import { claimRechecks, insertOwnDomain, markVerified, recordMissing } from './store.ts'

onEachEngine('own domains after the clock was set back', (engine) => {
  it('are checked again, and lose their verification in time', async () => {
    await using fresh = await freshDatabase(engine)
    const clock = { now: Date.now() }
    const db = withClock(fresh.db, clock)
    const claim = () => db.write((tx) => claimRechecks(tx, dayMs, 10))
    const isLost = (id: number) => db.write((tx) => recordMissing(tx, id, 3 * dayMs))
    const domain = await db.write(async (tx) => {
      const added = await insertOwnDomain(tx, { account_id: 1, host: 'own.test', token: 't' })
      await markVerified(tx, added)
      return added
    })
    assert.equal((await claim()).length, 0)
    assert.equal(await isLost(domain.id), false)
    clock.now -= 8 * hourMs
    assert.equal((await claim()).length, 1)
    assert.equal((await claim()).length, 0)
    assert.equal(await isLost(domain.id), false)
    clock.now += 3 * dayMs
    assert.equal(await isLost(domain.id), true)
  })
})

// A clock that was ahead and is set back, for example a machine whose hardware clock has the local time.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { hourMs } from '../../../contract/time.ts'
import { withClock } from '../../../test/support/clock.ts'
import { freshDatabase, onEachEngine } from '../../../test/support/engines.ts'
import { claimDue, insertSubmission, updateVendorReview } from './store.ts'

onEachEngine('reviews at vendors after the clock was set back', (engine) => {
  it('continue, although they were postponed or leased by a killed process', async () => {
    await using fresh = await freshDatabase(engine)
    const clock = { now: Date.now() + 8 * hourMs }
    const db = withClock(fresh.db, clock)
    await db.write((tx) =>
      insertSubmission(tx, { kind: 'template', subject_id: 1, revision: 1, gateway: 'aliyun' }),
    )
    const claim = () => db.write((tx) => claimDue(tx, 120_000))
    const row = (await claim()) ?? assert.fail('leased')
    assert.equal(await claim(), undefined)
    clock.now -= 8 * hourMs
    assert.equal((await claim())?.id, row.id)

    clock.now += 8 * hourMs
    await db.write((tx) => updateVendorReview(tx, { ...row, state: 'reviewing' }, hourMs))
    assert.equal(await claim(), undefined)
    clock.now -= 8 * hourMs
    assert.equal((await claim())?.id, row.id)
  })
})

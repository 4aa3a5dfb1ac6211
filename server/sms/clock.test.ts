// A clock that was ahead and is set back, for example a machine whose hardware clock has the local time.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { hourMs, minuteMs } from '../../contract/time.ts'
import { withClock } from '../../test/support/clock.ts'
import { freshDatabase, onEachEngine } from '../../test/support/engines.ts'
import { findWait, replaceCode } from './code-store.ts'

onEachEngine('one-time codes after the clock was set back', (engine) => {
  it('can be sent again, although the last one is from the time ahead', async () => {
    await using fresh = await freshDatabase(engine)
    const clock = { now: Date.now() }
    const db = withClock(fresh.db, clock)
    const key = { account_id: 1, phone: '13800138000', purpose: 'login' }
    const send = async () => {
      const isFree = (await findWait(db, key, minuteMs)) <= 0
      const code = { ...key, hash: 'h', attempts_left: 5, operation_id: 1 }
      const times = { sent_at: clock.now, expires_at: clock.now + 5 * minuteMs }
      return [isFree, await db.write((tx) => replaceCode(tx, { ...code, ...times }, minuteMs))]
    }
    assert.deepEqual(await send(), [true, true])
    assert.deepEqual(await send(), [false, false])
    clock.now -= minuteMs / 2
    assert.deepEqual(await send(), [false, false], 'the clock was corrected a little')
    clock.now -= 8 * hourMs
    assert.deepEqual(await send(), [true, true])
    assert.deepEqual(await send(), [false, false])
  })
})

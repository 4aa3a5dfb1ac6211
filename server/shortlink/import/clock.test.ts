// A clock that was ahead and is set back, for example a machine whose hardware clock has the local time.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { withClock } from '../../../test/support/clock.ts'
import { freshDatabase, onEachEngine } from '../../../test/support/engines.ts'
import { hourMs } from '../../../contract/time.ts'
import { createAccount } from '../../accounts/accounts.ts'
import { systemActor } from '../../audit/audit.ts'
import { claimImport, insertImport, moveImport, releaseLease } from './store.ts'

onEachEngine('imports after the clock was set back', (engine) => {
  it('continue', async () => {
    await using fresh = await freshDatabase(engine)
    const clock = { now: Date.now() }
    const db = withClock(fresh.db, clock)
    const account = await createAccount(db, systemActor, { username: 'acme' })
    const id = await db.write(async (tx) => {
      const file = { account_id: account.id, file_name: 'links.csv', format: 'own', encoding: 'utf-8' }
      const one = await insertImport(tx, { ...file, options: '{}', total: 1, invalid: 0 })
      await moveImport(tx, one, ['uploading'], 'running')
      return one
    })
    const claim = async () => (await db.write((tx) => claimImport(tx, 15_000)))?.id
    assert.equal(await claim(), id)
    assert.equal(await claim(), undefined, 'another process works on it')
    clock.now -= 2_000
    assert.equal(
      await claim(),
      undefined,
      'another process works on it, and the clock was corrected a little',
    )

    clock.now -= 8 * hourMs
    assert.equal(await claim(), id, 'the process was killed while the clock was ahead')
    clock.now += 8 * hourMs
    await db.write((tx) => releaseLease(tx, id))
    clock.now -= 8 * hourMs
    assert.equal(await claim(), id, 'the turn of the import ended while the clock was ahead')
  })
})

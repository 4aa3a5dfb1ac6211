// Old rows are deleted and recent ones stay, also with more old rows than one transaction deletes.
import { dayMs } from '../../contract/time.ts'
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { freshDatabase, onEachEngine } from '../../test/support/engines.ts'
import { deleteOldAudit, insertAudit } from '../audit/store.ts'
import { deleteOldSends } from '../sms/store.ts'

onEachEngine('deleteOlderThan', (engine) => {
  it('deletes old entries of the audit log', async () => {
    await using fresh = await freshDatabase(engine)
    const { db } = fresh
    await db.write(async (tx) => {
      for (let index = 0; index < 2_500; index += 1) {
        await insertAudit(tx, { actor: 'cli', action: 'account.view', target: String(index) })
      }
      await tx.run(`UPDATE audit SET at = at - ${200 * dayMs} WHERE id <= 2400`)
    })
    const signal = new AbortController().signal
    assert.equal(await deleteOldAudit(db, 201, signal), 0)
    assert.equal(await deleteOldAudit(db, 199, signal), 2_400)
    const left = await db.all<{ target: string }>('SELECT target FROM audit ORDER BY id')
    assert.deepEqual([left.length, left[0]?.target], [100, '2400'])
    assert.equal(await deleteOldAudit(db, 199, signal), 0)
  })

  it('deletes old SMS records', async () => {
    await using fresh = await freshDatabase(engine)
    const { db } = fresh
    const insert = (daysAgo: number) =>
      db.write((tx) =>
        tx.run(
          `INSERT INTO sms_send (account_id, operation_id, phone, template_code, template_params, sign_name, parts,
             gateway, state, created_at)
           VALUES (1, 1, '13800138000', 'C', '{}', 'T', 1, 'sandbox', 'accepted', ${tx.now} - ${daysAgo * dayMs})`,
        ),
      )
    for (const daysAgo of [400, 300, 151, 149, 3, 0]) await insert(daysAgo)
    assert.equal(await deleteOldSends(db, 150, new AbortController().signal), 3)
    assert.equal((await db.all('SELECT id FROM sms_send')).length, 3)
  })
})

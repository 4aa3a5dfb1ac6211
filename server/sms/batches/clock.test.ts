// A clock that was ahead and is set back, for example a machine whose hardware clock has the local time.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { dayMs, formatTime, hourMs } from '../../../contract/time.ts'
import { withClock } from '../../../test/support/clock.ts'
import { freshDatabase, onEachEngine } from '../../../test/support/engines.ts'
import { startSmsService } from '../../../test/support/sms.ts'
import { until } from '../../../test/support/until.ts'
import type { Tx } from '../../db/database.ts'
import { pullInBatches } from './finish.ts'
import { insertMessages } from './message-store.ts'
import { findDueBatches } from './queue-store.ts'
import { insertBatch } from './store.ts'

interface WaitingBatch {
  readonly sendAt: number | null
  readonly plannedAt: number
  readonly dueAt?: number
  readonly marketing?: 0 | 1
}

async function addBatch(tx: Tx, { sendAt, plannedAt, dueAt = plannedAt, marketing = 0 }: WaitingBatch) {
  const batchId = await insertBatch(tx, {
    account_id: 1,
    template_code: 'CODE',
    content: '',
    sign_name: '',
    marketing,
    send_at: sendAt,
    total: 1,
    created_at: plannedAt,
    next_at: dueAt,
  })
  const rows = { batchId, accountId: 1, templateCode: 'CODE', signName: '', gateway: 'sandbox' }
  await insertMessages(tx, { ...rows, createdAt: plannedAt, plannedAt }, [
    { operationId: batchId, phone: '13800138000', params: '{}', parts: 1 },
  ])
  await tx.run('UPDATE sms_queue SET due_at = ? WHERE batch_id = ?', [dueAt, batchId])
  return batchId
}

onEachEngine('SMS batches after the clock was set back', (engine) => {
  it('are sent, unless the account has scheduled them for later', async () => {
    await using fresh = await freshDatabase(engine)
    const clock = { now: Date.now() }
    const db = withClock(fresh.db, clock)
    const ahead = clock.now + 8 * hourMs
    const [atOnce, triedAgain, scheduled, due, early, marketing] = await db.write(async (tx) => [
      await addBatch(tx, { sendAt: null, plannedAt: ahead }),
      await addBatch(tx, { sendAt: null, plannedAt: clock.now, dueAt: ahead + 15_000 }),
      await addBatch(tx, { sendAt: clock.now + dayMs, plannedAt: clock.now + dayMs }),
      await addBatch(tx, { sendAt: clock.now - 1, plannedAt: clock.now - 1, dueAt: ahead }),
      await addBatch(tx, { sendAt: clock.now + hourMs, plannedAt: clock.now + hourMs, dueAt: ahead }),
      await addBatch(tx, { sendAt: null, plannedAt: clock.now + 11 * hourMs, marketing: 1 }),
    ])
    const dueNow = async () => {
      const rows = await db.all<{ id: number }>(
        `SELECT id FROM sms_batch WHERE next_at <= ${db.now} ORDER BY id`,
      )
      return rows.map(({ id }) => id)
    }
    assert.deepEqual(await dueNow(), [])
    await pullInBatches(db)
    assert.deepEqual(await dueNow(), [atOnce, triedAgain, due])
    assert.equal((await findDueBatches(db, false, 1)).length, 1)
    clock.now += hourMs
    assert.deepEqual(await dueNow(), [atOnce, triedAgain, due, early])
    clock.now += 10 * hourMs
    assert.deepEqual(await dueNow(), [atOnce, triedAgain, due, early, marketing])
    clock.now += 13 * hourMs
    assert.deepEqual(await dueNow(), [atOnce, triedAgain, scheduled, due, early, marketing])
  })

  it('are refunded when the time for another try is over', async () => {
    const settings = { SMS_GATEWAYS: 'http', SMS_HTTP_URL: 'http://127.0.0.1:1/', SMS_HTTP_SECRET: 's' }
    await using sms = await startSmsService(engine, { ...settings, SMS_RETRY_S: '0' }, { sms: 1 })
    const { body } = await sms.call({
      action: 'send_batch',
      template_code: 'CODE',
      template_params: { code: '1234' },
      phone_numbers: ['13800138000'],
      send_at: formatTime(Date.now() + dayMs),
    })
    assert.equal(body.code, 0, JSON.stringify(body))
    await sms.service.installation.db.write(async (tx) => {
      await tx.run(`UPDATE sms_queue SET due_at = ${tx.now}, tries = 9, retry_until = ${tx.now} + ${dayMs}`)
      await tx.run(`UPDATE sms_batch SET next_at = ${tx.now}`)
    })
    await until(async () => (await sms.remaining()) === 1)
  })
})

// Batches on both engines: what is accepted, charged, sent, cancelled, refunded, and reported.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { formatTime } from '../../../contract/time.ts'
import { systemActor } from '../../audit/audit.ts'
import { changeAccount } from '../../accounts/accounts.ts'
import { findById } from '../../accounts/store.ts'
import { addStop } from '../stop-list.ts'
import { findDueBatches } from './queue-store.ts'
import { decideDueAfterRestore } from './store.ts'
import { freshStorage, onEachEngine } from '../../../test/support/engines.ts'
import { admin } from '../../../test/support/service.ts'
import { startSmsService, type SmsService } from '../../../test/support/sms.ts'
import { until } from '../../../test/support/until.ts'

const number = (i: number) => `138${String(10_000_000 + i)}`
const numbers = (count: number, from = 0) => Array.from({ length: count }, (_, i) => number(from + i))

function sendBatch(sms: SmsService, values: Record<string, unknown>, headers: Record<string, string> = {}) {
  return sms.call(
    { action: 'send_batch', template_code: 'CODE', template_params: { code: '1234' }, ...values },
    headers,
  )
}

async function getBatch(sms: SmsService, batchId: string, values: Record<string, unknown> = {}) {
  const reply = await sms.call({ action: 'get_batch', batch_id: batchId, ...values })
  assert.equal(reply.body.code, 0, JSON.stringify(reply.body))
  return reply.body.data
}

async function finished(sms: SmsService, batchId: string) {
  await until(async () => (await getBatch(sms, batchId)).pending === 0)
  return getBatch(sms, batchId, { limit: 100 })
}

const inAnHour = () => formatTime(Date.now() + 3_600_000)

onEachEngine('SMS batches', (engine) => {
  test('rejects invalid items, charges the valid ones together and sends each of them once', async () => {
    await using sms = await startSmsService(engine)
    const reply = await sendBatch(sms, {
      template_params: undefined,
      messages: [
        { phone_number: number(1), template_params: { code: '1' } },
        { phone_number: '123', template_params: { code: '1' } },
        { phone_number: number(1), template_params: { code: '2' } },
        { phone_number: number(2), template_params: { kode: '2' } },
        { phone_number: '19900000001', template_params: { code: '3' } },
        'text',
        { phone_number: number(3), template_params: { code: 'x'.repeat(100) } },
      ],
    })
    assert.equal(reply.status, 200)
    const { data } = reply.body
    assert.deepEqual(Object.keys(data), ['batch_id', 'accepted', 'rejected', 'send_at', 'remaining_credits'])
    assert.equal(data.accepted, 3)
    assert.deepEqual(data.rejected, [
      { index: 1, phone_number: '123', error_message: 'phone_number 必须是11位手机号' },
      { index: 2, phone_number: number(1), error_message: '号码重复' },
      {
        index: 3,
        phone_number: number(2),
        error_message: 'template_params 缺少变量 code；template_params 有多余变量 kode',
      },
      { index: 5, phone_number: '', error_message: 'phone_number 必须是11位手机号' },
    ])
    assert.deepEqual([data.send_at, data.remaining_credits], ['', 96])
    const batch = await finished(sms, data.batch_id)
    assert.deepEqual(
      [batch.state, batch.total, batch.succeeded, batch.failed, batch.pending, batch.credits_used],
      ['finished', 3, 2, 1, 0, 3],
    )
    assert.equal(await sms.remaining(), 97)
    assert.equal(new Set(batch.items.map((item: { biz_id: string }) => item.biz_id)).size, 3)
    const refused = batch.items.find((item: { phone_number: string }) => item.phone_number === '19900000001')
    assert.deepEqual(
      [refused.success, refused.error_message],
      [false, '号码无效或无法接收短信（SANDBOX_REFUSED）'],
    )
    assert.deepEqual(await sms.findLedgerProblems(), [])
  })

  test('a message with blank template_params has the shared ones', async () => {
    await using sms = await startSmsService(engine)
    const messages = ['', ' ', null, undefined, []].map((params, i) => ({
      phone_number: number(i),
      template_params: params,
    }))
    const { data } = (await sendBatch(sms, { messages })).body
    assert.equal(data.accepted, 4)
    assert.deepEqual(data.rejected, [
      { index: 4, phone_number: number(4), error_message: 'template_params 缺少变量 code' },
    ])
  })

  test('refuses the whole call: parameters, no valid item, template, credits', async () => {
    await using sms = await startSmsService(engine, {}, { sms: 3 })
    const refused = async (values: Record<string, unknown>, code: number, message: RegExp) => {
      const { body } = await sendBatch(sms, values)
      assert.equal(body.code, code, JSON.stringify(body))
      assert.match(body.message, message)
    }
    await refused({}, 1001, /phone_numbers 缺失/)
    await refused({ phone_numbers: numbers(1), messages: [{ phone_number: number(2) }] }, 1002, /只能传一个/)
    await refused({ phone_numbers: numbers(1_001) }, 1002, /phone_numbers 最多 1000 项/)
    await refused({ phone_numbers: 5 }, 1002, /phone_numbers 必须是列表/)
    await refused({ phone_numbers: ['1', '2'] }, 1002, /没有可发送的短信：\[0\] .*；\[1\] /)
    await refused({ phone_numbers: numbers(1), template_code: 'NONE' }, 1007, /模板/)
    await refused({ phone_numbers: numbers(1), sign_name: '【x】' }, 1002, /sign_name/)
    for (const [sendAt, text] of [
      ['tomorrow', /格式/],
      ['2026-02-30 10:00:00', /格式/],
      [formatTime(Date.now() - 1_000), /晚于/],
      [formatTime(Date.now() + 30 * 86_400_000 + 60_000), /最多提前 30 天/],
    ] as const)
      await refused({ phone_numbers: numbers(1), send_at: sendAt }, 1002, text)
    await refused({ phone_numbers: numbers(4) }, 1004, /^调用次数不足$/)
    assert.equal(await sms.remaining(), 3)
    assert.equal((await sendBatch(sms, { phone_numbers: numbers(3) })).body.data.remaining_credits, 0)
    for (const action of ['get_batch', 'cancel_batch']) {
      for (const batchId of ['200000000000099999', 'x', '1']) {
        const { body } = await sms.call({ action, batch_id: batchId })
        assert.deepEqual([body.code, body.message], [1002, '批次不存在'])
      }
      assert.equal((await sms.call({ action })).body.code, 1001)
    }
    assert.deepEqual(await sms.findLedgerProblems(), [])
  })

  test('repeats its answer for the same Idempotency-Key, also at the same time', async () => {
    await using sms = await startSmsService(engine)
    const call = () => sendBatch(sms, { phone_numbers: numbers(5) }, { 'idempotency-key': 'k1' })
    const replies = await Promise.all([call(), call(), call()])
    const ids = new Set(replies.map(({ body }) => body.data.batch_id))
    assert.equal(ids.size, 1)
    await finished(sms, [...ids][0] as string)
    const again = await call()
    assert.equal(again.headers.get('idempotent-replayed'), 'true')
    assert.deepEqual(again.body, replies[0]!.body)
    assert.equal(await sms.remaining(), 95)
    const other = await sendBatch(sms, { phone_numbers: numbers(6) }, { 'idempotency-key': 'k1' })
    assert.equal(other.status, 422)
  })

  test('repeats its answer for the same Idempotency-Key after send_at', async () => {
    await using sms = await startSmsService(engine)
    const send = (key: string, values: Record<string, unknown>) =>
      sendBatch(sms, values, { 'idempotency-key': key })
    const values = { phone_numbers: numbers(2), send_at: formatTime(Date.now() + 2_000) }
    const first = await send('soon', values)
    assert.equal(first.body.code, 0, JSON.stringify(first.body))
    await finished(sms, first.body.data.batch_id)
    const again = await send('soon', values)
    assert.equal(again.headers.get('idempotent-replayed'), 'true', JSON.stringify(again.body))
    assert.deepEqual(again.body, first.body)
    assert.equal((await send('soon', { ...values, phone_numbers: numbers(3) })).status, 422)
    assert.equal((await send('late', values)).body.message, 'send_at 必须晚于当前时间')
    assert.equal(await sms.remaining(), 98)
  })

  test('a scheduled batch waits without a lease, is shown, and is cancelled once with every credit', async () => {
    await using sms = await startSmsService(engine, { SMS_NUMBER_LIMITS: '1/d' }, { sms: 2_000 })
    const sendAt = inAnHour()
    const { data } = (await sendBatch(sms, { phone_numbers: numbers(700), send_at: sendAt })).body
    assert.deepEqual([data.accepted, data.send_at, data.remaining_credits], [700, sendAt, 1_300])
    const waiting = await getBatch(sms, data.batch_id)
    assert.deepEqual(
      [waiting.state, waiting.send_at, waiting.pending, waiting.credits_used, waiting.items.length],
      ['waiting', sendAt, 700, 700, 20],
    )
    assert.deepEqual(await sms.findLedgerProblems(), [])
    // The limits count it on the day it is planned for.
    const sameDay = await sendBatch(sms, { phone_numbers: numbers(2, 699), send_at: sendAt })
    assert.deepEqual(
      sameDay.body.data.rejected[0].error_message.replace(/\d+/, 'N'),
      'phone_number 发送过于频繁，请 N 秒后再试',
    )

    const seen = new Set<string>()
    let cursor: string | null = null
    do {
      const page: { items: { biz_id: string }[]; next_cursor: string | null } = await getBatch(
        sms,
        data.batch_id,
        { limit: 100, ...(cursor !== null && { cursor }) },
      )
      for (const { biz_id: id } of page.items) seen.add(id)
      cursor = page.next_cursor
    } while (cursor !== null)
    assert.equal(seen.size, 700)
    const foreign = (await getBatch(sms, data.batch_id, { limit: 1 })).next_cursor
    const other = await sms.call({
      action: 'get_batch',
      batch_id: sameDay.body.data.batch_id,
      cursor: foreign,
    })
    assert.equal(other.body.code, 1002)

    const cancels = await Promise.all(
      [1, 2, 3].map(() => sms.call({ action: 'cancel_batch', batch_id: data.batch_id })),
    )
    const done = cancels.filter(({ body }) => body.code === 0)
    assert.equal(
      done.reduce((sum, { body }) => sum + body.data.cancelled, 0),
      700,
    )
    assert.ok(cancels.every(({ body }) => body.code === 0 || body.code === 1005))
    const after = await getBatch(sms, data.batch_id)
    assert.deepEqual([after.state, after.pending, after.credits_used, after.failed], ['cancelled', 0, 0, 0])
    assert.equal(after.items[0].error_message, '已取消')
    assert.equal((await sms.call({ action: 'cancel_batch', batch_id: data.batch_id })).body.code, 1005)
    assert.equal(await sms.remaining(), 1_999)
    // What was cancelled does not count.
    assert.equal(
      (await sendBatch(sms, { phone_numbers: numbers(10), send_at: sendAt })).body.data.accepted,
      10,
    )
    assert.deepEqual(await sms.findLedgerProblems(), [])
  })

  test('what is not allowed any more when a message is due is refunded', async () => {
    await using sms = await startSmsService(engine)
    const { db } = sms.service.installation
    await sms.template({ code: 'GONE', content: '到期${code}' })
    const send = async (values: Record<string, unknown>) =>
      (await sendBatch(sms, { send_at: inAnHour(), ...values })).body.data.batch_id as string
    const stopped = await send({ phone_numbers: numbers(2) })
    const changed = await send({ phone_numbers: numbers(1, 10), template_code: 'GONE' })
    await addStop(db, systemActor, sms.account, { phone: number(1) })
    assert.equal(
      (await sendBatch(sms, { phone_numbers: [number(1), number(9)] })).body.data.rejected[0].error_message,
      '号码已退订',
    )
    await db.write((tx) => tx.run(`UPDATE sms_template SET content = '别的' WHERE code = 'GONE'`))
    const makeDue = () =>
      db.write(async (tx) => {
        await tx.run('UPDATE sms_queue SET due_at = 1')
        await tx.run('UPDATE sms_batch SET next_at = 1 WHERE next_at IS NOT NULL')
      })
    await makeDue()
    const first = await finished(sms, stopped)
    assert.deepEqual([first.succeeded, first.failed, first.credits_used], [1, 1, 1])
    const second = await finished(sms, changed)
    assert.equal(second.items[0].error_message, '模板已修改或删除')
    const suspended = await send({ phone_numbers: numbers(3, 20) })
    const account = (await findById(db, sms.account.id))!
    await changeAccount(db, systemActor, account, { suspended: true })
    await makeDue()
    await until(async () => {
      const row = await db.one<{ n: number }>(`SELECT COUNT(*) AS n FROM sms_send WHERE problem = 'account'`)
      return row?.n === 3
    })
    assert.equal(await sms.remaining(), 98)
    await changeAccount(db, systemActor, account, { suspended: false })
    assert.equal((await finished(sms, suspended)).failed, 3)
    assert.deepEqual(await sms.findLedgerProblems(), [])
  })

  test('102 limits what waits, and serves the batches of other accounts first', async () => {
    await using sms = await startSmsService(engine, { SMS_QUEUE_LIMIT: '1000' }, { sms: 3_000 })
    const { db } = sms.service.installation
    const sendAt = inAnHour()
    assert.equal((await sendBatch(sms, { phone_numbers: numbers(900), send_at: sendAt })).body.code, 0)
    const more = await sendBatch(sms, { phone_numbers: numbers(101, 900), send_at: sendAt })
    assert.deepEqual([more.status, more.body.code], [429, 1002])
    assert.equal((await sendBatch(sms, { phone_numbers: numbers(100, 900), send_at: sendAt })).body.code, 0)
    assert.equal(await sms.remaining(), 2_000)
    // The first account has two due batches and was served last; the second account comes before its second batch.
    const other = await sms.service.account({ sms: 10 })
    await db.write(async (tx) => {
      const batch = `INSERT INTO sms_batch (account_id, template_code, content, sign_name, total, pending, waiting, next_at,
        served_at, created_at)`
      for (const [accountId, served] of [
        [777, 50],
        [777, 60],
        [other.id, 0],
        [other.id, 10],
      ])
        await tx.run(`${batch} VALUES (?, 'C', 'c', 's', 1, 1, 1, 1, ?, 1)`, [accountId!, served!])
    })
    const due = await findDueBatches(db, true, 10)
    const owners = await Promise.all(
      due.map(
        async ({ id }) =>
          (await db.one<{ a: number }>('SELECT account_id AS a FROM sms_batch WHERE id = ?', [id]))!.a,
      ),
    )
    assert.deepEqual(owners, [other.id, 777, other.id, 777])
  })

  test('105 a restored backup sends only what was not due when it was made', async () => {
    const storage = await freshStorage(engine)
    {
      await using sms = await startSmsService(engine, {}, { sms: 10 }, storage)
      await sendBatch(sms, { phone_numbers: numbers(2), send_at: inAnHour() })
      await sendBatch(sms, { phone_numbers: numbers(3, 10), send_at: inAnHour() })
      const { db } = sms.service.installation
      await db.write((tx) => tx.run('UPDATE sms_queue SET planned_at = 1 WHERE send_id <= 2'))
    }
    const file = join(storage.environment['DATA_DIR']!, 'queue.backup')
    for (const words of [
      ['backup', file],
      ['restore', file, '--force'],
    ]) {
      const { code, stderr } = await admin(storage.environment, ...words)
      assert.equal(code, 0, stderr)
    }
    const db = storage.open()
    const waiting = await db.all<{ send_id: number }>('SELECT send_id FROM sms_queue ORDER BY send_id')
    assert.deepEqual(
      waiting.map(({ send_id }) => send_id),
      [3, 4, 5],
    )
    await db.close()
    await storage.remove()
  })

  test('103 another account finds no batch and cannot use its cursor', async () => {
    await using sms = await startSmsService(engine)
    const { data } = (await sendBatch(sms, { phone_numbers: numbers(3), send_at: inAnHour() })).body
    const cursor = (await getBatch(sms, data.batch_id, { limit: 1 })).next_cursor
    const other = await sms.service.account({ sms: 1 })
    for (const action of ['get_batch', 'cancel_batch']) {
      const stranger = { username: other.username, api_key: other.key }
      const { body } = await sms.call({ action, batch_id: data.batch_id, cursor, ...stranger })
      assert.deepEqual([body.code, body.message], [1002, '批次不存在'])
    }
    assert.equal((await getBatch(sms, data.batch_id)).pending, 3)
  })

  test('105 a message that was due before a restore is decided, not sent', async () => {
    await using sms = await startSmsService(engine)
    const { db } = sms.service.installation
    const due = (await sendBatch(sms, { phone_numbers: numbers(2), send_at: inAnHour() })).body.data
    const later = (await sendBatch(sms, { phone_numbers: numbers(3, 10), send_at: inAnHour() })).body.data
    await db.write(async (tx) => {
      await tx.run('UPDATE sms_queue SET planned_at = 1 WHERE send_id <= 2')
      await decideDueAfterRestore(tx)
    })
    assert.deepEqual(await sms.findLedgerProblems(), [])
    assert.equal((await db.all('SELECT send_id FROM sms_queue')).length, 3)
    const decide = sms.service.app.services.deciders.get('sms.send')!
    const overdue = await db.all<{ id: number }>(
      `SELECT id FROM operation WHERE state = 'held' AND lease_until IS NOT NULL`,
    )
    for (const { id } of overdue)
      await decide({ id, account_id: sms.account.id, api_type: 'sms', action: 'sms.send', cost: 1 })
    const decided = await getBatch(sms, due.batch_id)
    assert.deepEqual([decided.state, decided.failed, decided.credits_used], ['finished', 2, 0])
    assert.equal((await getBatch(sms, later.batch_id)).state, 'waiting')
    assert.equal(await sms.remaining(), 97)
    assert.deepEqual(await sms.findLedgerProblems(), [])
  })
})

// Sending one message: price, credits and gateway outcomes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onEachEngine } from '../../test/support/engines.ts'
import { phone, startSmsService } from '../../test/support/sms.ts'

onEachEngine('SMS send', (engine) => {
  test('charges by parts at the documented lengths', async () => {
    await using sms = await startSmsService(engine)
    await sms.template({ code: 'T', content: '${text}' })
    // 【Tollgate】 takes ten.
    const cases = [
      ['字'.repeat(60), 1],
      ['a'.repeat(61), 2],
      ['，'.repeat(124), 2],
      ['1'.repeat(125), 3],
      ['字'.repeat(490), 8],
      ['😀'.repeat(30), 1],
      ['😀'.repeat(31), 2],
    ] as const
    for (const [text, parts] of cases) {
      const before = await sms.remaining()
      const sent = await sms.send({ template_code: 'T', template_params: { text } })
      assert.equal(sent.body.code, 0)
      assert.equal(before - sent.body.data.remaining_credits, parts, String(text.length))
      assert.equal(await sms.remaining(), before - parts)
    }
    const before = await sms.remaining()
    const long = await sms.send({ template_code: 'T', template_params: { text: 'x'.repeat(491) } })
    assert.equal(long.body.code, 1002)
    assert.match(long.body.message, /501/)
    assert.equal(await sms.remaining(), before)
    assert.deepEqual(await sms.findLedgerProblems(), [])
  })

  test('does not expand a value that looks like a variable', async () => {
    await using sms = await startSmsService(engine)
    await sms.template({ code: 'T', content: '${a}-${b}' })
    const params = { a: '${b}', b: '$&' }
    assert.equal((await sms.send({ template_code: 'T', template_params: params })).body.code, 0)
    assert.deepEqual((await sms.records())[0].template_params, params)
  })

  test('returns 1004 without credits and stores no record', async () => {
    await using sms = await startSmsService(engine, {}, { sms: 1 })
    await sms.template({ code: 'T', content: '${text}' })
    const two = await sms.send({ template_code: 'T', template_params: { text: 'x'.repeat(100) } })
    assert.deepEqual([two.body.code, two.status], [1004, 403])
    assert.deepEqual(await sms.records(), [])
    assert.equal((await sms.send()).body.code, 0)
    assert.equal((await sms.send()).body.code, 1004)
    assert.deepEqual(await sms.findLedgerProblems(), [])
  })

  test('accepts exactly 10 of 100 concurrent sends with 10 credits', async () => {
    await using sms = await startSmsService(engine, {}, { sms: 10 })
    const answers = await Promise.all(Array.from({ length: 100 }, () => sms.send()))
    const codes = answers.map(({ body }) => body.code)
    assert.equal(codes.filter((code) => code === 0).length, 10)
    assert.equal(codes.filter((code) => code === 1004).length, 90)
    assert.equal(await sms.remaining(), 0)
    const records = await sms.records()
    assert.equal(records.length, 10)
    assert.ok(records.every(({ success }) => success))
    assert.equal(new Set(records.map((record) => record.biz_id)).size, 10)
    assert.deepEqual(await sms.findLedgerProblems(), [])
  })

  test('returns 1005, stores the reason and refunds after a refusal', async () => {
    await using sms = await startSmsService(engine)
    for (const [number, words] of [
      ['19900000001', /号码无效.*SANDBOX_REFUSED/],
      ['19900000003', /过于频繁.*SANDBOX_TOO_FREQUENT/],
    ] as const) {
      const refused = await sms.send({ phone_number: number })
      assert.deepEqual([refused.body.code, refused.status], [1005, 502])
      assert.doesNotMatch(refused.body.message, /SANDBOX/)
      const [record] = await sms.records({ phone_number: number })
      assert.equal(record.success, false)
      assert.match(record.error_message, words)
    }
    assert.equal(await sms.remaining(), 100)
    assert.deepEqual(await sms.findLedgerProblems(), [])
    // Many failures of the sandbox do not open a breaker.
    for (let i = 0; i < 7; i++) await sms.send({ phone_number: '19900000002' })
    assert.equal((await sms.send()).body.code, 0)
  })

  test('holds the credits after an ambiguous send until the sweeper refunds them once', async () => {
    await using sms = await startSmsService(engine)
    const answer = await sms.send({ phone_number: '19900000002' })
    assert.deepEqual([answer.body.code, answer.status], [1005, 502])
    assert.equal(await sms.remaining(), 99)
    const [record] = await sms.records({ phone_number: '19900000002' })
    assert.equal(record.success, false)
    assert.match(record.error_message, /未知/)
    assert.deepEqual(await sms.findLedgerProblems(), [])
    const { db } = sms.service.installation
    const open = await db.one<{ left: number; sends: number }>(
      `SELECT lease_until - ${db.now} AS left, sends FROM operation WHERE state = 'held'`,
    )
    assert.ok(open && open.left > 880_000 && open.left <= 900_000)
    assert.equal(open.sends, 1)

    await sms.sweepAll()
    await sms.sweepAll()
    assert.equal(await sms.remaining(), 100)
    const [decided] = await sms.records({ phone_number: '19900000002' })
    assert.equal(decided.success, false)
    assert.match(decided.error_message, /退回/)
    assert.deepEqual(await sms.findLedgerProblems(), [])
  })

  test('replays success and 1005 for the same Idempotency-Key', async () => {
    await using sms = await startSmsService(engine)
    for (const number of [phone, '19900000001', '19900000002']) {
      const key = { 'idempotency-key': `key-${number}` }
      const first = await sms.send({ phone_number: number }, key)
      const balance = await sms.remaining()
      const again = await sms.send({ phone_number: number }, key)
      assert.deepEqual([again.status, again.body], [first.status, first.body])
      assert.equal(again.headers.get('idempotent-replayed'), 'true')
      assert.equal(await sms.remaining(), balance)
      assert.equal((await sms.records({ phone_number: number })).length, 1)
      const other = await sms.send({ phone_number: number, template_params: { code: '9' } }, key)
      assert.equal(other.status, 422)
    }
    // What was refused before the charge is not remembered.
    const key = { 'idempotency-key': 'early' }
    assert.equal((await sms.send({ template_code: 'LATER' }, key)).body.code, 1007)
    await sms.template({ code: 'LATER' })
    assert.equal((await sms.send({ template_code: 'LATER' }, key)).body.code, 0)
    // Concurrent calls with the same key: one send.
    const many = await Promise.all(
      Array.from({ length: 10 }, () =>
        sms.send({ phone_number: '13900139000' }, { 'idempotency-key': 'many' }),
      ),
    )
    assert.ok(many.every(({ status }) => status === 200 || status === 409))
    assert.equal((await sms.records({ phone_number: '13900139000' })).length, 1)
    assert.deepEqual(await sms.findLedgerProblems(), [])
  })

  test('refunds an operation after a crash and replays a response for its key', async () => {
    await using sms = await startSmsService(engine, { OPERATION_LEASE_S: '1' })
    const { db } = sms.service.installation
    await sms.send({}, { 'idempotency-key': 'crash' })
    // As if the process had exited between the response of the gateway and the end of the operation.
    await db.write(async (tx) => {
      await tx.run(
        `UPDATE operation SET state = 'held', ended_at = NULL, response = NULL, sends = 0, lease_until = 1`,
      )
      await tx.run(`UPDATE sms_send SET state = 'sending', success = 0`)
    })
    const again = await sms.send({}, { 'idempotency-key': 'crash' })
    assert.deepEqual([again.body.code, again.headers.get('idempotent-replayed')], [1005, 'true'])
    assert.equal(await sms.remaining(), 100)
    const records = await sms.records()
    assert.equal(records.length, 1)
    assert.equal(records[0].success, false)
    assert.deepEqual(await sms.findLedgerProblems(), [])
  })

  test('logs no phone number, variable or API key', async () => {
    await using sms = await startSmsService(engine)
    await sms.send({ phone_number: '13712345678', template_params: { code: 'geheim77' } })
    await sms.send({ phone_number: '19900000002', template_params: { code: 'geheim77' } })
    await sms.send({ phone_number: '1371234567', template_params: { code: 'geheim77' } })
    const log = sms.service.logged.join('')
    for (const secret of ['13712345678', '1371234567', '19900000002', 'geheim77', sms.account.key]) {
      assert.ok(!log.includes(secret), secret)
    }
  })
})

// The SMS endpoint on both engines: responses, parameters and records.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemActor } from '../audit/audit.ts'
import { changeAccount } from '../accounts/accounts.ts'
import { findById } from '../accounts/store.ts'
import { formatDay } from '../../contract/time.ts'
import { onEachEngine } from '../../test/support/engines.ts'
import { get } from '../../test/support/service.ts'
import { phone, startSmsService } from '../../test/support/sms.ts'
import { createTemplate } from './templates.ts'

onEachEngine('SMS endpoint', (engine) => {
  test('returns exactly the documented fields and stores the record', async () => {
    await using sms = await startSmsService(engine)
    const sent = await sms.send()
    assert.equal(sent.status, 200)
    assert.deepEqual(Object.keys(sent.body), ['code', 'message', 'data'])
    assert.equal(sent.body.code, 0)
    assert.equal(sent.body.message, 'success')
    const { data } = sent.body
    assert.deepEqual(Object.keys(data).toSorted(), [
      'biz_id',
      'phone_number',
      'remaining_credits',
      'send_time',
    ])
    assert.equal(data.phone_number, phone)
    assert.match(data.biz_id, /^\d{18,20}$/)
    assert.match(data.send_time, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
    assert.equal(data.remaining_credits, 99)

    const expected = {
      phone_number: phone,
      template_code: 'CODE',
      template_params: { code: '1234' },
      sign_name: 'Tollgate',
      biz_id: data.biz_id,
      success: true,
      created_at: data.send_time,
      error_message: '',
      state: 'sent',
      receipt_time: '',
      receipt_code: '',
      batch_id: '',
    }
    assert.deepEqual(await sms.records({ biz_id: data.biz_id }), [expected])
    assert.deepEqual((await sms.call({ action: 'get_logs', phone_number: phone })).body.data, [expected])
    const today = formatDay(Date.now())
    assert.deepEqual(await sms.records({ start_date: today, end_date: today }), [expected])
    assert.deepEqual(await sms.findLedgerProblems(), [])
  })

  test('accepts GET, forms and headers under both action names', async () => {
    await using sms = await startSmsService(engine)
    const url = `${sms.service.url}/api/sms_api.php`
    const { username, key } = sms.account
    const query = new URLSearchParams({
      action: 'send',
      username,
      phone_number: phone,
      template_code: 'CODE',
      'template_params[code]': '0123',
    })
    const byGet = await get(`${url}?${query.toString()}`, { api_key: key })
    assert.equal(byGet.body.code, 0)
    const form = new URLSearchParams({
      action: 'send_sms',
      username,
      api_key: key,
      phone_number: phone,
      template_code: 'CODE',
      template_params: '{"code":"0456"}',
      sign_name: '签名',
    })
    const byForm = await fetch(url, { method: 'POST', body: form })
    assert.equal(((await byForm.json()) as { code: number }).code, 0)
    const records = await sms.records()
    assert.deepEqual(
      records.map((record) => [record.template_params.code, record.sign_name]),
      [
        ['0456', '签名'],
        ['0123', 'Tollgate'],
      ],
    )
  })

  test('names everything missing or invalid in one message', async () => {
    await using sms = await startSmsService(engine)
    const none = await sms.call({ action: 'send_sms' })
    assert.equal(none.body.code, 1001)
    assert.equal(none.status, 400)
    assert.match(none.body.message, /phone_number 缺失/)
    assert.match(none.body.message, /template_code 缺失/)
    assert.equal('data' in none.body, false)

    const mixed = await sms.call({ action: 'send_sms', phone_number: '12345', sign_name: '【x】' })
    assert.equal(mixed.body.code, 1001)
    assert.match(mixed.body.message, /phone_number 必须是11位手机号；/)
    assert.match(mixed.body.message, /sign_name/)
    assert.match(mixed.body.message, /template_code 缺失/)

    for (const number of ['1380013800', '23800138000', '15400138000', '+8613800138000']) {
      assert.equal((await sms.send({ phone_number: number })).body.code, 1002, number)
    }
    for (const params of ['text', [1], { code: { deep: 1 } }, '{"code":']) {
      assert.equal((await sms.send({ template_params: params })).body.code, 1002, JSON.stringify(params))
    }
    const wrong = await sms.send({ template_params: { kode: '1', more: '2' } })
    assert.equal(wrong.body.code, 1002)
    for (const name of ['code', 'kode', 'more']) assert.ok(wrong.body.message.includes(name), name)
    assert.equal((await sms.send({ template_params: undefined })).body.code, 1002)
    assert.equal((await sms.call({ action: 'sned' })).body.code, 1002)
    assert.equal((await sms.call({})).body.code, 1001)

    assert.equal(await sms.remaining(), 100)
    assert.deepEqual(await sms.records(), [])
  })

  test('accepts missing or empty template_params without variables', async () => {
    await using sms = await startSmsService(engine)
    await sms.template({ code: 'PLAIN', content: '今天停水。' })
    for (const params of [undefined, {}, [], '']) {
      assert.equal((await sms.send({ template_code: 'PLAIN', template_params: params })).body.code, 0)
    }
    assert.deepEqual((await sms.records())[0].template_params, {})
  })

  test('rejects suspended, expired and disabled accounts, and calls without a gateway', async () => {
    await using sms = await startSmsService(engine)
    const { db } = sms.service.installation
    const change = async (changes: Parameters<typeof changeAccount>[3]) =>
      changeAccount(db, systemActor, (await findById(db, sms.account.id))!, changes)
    await change({ smsEnabled: false })
    const off = await sms.send({ template_code: 'NOPE' })
    assert.deepEqual([off.body.code, off.status], [1006, 403])
    assert.equal((await sms.call({ action: 'get_templates' })).body.code, 0)
    await change({ smsEnabled: true, expires: '2020-01-01' })
    const expired = await sms.send()
    assert.deepEqual([expired.body.code, expired.body.message], [1004, '账户已过期'])
    assert.equal((await sms.call({ action: 'get_logs', phone_number: phone })).body.code, 0)
    await change({ suspended: true })
    for (const values of [
      { action: 'get_templates' },
      { action: 'get_logs', phone_number: phone },
      { action: 'get_credits' },
    ]) {
      const refused = await sms.call(values)
      assert.deepEqual([refused.body.code, refused.status], [1004, 403])
    }
    assert.equal((await sms.send()).body.message, '账户已停用')
    assert.equal(await sms.remaining(), 100)

    await using without = await startSmsService(engine, { SMS_GATEWAYS: 'off' })
    assert.equal((await without.send()).body.code, 1006)
  })

  test('returns 1007 for unknown, foreign and unapproved templates', async () => {
    await using sms = await startSmsService(engine)
    const other = await sms.service.account()
    await sms.template({ code: 'WAITING', status: '审核中' })
    await sms.template({ code: 'NO', status: '审核不通过', reason: '内容不符' })
    await createTemplate(
      sms.service.installation.db,
      { kind: 'account', accountId: other.id },
      { code: 'FOREIGN', name: 'x', content: 'x' },
    )
    await sms.template({ code: 'SHARED', accountId: null })
    const answers = []
    for (const code of ['NONE', 'WAITING', 'NO', 'FOREIGN', 'constructor', '__proto__']) {
      answers.push((await sms.send({ template_code: code })).body)
    }
    assert.equal(new Set(answers.map((body) => JSON.stringify(body))).size, 1)
    assert.equal(answers[0].code, 1007)
    assert.equal((await sms.send({ template_code: 'SHARED' })).body.code, 0)

    const listed = (await sms.call({ action: 'get_templates' })).body.data
    assert.deepEqual(
      listed.map((one: { template_code: string; status: string }) => [one.template_code, one.status]),
      [
        ['CODE', '审核通过'],
        ['WAITING', '审核中'],
        ['NO', '审核不通过'],
        ['SHARED', '审核通过'],
      ],
    )
    assert.deepEqual(Object.keys(listed[0]), ['template_code', 'template_name', 'template_content', 'status'])
  })

  test('uses the given signature, then that of the account, then that of the platform', async () => {
    await using sms = await startSmsService(engine, { SMS_SIGN_NAME: '平台' })
    const { db } = sms.service.installation
    await sms.send()
    await changeAccount(db, systemActor, (await findById(db, sms.account.id))!, { signName: '账户签名' })
    await sms.send()
    await sms.send({ sign_name: '这次' })
    assert.deepEqual(
      (await sms.records()).map((record) => record.sign_name),
      ['这次', '账户签名', '平台'],
    )
    for (const bad of ['一', '【好】', 'x'.repeat(21), 'a[b']) {
      assert.equal((await sms.send({ sign_name: bad })).body.code, 1002, bad)
    }
  })

  test('lists at most 20 own records, newest first, by a valid filter', async () => {
    await using sms = await startSmsService(engine)
    const bad = [
      [{}, 1001],
      [{ end_date: '2026-01-01' }, 1001],
      [{ start_date: '2026-02-30' }, 1002],
      [{ start_date: '2026-1-1' }, 1002],
      [{ start_date: 'yesterday' }, 1002],
      [{ start_date: '2026-01-02', end_date: '2026-01-01' }, 1002],
      [{ phone_number: phone, end_date: '2026-13-01' }, 1002],
      [{ phone_number: '123' }, 1002],
    ] as const
    for (const [values, code] of bad) {
      assert.equal(
        (await sms.call({ action: 'get_status', ...values })).body.code,
        code,
        JSON.stringify(values),
      )
    }
    const both = await sms.call({ action: 'get_status', start_date: 'x', end_date: 'y', phone_number: 'z' })
    for (const name of ['start_date', 'end_date', 'phone_number']) assert.ok(both.body.message.includes(name))
    const neither = await sms.call({ action: 'get_status', end_date: 'y' })
    assert.deepEqual(neither.body, {
      code: 1001,
      message: 'end_date 必须是 YYYY-MM-DD 格式的日期；biz_id、phone_number、start_date 至少填写一个',
    })
    assert.equal((await sms.call({ action: 'get_status', biz_id: ['1'] })).body.code, 1002)

    const ids: string[] = []
    for (let i = 0; i < 22; i++) ids.push((await sms.send()).body.data.biz_id)
    assert.deepEqual(ids, ids.toSorted())
    assert.equal(new Set(ids).size, 22)
    const shown = (await sms.records()).map((record) => record.biz_id)
    assert.deepEqual(shown, ids.toReversed().slice(0, 20))

    const today = formatDay(Date.now())
    const tomorrow = formatDay(Date.now() + 86_400_000)
    assert.equal((await sms.records({ start_date: today })).length, 20)
    assert.deepEqual(await sms.records({ start_date: tomorrow }), [])
    assert.deepEqual(await sms.records({ phone_number: phone, end_date: '2020-01-01' }), [])
    assert.deepEqual(await sms.records({ biz_id: ids[0], phone_number: '13900139000' }), [])
    for (const none of ['100000000000009999', 'abc', '1'])
      assert.deepEqual(await sms.records({ biz_id: none }), [])

    const other = await sms.service.account()
    const foreign = await sms.call({
      username: other.username,
      api_key: other.key,
      action: 'get_status',
      biz_id: ids[0],
    })
    assert.deepEqual(foreign.body.data, [])
  })

  test('responds in English on request', async () => {
    await using sms = await startSmsService(engine)
    const answer = await sms.send({ phone_number: '19900000001' }, { 'accept-language': 'en' })
    assert.match(answer.body.message, /^Sending failed: the number/)
  })
})

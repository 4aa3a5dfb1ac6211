// Replies of recipients: pushed by vendors, matched, stored once, listed, and unsubscribing. Pages of send records.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { isMarketingHour, isStopWord, recordIdOf } from '../contract/sms-text.ts'
import { requireSendingHour } from '../server/sms/send-parameters.ts'
import { onEachEngine } from './support/engines.ts'
import { admin } from './support/service.ts'
import { type SmsService, startSmsService } from './support/sms.ts'

const secret = 'receipt-secret-of-the-tests'
const sharedSecret = 'secret of the http gateway'

onEachEngine('SMS replies', (engine) => {
  let sms: SmsService
  before(async () => {
    sms = await startSmsService(engine, {
      SMS_RECEIPT_SECRET_ALIYUN: secret,
      SMS_RECEIPT_SECRET_TENCENT: secret,
      SMS_RECEIPT_SECRET_HTTP: secret,
      SMS_HTTP_SECRET: sharedSecret,
    })
    await sms.service.installation.db.write((tx) =>
      tx.run(`UPDATE account SET event_types = 'sms.reply' WHERE id = ?`, [sms.account.id]),
    )
  })
  after(() => sms[Symbol.asyncDispose]())

  let sequence = 0
  async function push(gateway: string, body: unknown, headers: Record<string, string> = {}) {
    const response = await fetch(`${sms.service.url}/receipts/sms/${gateway}/${secret}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    return { status: response.status, body: await response.json() }
  }
  const aliyun = (phone: string, content: string, id = `${(sequence += 1)}`) =>
    push('aliyun', [
      { phone_number: phone, content, send_time: '2026-01-02 11:04:05', dest_code: '1234', sequence_id: id },
    ])
  const replies = async (values: Record<string, unknown> = {}) =>
    (await sms.call({ action: 'get_replies', ...values })).body

  it('stores a reply once and lists it', async () => {
    const phone = '13800138001'
    const sent = await sms.send({ phone_number: phone })
    const first = await aliyun(phone, '好的', 'same')
    assert.deepEqual(first, { status: 200, body: { code: 0, msg: '接收成功' } })
    assert.equal((await aliyun(`+86${phone}`, '好的', 'same')).status, 200)
    const { code, data, next_cursor: next } = await replies({ phone_number: phone })
    assert.equal(code, 0)
    assert.equal(next, null)
    assert.deepEqual(
      data.map(({ received_at: at, ...reply }: Record<string, unknown>) => {
        assert.match(String(at), /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
        return reply
      }),
      [{ phone_number: phone, content: '好的', sign_name: 'Tollgate', biz_id: sent.body.data.biz_id }],
    )
    assert.equal((await sms.send({ phone_number: phone })).body.code, 0)
  })

  it('the words unsubscribe the number for that signature only', async () => {
    for (const [index, word] of ['退订', ' td ', 'T', 'n', 'ｒ'].entries()) {
      const phone = `1380013810${index}`
      await sms.send({ phone_number: phone, sign_name: '云帆商城' })
      await aliyun(phone, word)
      const remaining = await sms.remaining()
      const stopped = await sms.send({ phone_number: phone, sign_name: '云帆商城' })
      assert.deepEqual(stopped.body, { code: 1002, message: '号码已退订' })
      assert.equal(await sms.remaining(), remaining)
      assert.equal((await sms.send({ phone_number: phone })).body.code, 0)
    }
    const { environment } = sms.service.storage
    const listed = JSON.parse(
      (await admin(environment, 'stop', 'list', sms.account.username, '--json')).stdout,
    )
    assert.equal(listed.stops.length, 5)
    assert.deepEqual([listed.stops[0].sign_name, listed.stops[0].source], ['云帆商城', 'reply'])
    await admin(environment, 'stop', 'remove', sms.account.username, '13800138100')
    assert.equal((await sms.send({ phone_number: '13800138100', sign_name: '云帆商城' })).body.code, 0)
  })

  it('reads the formats of Tencent and of the HTTP gateway', async () => {
    const phone = '13800138002'
    await sms.send({ phone_number: phone, sign_name: '云帆商城' })
    await sms.send({ phone_number: phone })
    const reply = {
      extend: '',
      mobile: phone,
      nationcode: '86',
      sign: '云帆商城',
      text: 'R',
      time: 1_457_336_869,
    }
    assert.deepEqual(await push('tencent', reply), { status: 200, body: { result: 0, errmsg: 'OK' } })
    await push('tencent', reply)
    const { data } = await replies({ phone_number: phone })
    assert.deepEqual(
      data.map((one: Record<string, unknown>) => [one['content'], one['sign_name']]),
      [['R', '云帆商城']],
    )
    const body = { replies: [{ id: 'h1', phone_number: phone, content: '收到', sign_name: 'Tollgate' }] }
    assert.equal((await push('http', body)).status, 401)
    const timestamp = String(Math.floor(Date.now() / 1000))
    const signature = createHmac('sha256', sharedSecret)
      .update(`${timestamp}.${JSON.stringify(body)}`)
      .digest('hex')
    const signed = { 'x-tollgate-timestamp': timestamp, 'x-tollgate-signature': `sha256=${signature}` }
    assert.equal((await push('http', body, signed)).status, 200)
    assert.equal((await replies({ phone_number: phone })).data[0].content, '收到')
    assert.equal((await push('aliyun', [{ phone_number: phone }])).status, 400)
    assert.equal((await push('tencent', 'text')).status, 400)
  })

  it('a reply without a message of the last 7 days is the operator’s', async () => {
    const { db } = sms.service.installation
    const phone = '13800138003'
    await sms.send({ phone_number: phone })
    await db.write((tx) =>
      tx.run('UPDATE sms_send SET created_at = created_at - ? WHERE phone = ?', [7 * 86_400_000 + 1, phone]),
    )
    await aliyun(phone, 'T')
    await aliyun('13800138004', '谁')
    await push('tencent', { mobile: phone, nationcode: '86', sign: '别的签名', text: '退订', time: 1 })
    assert.deepEqual((await replies({ phone_number: phone })).data, [])
    assert.equal((await sms.send({ phone_number: phone })).body.code, 0)
    const unmatched = await db.all('SELECT id FROM sms_reply WHERE account_id IS NULL')
    assert.equal(unmatched.length, 3)
  })

  it('the 7 days of a scheduled message begin when it is sent', async () => {
    const { db } = sms.service.installation
    const phone = '13800138008'
    const [scheduled] = [await sms.send({ phone_number: phone }), await sms.send({ phone_number: phone })]
    await db.write(async (tx) => {
      await tx.run('UPDATE sms_send SET created_at = created_at - 864000000 WHERE phone = ?', [phone])
      await tx.run('UPDATE sms_send SET batch_id = 1, sent_at = created_at + 863000000 WHERE id = ?', [
        recordIdOf(scheduled.body.data.biz_id)!,
      ])
    })
    await aliyun(phone, '好')
    assert.equal((await replies({ phone_number: phone })).data[0]?.biz_id, scheduled.body.data.biz_id)
  })

  it('emits sms.reply in the same transaction', async () => {
    const { db } = sms.service.installation
    const phone = '13800138005'
    await sms.send({ phone_number: phone })
    await db.write((tx) =>
      tx.run(
        `INSERT INTO event_endpoint (account_id, kind, url, event_types, state, created_at)
         VALUES (?, 'webhook', 'http://127.0.0.1:9/', 'sms.reply', 'active', 0)`,
        [sms.account.id],
      ),
    )
    await aliyun(phone, 'TD')
    const event = await db.one<{ data: string }>(
      `SELECT data FROM event WHERE type = 'sms.reply' ORDER BY id DESC`,
    )
    const data = JSON.parse(event!.data)
    assert.deepEqual([data.phone_number, data.content, data.stopped], [phone, 'TD', true])
    assert.match(data.received_at, /\+08:00$/)
  })

  it('lists replies and records in pages that belong to their query', async () => {
    const phone = '13800138006'
    for (let i = 0; i < 3; i += 1) await sms.send({ phone_number: phone })
    for (const text of ['一', '二', '三']) await aliyun(phone, text)
    const first = await replies({ phone_number: phone, limit: 2 })
    assert.deepEqual(
      first.data.map((one: { content: string }) => one.content),
      ['三', '二'],
    )
    const second = await replies({ phone_number: phone, limit: 5, cursor: first.next_cursor })
    assert.deepEqual(
      second.data.map((one: { content: string }) => one.content),
      ['一'],
    )
    assert.equal(second.next_cursor, null)
    for (const values of [
      { cursor: first.next_cursor },
      { phone_number: phone, cursor: 'x' },
      { phone_number: phone, limit: 0 },
      { phone_number: phone, limit: 101 },
      { phone_number: '1' },
      { start_date: '2026-02-30' },
    ])
      assert.equal((await replies(values)).code, 1002, JSON.stringify(values))

    const status = async (values: Record<string, unknown>) =>
      (await sms.call({ action: 'get_status', phone_number: phone, ...values })).body
    assert.deepEqual(Object.keys(await status({})), ['code', 'message', 'data'])
    const page = await status({ limit: 2 })
    assert.equal(page.data.length, 2)
    const rest = await status({ limit: 2, cursor: page.next_cursor })
    assert.deepEqual([rest.data.length, rest.next_cursor], [1, null])
    assert.ok(rest.data[0].biz_id < page.data[1].biz_id)
    assert.equal((await status({ cursor: first.next_cursor })).code, 1002)
    assert.equal(
      (await status({ cursor: page.next_cursor, start_date: '2026-01-01' })).message,
      'cursor 无效',
    )
    assert.equal((await sms.call({ action: 'get_status', limit: 2 })).body.code, 1001)
    // A cursor of one account is no cursor of another.
    const other = await sms.service.account({})
    const foreign = await status({ username: other.username, api_key: other.key, cursor: page.next_cursor })
    assert.equal(foreign.code, 1002)
  })

  it('records have a state and what the receipt said', async () => {
    const { db } = sms.service.installation
    const phone = '13800138007'
    const states = async () => {
      const [record] = await sms.records({ phone_number: phone })
      return [record.state, record.receipt_code, record.success]
    }
    const sent = await sms.send({ phone_number: phone })
    assert.deepEqual(await states(), ['sent', '', true])
    await db.write((tx) => tx.run(`UPDATE sms_send SET gateway = 'aliyun' WHERE phone = ?`, [phone]))
    const remaining = await sms.remaining()
    const receipt = { phone_number: phone, success: false, err_code: 'MOBILE_NOT_ON_SERVICE' }
    await push('aliyun', [{ ...receipt, out_id: sent.body.data.biz_id, biz_id: 'x^0' }])
    assert.deepEqual(await states(), ['failed', 'MOBILE_NOT_ON_SERVICE', false])
    const [record] = await sms.records({ phone_number: phone })
    assert.match(record.receipt_time, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
    assert.equal(await sms.remaining(), remaining)
    await sms.send({ phone_number: '19900000002' })
    assert.equal((await sms.records({ phone_number: '19900000002' }))[0].state, 'unknown')
    await sms.send({ phone_number: '19900000001' })
    assert.equal((await sms.records({ phone_number: '19900000001' }))[0].state, 'failed')
    assert.deepEqual(await sms.findLedgerProblems(), [])
  })
})

describe('marketing hours and stop words', () => {
  it('marketing messages are sent from 08:00 to 21:00 in Shanghai', () => {
    const at = (time: string) => Date.parse(`2026-11-16T${time}+08:00`)
    assert.deepEqual(
      ['07:59:59', '08:00:00', '20:59:59', '21:00:00', '00:00:00'].map((time) => isMarketingHour(at(time))),
      [false, true, true, false, false],
    )
    assert.throws(() => requireSendingHour({ type: 'marketing' }, at('22:00:00')), {
      code: 1002,
      text: {
        zh: '营销短信只能在 08:00 至 21:00 发送',
        en: 'Marketing messages are sent from 08:00 to 21:00 only, Asia/Shanghai',
      },
    })
    requireSendingHour({ type: 'notification' }, at('22:00:00'))
    requireSendingHour({ type: 'marketing' }, at('12:00:00'))
  })

  it('only whole words unsubscribe', () => {
    for (const word of ['退订', 'TD', 't', ' N\n', 'r', 'ＴＤ']) assert.equal(isStopWord(word), true, word)
    for (const word of ['TEST', '不退订', 'NO', '', '收到T', 'RR'])
      assert.equal(isStopWord(word), false, word)
  })
})

// One-time codes through the API, against a gateway on loopback that receives the messages.
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { onEachEngine } from './support/engines.ts'
import { type FakeUpstream, json, startFakeUpstream } from './support/fake-upstream.ts'
import { until } from './support/until.ts'
import { get } from './support/service.ts'
import { type SmsService, startSmsService } from './support/sms.ts'

onEachEngine('SMS codes', (engine) => {
  let upstream: FakeUpstream
  let sms: SmsService
  let next: (body: Record<string, unknown>) => unknown = () => ({ result: 'accepted' })
  const received: { phone: string; content: string; params: Record<string, string> }[] = []

  before(async () => {
    upstream = await startFakeUpstream((request) => {
      const body = JSON.parse(request.body)
      const { phone_number: number, content, template_params: params } = body
      if (body.action === 'send') received.push({ phone: number, content, params })
      return json(200, next(body))
    })
    sms = await startSmsService(
      engine,
      { SMS_GATEWAYS: 'http', SMS_HTTP_URL: upstream.url, SMS_HTTP_SECRET: 'secret of the gateway' },
      { sms: 300 },
    )
    await sms.template({ code: 'WITH_MINUTES', content: '验证码${code}，${minutes}分钟内有效。' })
    await sms.template({ code: 'OTHER', content: '${name}的验证码${code}' })
  })
  after(async () => {
    await sms[Symbol.asyncDispose]()
    await upstream.close()
  })

  let numbers = 0
  const newPhone = () => `1380013${String(8000 + (numbers += 1))}`
  const send = (phone: string, values: Record<string, unknown> = {}, headers = {}) =>
    sms.call({ action: 'send_code', phone_number: phone, template_code: 'CODE', ...values }, headers)
  const check = async (phone: string, code: string, values: Record<string, unknown> = {}) =>
    (await sms.call({ action: 'check_code', phone_number: phone, code, ...values })).body.data
  const codeTo = (phone: string) => received.findLast((one) => one.phone === phone)!.params['code']!
  const otherThan = (code: string) => `${(Number(code[0]) + 1) % 10}${code.slice(1)}`

  it('sends a code that is verified once', async () => {
    const phone = newPhone()
    const sent = await send(phone, { template_code: 'WITH_MINUTES', length: 8, ttl_s: 90 })
    assert.equal(sent.status, 200, JSON.stringify(sent.body))
    const { data } = sent.body
    assert.deepEqual(Object.keys(data), [
      'phone_number',
      'biz_id',
      'send_time',
      'remaining_credits',
      'expires_at',
    ])
    assert.equal(Date.parse(`${data.expires_at}Z`) - Date.parse(`${data.send_time}Z`), 90_000)
    const code = codeTo(phone)
    assert.match(code, /^\d{8}$/)
    assert.equal(received.at(-1)!.content, `【Tollgate】验证码${code}，2分钟内有效。`)

    assert.deepEqual(await check(phone, otherThan(code)), { verified: false, attempts_left: 4 })
    assert.deepEqual(await check(phone, code, { purpose: 'pay' }), { verified: false, attempts_left: 0 })
    assert.equal((await check(phone, code)).verified, true)
    assert.deepEqual(await check(phone, code), { verified: false, attempts_left: 0 })
  })

  it('accepts no code after five wrong ones, also when they come at the same time', async () => {
    const phone = newPhone()
    await send(phone)
    const code = codeTo(phone)
    const wrong = await Promise.all(Array.from({ length: 20 }, () => check(phone, otherThan(code))))
    const left = wrong.map((one) => one.attempts_left).toSorted((one, other) => other - one)
    assert.deepEqual(left.slice(0, 5), [4, 3, 2, 1, 0])
    assert.ok(left.slice(5).every((one) => one === 0))
    assert.deepEqual(await check(phone, code), { verified: false, attempts_left: 0 })
  })

  it('verifies exactly one of 100 right codes at the same time', async () => {
    const phone = newPhone()
    await send(phone)
    const code = codeTo(phone)
    const checked = await Promise.all(Array.from({ length: 100 }, () => check(phone, code)))
    assert.equal(checked.filter(({ verified }) => verified).length, 1)
  })

  it('refuses another code within 60 seconds, free, also at the same time', async () => {
    const phone = newPhone()
    const remaining = await sms.remaining()
    const sent = await Promise.all(Array.from({ length: 10 }, () => send(phone)))
    assert.equal(sent.filter(({ body }) => body.code === 0).length, 1)
    const refused = sent.filter(({ body }) => body.code === 1002)
    assert.equal(refused.length, 9)
    assert.match(refused[0]!.body.message, /^发送过于频繁，请 \d+ 秒后再试$/)
    assert.ok(Number(refused[0]!.headers.get('retry-after')) > 0)
    assert.equal(await sms.remaining(), remaining - 1)
    assert.equal((await send(phone, { purpose: 'pay' })).body.code, 0)
    // A new code replaces the old one after the pause.
    const { db } = sms.service.installation
    const first = codeTo(phone)
    await db.write((tx) => tx.run('UPDATE sms_code SET sent_at = sent_at - 60000 WHERE phone = ?', [phone]))
    assert.equal((await send(phone, { purpose: 'pay' })).body.code, 0)
    const second = codeTo(phone)
    if (first !== second) assert.equal((await check(phone, first, { purpose: 'pay' })).verified, false)
    assert.equal((await check(phone, second, { purpose: 'pay' })).verified, true)
    // A verified code does not lift the pause.
    assert.equal((await send(phone, { purpose: 'pay' })).body.code, 1002)
  })

  it('a code of a refunded message is void, and another one can be sent immediately', async () => {
    const phone = newPhone()
    next = () => ({ result: 'refused', reason: 'number', code: 'X' })
    assert.equal((await send(phone)).body.code, 1005)
    const failed = codeTo(phone)
    next = () => ({ result: 'accepted' })
    assert.deepEqual(await check(phone, failed), { verified: false, attempts_left: 0 })
    assert.equal((await send(phone)).body.code, 0)
    assert.equal((await check(phone, codeTo(phone))).verified, true)
  })

  it('replays the first response and sends once', async () => {
    const phone = newPhone()
    const headers = { 'idempotency-key': `code-${phone}` }
    const first = await send(phone, {}, headers)
    const again = await send(phone, {}, headers)
    assert.deepEqual(again.body, first.body)
    assert.equal(again.headers.get('idempotent-replayed'), 'true')
    assert.equal(received.filter((one) => one.phone === phone).length, 1)
    assert.equal((await send(phone, { length: 4 }, headers)).status, 422)
    const asSend = await sms.call({ action: 'send_sms', phone_number: phone, template_code: 'CODE' }, headers)
    assert.equal(asSend.status, 422)
  })

  it('expired and unknown codes have the same answer', async () => {
    const phone = newPhone()
    await send(phone)
    const { db } = sms.service.installation
    await db.write((tx) => tx.run('UPDATE sms_code SET expires_at = 1 WHERE phone = ?', [phone]))
    const none = { verified: false, attempts_left: 0 }
    assert.deepEqual(await check(phone, codeTo(phone)), none)
    assert.deepEqual(await check(newPhone(), '123456'), none)
  })

  it('names every problem, and charges nothing', async () => {
    const remaining = await sms.remaining()
    const wrong = await send('123', { length: 9, ttl_s: 10, purpose: 'x'.repeat(33), sign_name: '【' })
    assert.equal(wrong.body.code, 1002)
    for (const name of ['phone_number', 'length', 'ttl_s', 'purpose', 'sign_name'])
      assert.match(wrong.body.message, new RegExp(`${name} `))
    assert.equal((await send(newPhone(), { template_code: 'OTHER' })).body.code, 1002)
    assert.equal((await send(newPhone(), { template_code: 'NONE' })).body.code, 1007)
    assert.equal((await send(newPhone(), { sign_name: '陌生签名' })).body.message, '签名未通过审核')
    assert.equal((await sms.call({ action: 'check_code' })).body.message, 'phone_number 缺失；code 缺失')
    assert.equal(await sms.remaining(), remaining)
  })

  it('a code whose message was not delivered is void with the refund, and another can be sent at once', async () => {
    const phone = newPhone()
    const had = await sms.remaining()
    next = ({ action }) => (action === 'query' ? { result: 'found', status: 'failed', code: 'OFF' } : {})
    assert.equal((await send(phone)).body.code, 1005)
    assert.equal(await sms.remaining(), had - 1)
    const code = codeTo(phone)
    await sms.sweepAll()
    next = () => ({ result: 'accepted' })
    assert.equal(await sms.remaining(), had)
    assert.deepEqual(await check(phone, code), { verified: false, attempts_left: 0 })
    assert.equal((await send(phone)).status, 200)
    assert.equal((await check(phone, codeTo(phone))).verified, true)
  })

  it('the code is in no record, log, event or table', async () => {
    const phone = newPhone()
    await sms.service.installation.db.write((tx) =>
      tx.run(`UPDATE account SET event_types = '*' WHERE id = ?`, [sms.account.id]),
    )
    await send(phone, { length: 8 }, { 'idempotency-key': `secret-${phone}` })
    const code = codeTo(phone)
    assert.deepEqual((await sms.records({ phone_number: phone }))[0].template_params, { code: '******' })
    await check(phone, otherThan(code))
    const url = `${sms.service.url}/api/sms_api.php?action=check_code&phone_number=${phone}&code=${code}`
    const last = await get(`${url}&username=${sms.account.username}`, { api_key: sms.account.key })
    assert.equal(last.body.data.verified, true)
    const { db } = sms.service.installation
    const logged = 'SELECT parameters FROM request_log WHERE request_id = ?'
    await until(async () => (await db.one(logged, [last.headers.get('x-request-id')])) !== undefined)
    const tables = await db.all<{ name: string }>(
      engine === 'sqlite'
        ? `SELECT name FROM sqlite_master WHERE type = 'table'`
        : `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = current_schema()`,
    )
    assert.ok(tables.some(({ name }) => name === 'sms_send'))
    for (const { name } of tables) {
      const text = JSON.stringify(await db.all(`SELECT * FROM ${name}`))
      assert.equal(text.includes(code), false, name)
    }
    assert.equal(sms.service.logged.join('').includes(code), false)
    assert.deepEqual(await sms.findLedgerProblems(), [])
  })
})

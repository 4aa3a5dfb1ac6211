// The generic HTTP gateway against a server on loopback that verifies the signature.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, test } from 'node:test'
import fc from 'fast-check'
import {
  cutBeforeHeaders,
  cutInBody,
  hang,
  html502,
  json,
  late,
  type RecordedRequest,
  startFakeUpstream,
  text,
} from '../../../test/support/fake-upstream.ts'
import { aliyunReceipts } from './aliyun.ts'
import { createHttpGateway, createHttpReceipts } from './http.ts'
import { tencentReceipts } from './tencent.ts'
import { receiptRequest } from '../receipts.ts'

const upstream = await startFakeUpstream()
after(() => upstream.close())

const secret = 'a secret of the two'
const url = `${upstream.url}sms?v=1`
const gateway = createHttpGateway({ url, secret, timeoutMs: 60_000 })
/** For a server that does not respond. The request must be sent within this time, so it is not shorter. */
const impatient = createHttpGateway({ url, secret, timeoutMs: 1_500 })

const message = {
  bizId: '100000000000000001',
  phone: '13800138000',
  signName: '签名',
  templateCode: 'CODE',
  templateId: 'T1',
  variables: [{ name: 'code', value: '1234' }],
  text: '【签名】1234',
}

function sign(body: string, timestamp: string): string {
  return `sha256=${createHmac('sha256', secret).update(timestamp).update('.').update(body).digest('hex')}`
}

function isSigned(request: RecordedRequest): boolean {
  const timestamp = request.headers['x-tollgate-timestamp'] ?? ''
  const fresh = Math.abs(Number(timestamp) - Date.now() / 1000) < 300
  return fresh && request.headers['x-tollgate-signature'] === sign(request.body, timestamp)
}

test('sends signed JSON with all fields', async () => {
  upstream.handle((request) => {
    assert.ok(isSigned(request))
    assert.equal(request.target, '/sms?v=1')
    assert.deepEqual(JSON.parse(request.body), {
      action: 'send',
      biz_id: '100000000000000001',
      phone_number: '13800138000',
      sign_name: '签名',
      template_code: 'T1',
      template_params: { code: '1234' },
      content: '【签名】1234',
    })
    return json(200, { result: 'accepted', id: 'x1' })
  })
  assert.deepEqual(await gateway.send(message), { kind: 'accepted', value: { gatewayId: 'x1' } })
})

test('an id that is a long number is the same one in a response and in a receipt', async () => {
  const id = '1790123456789012345'
  upstream.handle(() => text(200, `{"result":"accepted","id":${id}}`))
  assert.deepEqual(await gateway.send(message), { kind: 'accepted', value: { gatewayId: id } })
  const body = `{"receipts":[{"id":${id},"phone_number":"13800138000","status":"delivered"}]}`
  const timestamp = String(Math.floor(Date.now() / 1000))
  const headers = { 'x-tollgate-timestamp': timestamp, 'x-tollgate-signature': sign(body, timestamp) }
  const parsed = createHttpReceipts(secret).parse(receiptRequest(headers, body))
  assert.deepEqual(parsed.kind === 'receipts' && parsed.statuses.map(({ gatewayId }) => gatewayId), [id])
})

test('a receipt with the text of the message is no reply', () => {
  const receipt = { biz_id: '100000000000000001', phone_number: '13800138000', status: 'delivered' }
  const reply = { id: 'r1', phone_number: '13800138000', content: 'TD', biz_id: receipt.biz_id }
  const body = JSON.stringify({ receipts: [{ ...receipt, content: message.text }], replies: [reply] })
  const timestamp = String(Math.floor(Date.now() / 1000))
  const headers = { 'x-tollgate-timestamp': timestamp, 'x-tollgate-signature': sign(body, timestamp) }
  const parsed = createHttpReceipts(secret).parse(receiptRequest(headers, body))
  assert.ok(parsed.kind === 'receipts')
  assert.deepEqual(
    [parsed.statuses.map(({ bizId }) => bizId), parsed.replies.map(({ content }) => content)],
    [[receipt.biz_id], ['TD']],
  )
})

test('only the four documented results have a meaning', async () => {
  const cases = [
    [{ result: 'accepted' }, { kind: 'accepted', value: { gatewayId: undefined } }],
    [
      { result: 'refused', reason: 'number', code: 'E1' },
      { kind: 'refused', code: 'E1', reason: 'number' },
    ],
    [
      { result: 'refused', reason: 'whatever' },
      { kind: 'refused', code: 'no_code', reason: 'content' },
    ],
    [
      { result: 'throttled', code: 'E2' },
      { kind: 'throttled', concerns: 'recipient', reason: 'E2' },
    ],
    [
      { result: 'not_sent', code: 'E3' },
      { kind: 'not_sent', reason: 'E3' },
    ],
    [
      { result: 'not_sent', code: 'mail to 13800138000!' },
      { kind: 'not_sent', reason: 'no_code' },
    ],
  ] as const
  for (const [answer, expected] of cases) {
    upstream.handle(() => json(200, answer))
    assert.deepEqual(await gateway.send(message), expected)
  }
  const unclear = [
    json(200, {}),
    json(200, { result: 'ACCEPTED' }),
    json(200, { result: true }),
    json(201, { result: 'accepted' }),
    json(500, { result: 'not_sent' }),
    text(200, 'accepted'),
    html502(),
    cutBeforeHeaders(),
    cutInBody(),
  ]
  for (const behaviour of unclear) {
    upstream.handle(() => behaviour)
    assert.equal((await gateway.send(message)).kind, 'ambiguous')
  }
  const silent = [hang(), late(3_000, json(200, { result: 'accepted' }))]
  upstream.handle(() => silent.pop()!)
  for (const { kind } of await Promise.all(silent.map(() => impatient.send(message))))
    assert.equal(kind, 'ambiguous')
})

test('any response has one of the five outcomes, and only accepted is accepted', async () => {
  await fc.assert(
    fc.asyncProperty(fc.json(), async (body) => {
      upstream.handle(() => text(200, body))
      const { kind } = await gateway.send(message)
      const value: unknown = JSON.parse(body)
      const word = typeof value === 'object' && value !== null && 'result' in value ? value.result : undefined
      assert.equal(kind === 'accepted', word === 'accepted')
    }),
    { numRuns: 50 },
  )
})

test('a query', async () => {
  const question = { bizId: '100000000000000001', gatewayId: 'x1', phone: '13800138000', sentAt: 5_000 }
  upstream.handle((request) => {
    assert.ok(isSigned(request))
    assert.deepEqual(JSON.parse(request.body), {
      action: 'query',
      biz_id: '100000000000000001',
      id: 'x1',
      phone_number: '13800138000',
      sent_at: 5,
    })
    return json(200, { result: 'found', status: 'failed', code: 'E9' })
  })
  assert.deepEqual(await gateway.queryStatus!(question), [
    { bizId: question.bizId, gatewayId: undefined, phone: question.phone, state: 'undelivered', code: 'E9' },
  ])
  upstream.handle(() => json(200, { result: 'not_found' }))
  assert.deepEqual(await gateway.queryStatus!(question), [])
  for (const behaviour of [json(404, {}), json(200, { result: 'found', status: 'x' })]) {
    upstream.handle(() => behaviour)
    assert.equal(await gateway.queryStatus!(question), undefined)
  }
  upstream.handle(() => hang())
  assert.equal(await impatient.queryStatus!(question), undefined)
})

test('the probe', async () => {
  upstream.handle((request) => (isSigned(request) ? json(200, { result: 'pong' }) : json(401, {})))
  assert.deepEqual(await gateway.probe(), { ok: true, detail: 'pong' })
  const wrong = createHttpGateway({ url: upstream.url, secret: 'x', timeoutMs: 60_000 })
  assert.deepEqual(await wrong.probe(), { ok: false, detail: 'http_401' })
})

test('receipts must be signed, recent and well-formed', () => {
  const now = 1_700_000_000
  const form = createHttpReceipts(secret, () => now * 1000)
  const read = (value: unknown, timestamp = String(now), signature?: string) => {
    const body = typeof value === 'string' ? value : JSON.stringify(value)
    const headers = {
      'x-tollgate-timestamp': timestamp,
      'x-tollgate-signature': signature ?? sign(body, timestamp),
    }
    return form.parse(receiptRequest(headers, body)).kind
  }
  const good = {
    receipts: [{ biz_id: '100000000000000001', phone_number: '13800138000', status: 'delivered' }],
  }
  assert.equal(read(good), 'receipts')
  assert.equal(read(good, String(now - 301)), 'forged')
  assert.equal(read(good, String(now + 301)), 'forged')
  assert.equal(read(good, String(now), sign('other', String(now))), 'forged')
  assert.equal(read(good, String(now), 'sha256='), 'forged')
  assert.equal(read(good, 'soon'), 'forged')
  assert.equal(form.parse(receiptRequest({}, JSON.stringify(good))).kind, 'forged')
  for (const bad of [
    '{',
    [],
    {},
    { receipts: {} },
    { receipts: [{}] },
    { receipts: [{ ...good.receipts[0], status: 'accepted' }] },
  ]) {
    assert.equal(read(bad), 'malformed', JSON.stringify(bad))
  }
})

test('172 a push with more names than a request body may have is malformed, in every format', () => {
  const names = Object.fromEntries(Array.from({ length: 3_000 }, (_, i) => [`name${i}`, 1]))
  const timestamp = '1700000000'
  const pushes = [
    [aliyunReceipts, [{ phone_number: '13800138000', success: true, out_id: '1', ...names }]],
    [tencentReceipts, [{ mobile: '13800138000', report_status: 'SUCCESS', sid: '1', ...names }]],
    [
      createHttpReceipts(secret, () => 1_700_000_000_000),
      { receipts: [{ biz_id: '1', phone_number: '13800138000', status: 'delivered', ...names }] },
    ],
  ] as const
  for (const [format, push] of pushes) {
    const body = JSON.stringify(push)
    const headers = { 'x-tollgate-timestamp': timestamp, 'x-tollgate-signature': sign(body, timestamp) }
    assert.deepEqual(format.parse(receiptRequest(headers, body)), { kind: 'malformed' })
  }
})

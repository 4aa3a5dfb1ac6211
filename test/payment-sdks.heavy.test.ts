// The vendors' packages judge our signatures, answers and bills, and we judge theirs.
import assert from 'node:assert/strict'
import { createPrivateKey, createPublicKey } from 'node:crypto'
import { describe, it } from 'node:test'
import { AlipaySdk } from 'alipay-sdk'
import Stripe from 'stripe'
import { Aes, Formatter, Rsa, Wechatpay } from 'wechatpay-axios-plugin'
import { wechatpayRows } from '../server/payments/bills/rows.ts'
import { gunzip, linesOf } from '../server/payments/bills/lines.ts'
import type { PaymentOrder } from '../server/payments/port.ts'
import { createAlipay } from '../server/payments/providers/alipay.ts'
import { createStripe } from '../server/payments/providers/stripe.ts'
import { createWechatpay } from '../server/payments/providers/wechatpay.ts'
import { wechatpayBill } from './support/fake-bills.ts'
import { appId, startAlipay } from './support/fake-alipay.ts'
import { merchant, stranger, vendor } from './support/fake-payments.ts'
import { startStripe, webhookSecret } from './support/fake-stripe.ts'
import { apiV3Key, mchId, publicKeyId, startWechatpay } from './support/fake-wechatpay.ts'

const serial = '444F4864EA9B34415C1D2E3F405162738495A6B7'
const number = 'T20260102030405ABCDEFGHJK'
const order: PaymentOrder = {
  number,
  amount: 1999,
  currency: 'CNY',
  package_name: '基础包 A',
  pay_token: 't',
  provider_ref: null,
  provider_expires_at: Date.now() + 3_600_000,
  sandbox_paid_at: null,
}

const addresses = {
  notifyUrl: () => 'https://open.example.com/payments/notify/x',
  returnUrl: () => 'https://open.example.com/console/orders?open=1&x=a b',
  cashierUrl: () => '',
}
const keys = {
  privateKey: createPrivateKey(merchant.privateKey),
  publicKey: createPublicKey(vendor.publicKey),
  timeoutMs: 30_000,
}

describe('vendor packages of payments', () => {
  it('alipay-sdk accepts our signatures, and we accept its own', async () => {
    await using fake = await startAlipay()
    const endpoint = fake.settings['ALIPAY_ENDPOINT']!
    const ours = createAlipay({ ...addresses, ...keys, appId, endpoint })
    const bare = (pem: string) => pem.replaceAll(/-----[^-]+-----|\s/g, '')
    const sdk = (verifyWith: string) =>
      new AlipaySdk({
        appId,
        privateKey: bare(merchant.privateKey),
        keyType: 'PKCS8',
        alipayPublicKey: bare(verifyWith),
        gateway: endpoint,
        timeout: 30_000,
      })
    // Our address of the payment page, judged with the merchant's key.
    const opened = await ours.open(order)
    assert.ok(opened.kind === 'opened' && opened.payUrl !== undefined)
    const fields = Object.fromEntries(new URL(opened.payUrl).searchParams)
    assert.equal(sdk(merchant.publicKey).checkNotifySignV2(fields), true)
    assert.equal(sdk(merchant.publicKey).checkNotifySignV2({ ...fields, charset: 'gbk' }), false)
    // Its request and our fake's answer, which it verifies; it can read a signature after the content only.
    fake.pay(number)
    fake.fault = 'sign_last'
    const answer = (await sdk(vendor.publicKey).exec(
      'alipay.trade.query',
      { bizContent: { out_trade_no: number } },
      { validateSign: true },
    )) as { tradeStatus?: string }
    assert.equal(answer.tradeStatus, 'TRADE_SUCCESS')
    await assert.rejects(
      sdk(stranger.publicKey).exec(
        'alipay.trade.query',
        { bizContent: { out_trade_no: number } },
        { validateSign: true },
      ),
    )
    assert.deepEqual(fake.problems, [])
    // A notification that it accepts is one that we accept.
    const sent = fake.notify(number)
    assert.equal(
      sdk(vendor.publicKey).checkNotifySignV2(Object.fromEntries(new URLSearchParams(sent.body))),
      true,
    )
    const parsed = ours.notifications!.parse({ headers: sent.headers, body: Buffer.from(sent.body) })
    assert.deepEqual(parsed, { kind: 'paid', number, amount: 1999, currency: 'CNY' })
  })

  it('wechatpay-axios-plugin accepts our signatures, and we accept its own', async () => {
    await using fake = await startWechatpay()
    const endpoint = fake.settings['WECHATPAY_ENDPOINT']!
    const ours = createWechatpay({
      ...addresses,
      ...keys,
      mchId,
      appId: 'wx0000000000000001',
      serial,
      apiV3Key,
      publicKeys: new Map([[publicKeyId, keys.publicKey]]),
      endpoint,
    })
    const requests: { method: string; url: string; authorization: string; body: string }[] = []
    fake.onRequest = (request, body) =>
      void requests.push({
        method: request.method!,
        url: request.url!,
        authorization: request.headers.authorization ?? '',
        body,
      })
    assert.equal((await ours.open(order)).kind, 'opened')
    fake.pay(number)
    assert.equal((await ours.query(order)).kind, 'paid')
    for (const { method, url, authorization, body } of requests) {
      const part = (name: string) => new RegExp(`${name}="([^"]+)"`).exec(authorization)?.[1] ?? ''
      const message = Formatter.request(method, url, part('timestamp'), part('nonce_str'), body)
      assert.equal(Rsa.verify(message, part('signature'), merchant.publicKey), true, url)
      assert.equal(Rsa.verify(`${message}x`, part('signature'), merchant.publicKey), false, url)
    }
    // Its request, and our fake's answer, which it verifies.
    const client = new Wechatpay({
      mchid: mchId,
      serial,
      privateKey: merchant.privateKey,
      certs: { [publicKeyId]: vendor.publicKey },
    })
    client.client.v3.defaults.baseURL = `${endpoint}/`
    const path = client.v3!.pay!.transactions!.outTradeNo!['{number}']!
    const answer = await path.get({ params: { mchid: mchId }, number })
    assert.equal((answer.data as { trade_state?: string }).trade_state, 'SUCCESS')
    assert.deepEqual(fake.problems, [])
    // A notification that it encrypted and signed.
    const plain = JSON.stringify({
      mchid: mchId,
      appid: 'wx0000000000000001',
      out_trade_no: number,
      trade_state: 'SUCCESS',
      amount: { total: 1999, currency: 'CNY' },
    })
    const nonce = Formatter.nonce(12)
    const body = JSON.stringify({
      event_type: 'TRANSACTION.SUCCESS',
      resource: {
        algorithm: 'AEAD_AES_256_GCM',
        ciphertext: Aes.AesGcm.encrypt(plain, apiV3Key, nonce, 'transaction'),
        associated_data: 'transaction',
        nonce,
      },
    })
    const timestamp = String(Formatter.timestamp())
    const headers = {
      'wechatpay-timestamp': timestamp,
      'wechatpay-nonce': nonce,
      'wechatpay-serial': publicKeyId,
      'wechatpay-signature': Rsa.sign(Formatter.response(timestamp, nonce, body), vendor.privateKey),
    }
    const parsed = ours.notifications!.parse({ headers, body: Buffer.from(body) })
    assert.deepEqual(parsed, { kind: 'paid', number, amount: 1999, currency: 'CNY' })
    // Both read the same bill.
    const { file, content } = wechatpayBill([{ number, amount: 1999 }])
    const rows = await Array.fromAsync(wechatpayRows(linesOf(gunzip(file), 'utf-8')))
    const theirs = Formatter.castCsvBill(content) as { rows: Record<string, string>[] }
    assert.equal(theirs.rows[0]?.['商户订单号'], rows[0]?.orderNumber)
    assert.equal(theirs.rows[0]?.['订单金额'], '19.99')
    assert.equal(rows[0]?.amount, 1999)
  })

  it('stripe reads our session, and we accept its events', async () => {
    await using fake = await startStripe()
    const endpoint = fake.settings['STRIPE_ENDPOINT']!
    const ours = createStripe({
      ...addresses,
      secretKey: 'sk_test_0001',
      webhookSecret,
      endpoint,
      timeoutMs: 30_000,
    })
    const { hostname, port } = new URL(endpoint)
    const stripe = new Stripe('sk_test_0001', { host: hostname, port: Number(port), protocol: 'http' })
    // Our session, read by it; and an event that it signed, read by us.
    const opened = await ours.open(order)
    assert.ok(opened.kind === 'opened' && opened.ref !== undefined)
    fake.pay(number)
    const session = await stripe.checkout.sessions.retrieve(opened.ref)
    assert.deepEqual([session.client_reference_id, session.payment_status], [number, 'paid'])
    assert.equal((await ours.query({ ...order, provider_ref: opened.ref })).kind, 'paid')
    const payload = JSON.stringify({
      id: 'evt_1',
      type: 'checkout.session.completed',
      livemode: false,
      data: { object: session },
    })
    const header = stripe.webhooks.generateTestHeaderString({ payload, secret: webhookSecret })
    const parsed = ours.notifications!.parse({
      headers: { 'stripe-signature': header },
      body: Buffer.from(payload),
    })
    assert.equal(parsed.kind, 'paid')
    // Our fake's event, judged by it.
    const sent = fake.notify(number)
    const signature = sent.headers['stripe-signature']!
    assert.equal(
      stripe.webhooks.constructEvent(sent.body, signature, webhookSecret).type,
      'checkout.session.completed',
    )
    assert.throws(() => stripe.webhooks.constructEvent(`${sent.body} `, signature, webhookSecret))
    assert.deepEqual(fake.problems, [])
  })
})

// Signatures and encryption against vectors that the vendors' packages made or that their pages print.
import assert from 'node:assert/strict'
import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { formatMinor, parseMinor } from '../../../contract/payments.ts'
import { creditsToTake } from '../refunds.ts'
import { nextQueryAt } from '../schedule-store.ts'
import { verifyRsa } from '../signing.ts'
import { createAlipay, readSignedAnswer, textToSign } from './alipay.ts'
import { decrypt } from './wechatpay.ts'

const vectors = JSON.parse(readFileSync(new URL('vectors.json', import.meta.url), 'utf8'))
const { alipay, wechatpay } = vectors
const publicKey = createPublicKey(alipay.public_key as string)

describe('alipay', () => {
  it('signs the documented text and reads signed answers byte for byte', () => {
    assert.equal(textToSign(alipay.request), alipay.string_to_sign)
    assert.equal(readSignedAnswer(alipay.precreate, 'alipay.trade.precreate', publicKey)?.['code'], '10000')
    for (const raw of [alipay.tricky, alipay.sign_first]) {
      assert.equal(readSignedAnswer(raw, 'alipay.trade.query', publicKey)?.['trade_status'], 'TRADE_SUCCESS')
    }
    const missing = readSignedAnswer(alipay.not_exist, 'alipay.trade.query', publicKey)
    assert.equal(missing?.['sub_code'], 'ACQ.TRADE_NOT_EXIST')
    const changed = (alipay.tricky as string).replace('12.30', '12.31')
    assert.equal(readSignedAnswer(changed, 'alipay.trade.query', publicKey), undefined)
    assert.equal(
      readSignedAnswer('{"alipay_trade_query_response":{}}', 'alipay.trade.query', publicKey),
      undefined,
    )
    assert.equal(readSignedAnswer('not json', 'alipay.trade.query', publicKey), undefined)
  })

  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  const text = () => ''
  const { notifications } = createAlipay({
    appId: '2021000000000001',
    privateKey,
    publicKey,
    endpoint: 'http://127.0.0.1/gateway.do',
    timeoutMs: 1,
    notifyUrl: text,
    returnUrl: text,
    cashierUrl: text,
  })
  const parse = (body: string) => notifications!.parse({ headers: {}, body: Buffer.from(body) })

  it('verifies a notification over its decoded fields', () => {
    assert.deepEqual(parse(alipay.notify), {
      kind: 'paid',
      number: 'T20260102000001',
      amount: 1230,
      currency: 'CNY',
    })
    assert.equal(parse((alipay.notify as string).replace('12.30', '12.31')).kind, 'forged')
    assert.equal(parse((alipay.notify as string).replace('RSA2', 'RSA')).kind, 'forged')
    assert.equal(parse(`${alipay.notify}&total_amount=0.01`).kind, 'forged')
  })

  it('167 reads no notification of more fields or bytes than a provider sends', () => {
    const fields = Array.from({ length: 501 }, (_, index) => `f${index}=1`).join('&')
    for (const body of [fields, `a=${'x'.repeat(70_000)}`]) {
      assert.deepEqual(parse(body), { kind: 'forged', reason: 'too_large' })
    }
  })
})

describe('wechatpay', () => {
  it('verifies the signatures printed by the vendor and decrypts notifications', () => {
    for (const one of [wechatpay.vendor_request, wechatpay.vendor_response]) {
      assert.equal(verifyRsa(createPublicKey(one.public_key as string), one.message, one.signature), true)
      assert.equal(
        verifyRsa(createPublicKey(one.public_key as string), `${one.message}x`, one.signature),
        false,
      )
      assert.equal(verifyRsa(publicKey, one.message, `WECHATPAY/SIGNTEST/${one.signature}`), false)
    }
    const { resource } = JSON.parse(wechatpay.notification) as { resource: Record<string, string> }
    assert.equal(decrypt(resource, wechatpay.api_v3_key), wechatpay.plaintext)
    assert.equal(decrypt(wechatpay.empty_aad, wechatpay.api_v3_key), wechatpay.empty_aad.plaintext)
    assert.equal(decrypt({ ...resource, nonce: 'fdasfjihihi2' }, wechatpay.api_v3_key), undefined)
    assert.equal(decrypt({}, wechatpay.api_v3_key), undefined)
  })
})

describe('amounts', () => {
  it('are read and written without loss', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 100_000_000 }), (minor) => {
        assert.equal(parseMinor(formatMinor(minor)), minor)
      }),
    )
    assert.deepEqual(['20', '20.5', '20.50', '0.01'].map(parseMinor), [2000, 2050, 2050, 1])
    assert.deepEqual(['', '-1', '1.234', '1,00', '1e3', ' 1', '١'].map(parseMinor), Array(7).fill(undefined))
  })

  it('of refunds take all credits in the end, each part rounded up', () => {
    const parts = fc.array(fc.integer({ min: 1, max: 5_000 }), { minLength: 1, maxLength: 8 })
    fc.assert(
      fc.property(parts, fc.integer({ min: 1, max: 1_000_000_000 }), (amounts, credits) => {
        const order = { amount: amounts.reduce((sum, one) => sum + one, 0), refunded: 0 }
        const item = { amount: credits, taken: 0 }
        for (const amount of amounts) {
          const taken = creditsToTake(item, order, amount)
          assert.ok(taken >= 0 && taken <= item.amount - item.taken)
          assert.ok(taken * order.amount >= 0)
          item.taken += taken
          order.refunded += amount
          // Never fewer than the money refunded so far corresponds to.
          assert.ok(BigInt(item.taken) * BigInt(order.amount) >= BigInt(credits) * BigInt(order.refunded))
        }
        assert.equal(item.taken, credits)
      }),
    )
  })
})

describe('the schedule of queries', () => {
  it('follows the settings, ends with the expiry, and goes on after it until the provider answers', () => {
    const order = {
      state: 'pending',
      created_at: 0,
      expires_at: 60_000,
      provider_expires_at: 60_000,
      closed_at: null,
    } as const
    const schedule = [5, 30, 120]
    assert.equal(nextQueryAt(order, 0, schedule), 5_000)
    assert.equal(nextQueryAt(order, 5_000, schedule), 30_000)
    assert.equal(nextQueryAt(order, 30_000, schedule), 60_000)
    assert.equal(nextQueryAt(order, 60_000, schedule), 90_000)
    const closed = { ...order, state: 'closed', closed_at: 60_000 } as const
    assert.equal(nextQueryAt(closed, 60_000, schedule), 120_000)
    assert.equal(nextQueryAt(closed, 60_000 + 86_400_000, schedule), null)
    assert.equal(nextQueryAt({ ...order, state: 'granted' }, 0, schedule), null)
  })
})

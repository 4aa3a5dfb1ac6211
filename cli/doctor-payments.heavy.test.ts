// What `npm run doctor` says about the keys and certificates of payment providers.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { readConfig } from '../server/config.ts'
import { dayMs } from '../contract/time.ts'
import { startAlipay } from '../test/support/fake-alipay.ts'
import { stranger } from '../test/support/fake-payments.ts'
import { startStripe } from '../test/support/fake-stripe.ts'
import { startWechatpay } from '../test/support/fake-wechatpay.ts'
import { checkAlipayKey, checkPayments, checkStripeKey, checkWechatpayKeys } from './doctor/payments.ts'
import { runDoctor } from './run-doctor.ts'

/** Self-signed, valid until 13 November 2036. */
const certificate = `-----BEGIN CERTIFICATE-----
MIIDFTCCAf2gAwIBAgIUXh8qO0xdbn+AkaKzxNXm9wgZKjswDQYJKoZIhvcNAQEL
BQAwGjEYMBYGA1UEAwwPVGVucGF5LmNvbSBzaWduMB4XDTI2MTExNjA2NDE0MVoX
DTM2MTExMzA2NDE0MVowGjEYMBYGA1UEAwwPVGVucGF5LmNvbSBzaWduMIIBIjAN
BgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAwPKlJARHaaXCJRyKbQ0TjBOaK2+H
xZhPuCVYVLV9O9pT6PNhKV6MgZDs+J2mNswuNJrI7M9enIK0yB7bVWLOdlA+/mv4
DfAK3ReXBMbAXbOv45T7+OQEVMXy+y0xSghZKRXF3mT9YaCAh56DgUMAIhGJvjCs
QXDfboSkqTK5TqCAG2mYjEormgAx501dxWZ2zRCYIXaHwTQyyv+KjRf+SCkZYytO
229Jr49DpZE51KxaQYJwixWPY6JA6IhQsFmuSKeelywYLJMgW++BLjHTNRTh1Q7O
U61YM/bI5NMtxKV0ZVM7ZlLzp7xfkGdqf3Q97VOMrJWR9qV5X5Matbi9hQIDAQAB
o1MwUTAdBgNVHQ4EFgQUZ/fm4vMmiWkfGzWZaAjJAFIKfXowHwYDVR0jBBgwFoAU
Z/fm4vMmiWkfGzWZaAjJAFIKfXowDwYDVR0TAQH/BAUwAwEB/zANBgkqhkiG9w0B
AQsFAAOCAQEAPZHBprdIsGMY+zVg5Slfa6ATFmVlZIvCQ4EXmrxc9VGKWEv2Patn
aL+/pGzsl+cKX9DQ1RodRj4qVlLtjdHxKh8us0ptBeY1uKC4E4G0YAjnc0NFeYr9
3I5wR32RcpZBMZivYbDgZlZfOcRYnvBU4/CouJl8JBND1dsPAF7dKjLA6NBVPqUA
JuyJOaIJ+u8n3zimDcgK/N1R9GyfDKvPLz07poHbfwe3K1RuMDmIiOrhxlWOWaMx
7VL8ivIt9HyDNjT8liA4sPfXGG1VsIjaefmdLHQO0HYcHzVUtgmycDKxU2Nd1By+
FE3M4pGI7hMRV+8l0yfTvRhjuSMx7SmIhA==
-----END CERTIFICATE-----`
const serial = '5E1F2A3B4C5D6E7F8091A2B3C4D5E6F708192A3B'
const end = Date.parse('2036-11-13T06:41:41Z')

const seen = (findings: readonly { state: string; text: { en: string } }[]) =>
  findings.map(({ state, text }) => `${state} ${text.en}`)

describe('doctor: payment keys', () => {
  it('reports certificates that expired or expire soon, and IDs that do not belong to them', () => {
    const at = (now: number) => seen(checkAlipayKey({ ALIPAY_PUBLIC_KEY: certificate }, now))
    assert.deepEqual(at(end - 60 * dayMs), [])
    assert.deepEqual(at(end - 29 * dayMs), ['warn the certificate expires soon'])
    assert.deepEqual(at(end), ['fail the certificate has expired'])
    assert.deepEqual(at(0), ['fail the certificate is not valid yet'])
    const keys = {
      WECHATPAY_PUBLIC_KEY: certificate,
      WECHATPAY_PUBLIC_KEY_ID: serial,
      WECHATPAY_PRIVATE_KEY: stranger.privateKey,
      WECHATPAY_SERIAL: serial,
    }
    const now = end - 60 * dayMs
    assert.deepEqual(seen(checkWechatpayKeys(keys, now)), [])
    const other = { ...keys, WECHATPAY_PUBLIC_KEY_ID: 'PUB_KEY_ID_1', WECHATPAY_SERIAL: '12' }
    assert.equal(checkWechatpayKeys(other, now).length, 2)
    const own = { ...keys, WECHATPAY_PUBLIC_KEY: stranger.publicKey, WECHATPAY_PUBLIC_KEY_ID: 'PUB_KEY_ID_1' }
    assert.deepEqual(seen(checkWechatpayKeys(own, now)), [
      "fail WECHATPAY_PUBLIC_KEY is the merchant's own key",
    ])
    const both = {
      ...keys,
      WECHATPAY_PUBLIC_KEY: `${stranger.publicKey},${certificate}`,
      WECHATPAY_PUBLIC_KEY_ID: `PUB_KEY_ID_1,${serial}`,
    }
    assert.deepEqual(seen(checkWechatpayKeys(both, end)), [
      "fail WECHATPAY_PUBLIC_KEY is the merchant's own key",
      'fail the certificate has expired',
    ])
    assert.equal(checkStripeKey({ STRIPE_SECRET_KEY: 'pk_live_1', STRIPE_WEBHOOK_SECRET: 'x' }).length, 2)
  })

  it('asks each provider, and explains an answer that is not signed with the configured key', async () => {
    await using alipay = await startAlipay()
    await using wechatpay = await startWechatpay()
    await using stripe = await startStripe()
    const settings = {
      ...alipay.settings,
      ...wechatpay.settings,
      ...stripe.settings,
      PAYMENTS: 'alipay,wechatpay,stripe',
      PUBLIC_URL: 'https://open.example.com',
    }
    const run = async (changed: Record<string, string> = {}) =>
      seen(await checkPayments(readConfig({ ...settings, ...changed })))
    assert.deepEqual(await run(), [
      'ok alipay accepted a signed query',
      'ok wechatpay accepted a signed query',
      'ok stripe accepted a signed query',
    ])
    assert.deepEqual([alipay.problems, wechatpay.problems, stripe.problems], [[], [], []])
    const wrong = await run({ ALIPAY_PUBLIC_KEY: stranger.publicKey, PUBLIC_URL: 'http://127.0.0.1:3000' })
    assert.equal(wrong.filter((line) => line.startsWith('fail alipay')).length, 1)
    assert.equal(wrong.filter((line) => line.startsWith('warn payment providers cannot reach')).length, 1)
    stripe.fault = 'down'
    assert.equal((await run()).filter((line) => line.startsWith('fail stripe')).length, 1)
  })

  it('names the kind of a key that is not the one needed, and keeps the key itself secret', async () => {
    await using alipay = await startAlipay()
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-doctor-'))
    const told = async (changed: Record<string, string>) =>
      (
        await runDoctor(true, () => ({
          ...alipay.settings,
          PAYMENTS: 'alipay',
          DATA_DIR: folder,
          ...changed,
        }))
      ).stdout
    const swapped = await told({
      ALIPAY_PRIVATE_KEY: stranger.publicKey,
      ALIPAY_PUBLIC_KEY: stranger.privateKey,
    })
    assert.match(swapped, /ALIPAY_PRIVATE_KEY[^"]*this is a public key \(rsa 2048\)/)
    assert.match(swapped, /ALIPAY_PUBLIC_KEY[^"]*this is a private key \(rsa 2048\)/)
    assert.ok(!swapped.includes(stranger.privateKey.split('\n')[1]!))
    assert.match(await told({ ALIPAY_PRIVATE_KEY: certificate }), /this is a certificate/)
    assert.match(await told({ ALIPAY_PRIVATE_KEY: 'nonsense' }), /RSA private key of at least 2048 bits"/)
    rmSync(folder, { recursive: true, force: true })
  })
})

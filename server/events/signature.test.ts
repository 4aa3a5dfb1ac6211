// The signature of webhooks, compared with the reference package.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { generateWebhookSecret, signWebhook } from './signature.ts'

describe('webhook signature', () => {
  const secret = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8='
  const oldSecret = 'whsec_8PHy8/T19vf4+fr7/P3+/wABAgMEBQYH'
  const message = {
    id: 'msg_2KWPBgLlAfxdpx2AI54pPJ85f4W',
    timestamp: 1_767_323_045,
    body: '{"type":"sms.delivered","timestamp":"2026-01-02T03:04:05Z","data":{"id":"m1","text":"短信"}}',
  }

  it('equals the reference value', () => {
    assert.deepEqual(signWebhook(message, [secret]), {
      'webhook-id': message.id,
      'webhook-timestamp': '1767323045',
      'webhook-signature': 'v1,VZqaV5mgnAb6jWelFDCz63I0l6dTgndXGb9GWy6Sen8=',
    })
  })

  it('has one signature of each secret while a secret is rotated', () => {
    assert.equal(
      signWebhook(message, [secret, oldSecret])['webhook-signature'],
      'v1,VZqaV5mgnAb6jWelFDCz63I0l6dTgndXGb9GWy6Sen8= v1,I7O0yNhDPSV3EgprizYIuXHwfuu2/aQ1XUAQyzNctMo=',
    )
  })

  it('is accepted by the reference package with either secret, and by no other', () => {
    const now = { ...message, timestamp: Math.floor(Date.now() / 1000) }
    const [first, second, other] = [generateWebhookSecret(), generateWebhookSecret(), generateWebhookSecret()]
    const headers = signWebhook(now, [first, second])
    for (const one of [first, second]) assert.ok(new Webhook(one).verify(now.body, headers))
    assert.throws(() => new Webhook(other).verify(now.body, headers), /No matching signature/)
    assert.throws(() => new Webhook(first).verify(`${now.body} `, headers), /No matching signature/)
  })
})

// A process that ends its send too late: the earlier decision counts, and every response agrees with it.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import { onEachEngine } from './support/engines.ts'
import { hang, json, late, startFakeUpstream } from './support/fake-upstream.ts'
import { startSmsService } from './support/sms.ts'

onEachEngine('SMS decided by another process', (engine) => {
  for (const [how, behaviour] of [
    ['the own call ends without an answer', hang()],
    ['the call gets the success later', late(500, json(200, { result: 'accepted', id: 'v1' }))],
  ] as const) {
    test(
      `settled by the gateway's own word while the call still runs; ${how}`,
      { timeout: 60_000 },
      async () => {
        const upstream = await startFakeUpstream((request) =>
          request.body.includes('"query"')
            ? json(200, { result: 'found', status: 'accepted', id: 'v1' })
            : behaviour,
        )
        await using sms = await startSmsService(engine, {
          SMS_GATEWAYS: 'http',
          SMS_HTTP_URL: upstream.url,
          SMS_HTTP_SECRET: 'shared secret',
          GATEWAY_TIMEOUT_MS: '900',
        })
        const keyed = { 'idempotency-key': 'order-1' }
        const calls = [sms.send({}, keyed), sms.send({ phone_number: '13900139000' })]
        while (upstream.requests.length < 2) await sleep(5)
        await sms.sweepAll()
        const [first, unkeyed] = await Promise.all(calls)
        const again = await sms.send({}, keyed)
        assert.deepEqual([first?.body.code, unkeyed?.body.code], [0, 0])
        assert.deepEqual(again.body, first?.body)
        assert.deepEqual(
          [first?.headers.get('idempotent-replayed'), again.headers.get('idempotent-replayed')],
          [null, 'true'],
        )
        assert.equal(await sms.remaining(), 98)
        assert.deepEqual(await sms.findLedgerProblems(), [])
        await upstream.close()
      },
    )
  }
})

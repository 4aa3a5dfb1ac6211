// A send that ends after the sweeper decided it: the first decision counts, and every response matches it.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import { onEachEngine } from './support/engines.ts'
import { hang, json, late, startFakeUpstream } from './support/fake-upstream.ts'
import { startSmsService } from './support/sms.ts'

onEachEngine('SMS decided by another process', (engine) => {
  for (const [outcome, behaviour] of [
    ['the call times out', hang()],
    ['the call succeeds later', late(500, json(200, { result: 'accepted', id: 'v1' }))],
  ] as const) {
    test(
      `returns success when the sweeper settles the running call and ${outcome}`,
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
          GATEWAY_TIMEOUT_MS: '4000',
        })
        const headers = { 'idempotency-key': 'order-1' }
        const calls = [sms.send({}, headers), sms.send({ phone_number: '13900139000' })]
        while (upstream.requests.length < 2) await sleep(5)
        await sms.sweepAll()
        const [first, second] = await Promise.all(calls)
        const replay = await sms.send({}, headers)
        assert.deepEqual([first?.body.code, second?.body.code], [0, 0])
        assert.deepEqual(replay.body, first?.body)
        assert.deepEqual(
          [first?.headers.get('idempotent-replayed'), replay.headers.get('idempotent-replayed')],
          [null, 'true'],
        )
        assert.equal(await sms.remaining(), 98)
        assert.deepEqual(await sms.findLedgerProblems(), [])
        await upstream.close()
      },
    )
  }

  test('an unknown outcome that the call stores while the sweeper asks the gateway stays held', async () => {
    const [asked, stored] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const upstream = await startFakeUpstream(async (request) => {
      if (!request.body.includes('"query"')) {
        await asked.promise
        return json(500, {})
      }
      asked.resolve()
      await stored.promise
      return json(200, { result: 'not_found' })
    })
    await using sms = await startSmsService(engine, {
      SMS_GATEWAYS: 'http',
      SMS_HTTP_URL: upstream.url,
      SMS_HTTP_SECRET: 'shared secret',
      GATEWAY_TIMEOUT_MS: '20000',
    })
    const call = sms.send()
    while (upstream.requests.length < 1) await sleep(5)
    const sweeping = sms.sweepAll()
    assert.equal((await call).body.code, 1005)
    stored.resolve()
    await sweeping
    const { db } = sms.service.installation
    const states = () => db.all('SELECT o.state, s.state AS record FROM operation o, sms_send s')
    assert.deepEqual(await states(), [{ state: 'held', record: 'unknown' }])
    assert.equal(await sms.remaining(), 99)
    await sms.sweepAll()
    assert.equal(await sms.remaining(), 100)
    assert.deepEqual(await sms.findLedgerProblems(), [])
    await upstream.close()
  })
})

// Limits of messages per phone number.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { freshStorage, onEachEngine } from '../../test/support/engines.ts'
import { startService } from '../../test/support/service.ts'
import { phone, startSmsService } from '../../test/support/sms.ts'
import { deletePastCounters } from './number-limit-store.ts'
import { currentPeriods } from './number-limits.ts'

const limits = [
  { count: 10, window: 'd' },
  { count: 1, window: 'm' },
  { count: 5, window: 'h' },
] as const

test('periods are calendar minutes, hours and days in Shanghai', () => {
  const at = Date.parse('2026-01-02T15:59:59.999Z')
  const ends = currentPeriods(limits, at).map(({ endsAt }) => new Date(endsAt).toISOString())
  assert.deepEqual(ends, Array(3).fill('2026-01-02T16:00:00.000Z'))
  const later = currentPeriods(limits, at + 1).map(({ endsAt }) => new Date(endsAt).toISOString())
  assert.deepEqual(later, [
    '2026-01-02T16:01:00.000Z',
    '2026-01-02T17:00:00.000Z',
    '2026-01-03T16:00:00.000Z',
  ])
})

test('periods are contiguous and sorted by length', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 4_102_444_800_000 }), (now) => {
      const periods = currentPeriods(limits, now)
      assert.deepEqual(
        periods.map(({ key }) => key[0]),
        ['m', 'h', 'd'],
      )
      for (const [index, period] of periods.entries()) {
        assert.ok(period.endsAt > now)
        assert.equal(currentPeriods(limits, period.endsAt - 1)[index]?.key, period.key)
        assert.notEqual(currentPeriods(limits, period.endsAt)[index]?.key, period.key)
      }
    }),
  )
})

onEachEngine('SMS number limits', (engine) => {
  test('returns 1002 with Retry-After over the limit and charges nothing', async () => {
    await using sms = await startSmsService(engine, { SMS_NUMBER_LIMITS: '2/d' })
    assert.equal((await sms.send()).body.code, 0)
    assert.equal((await sms.send()).body.code, 0)
    const third = await sms.send()
    assert.deepEqual([third.body.code, third.status], [1002, 400])
    assert.match(third.body.message, /phone_number .* \d+ 秒/)
    assert.ok(Number(third.headers.get('retry-after')) > 0)
    assert.equal((await sms.send({ phone_number: '13900139000' })).body.code, 0)
    assert.equal(await sms.remaining(), 97)
    assert.equal((await sms.records()).length, 2)
    assert.deepEqual(await sms.findLedgerProblems(), [])
  })

  test('counts ambiguous sends but not refused ones', async () => {
    await using sms = await startSmsService(engine, { SMS_NUMBER_LIMITS: '1/d' })
    for (let i = 0; i < 3; i++)
      assert.equal((await sms.send({ phone_number: '19900000001' })).body.code, 1005)
    assert.equal((await sms.send({ phone_number: '19900000002' })).body.code, 1005)
    assert.equal((await sms.send({ phone_number: '19900000002' })).body.code, 1002)
  })

  test('allows exactly the limit for concurrent sends from two processes', async () => {
    const storage = await freshStorage(engine)
    {
      await using sms = await startSmsService(engine, { SMS_NUMBER_LIMITS: '3/d' }, { sms: 200 }, storage)
      await using other = await startService(engine, { SMS_NUMBER_LIMITS: '3/d' }, storage)
      const { username, key } = sms.account
      const viaOther = (number: string) =>
        fetch(`${other.url}/api/sms_api.php`, {
          method: 'POST',
          body: new URLSearchParams({
            action: 'send',
            username,
            api_key: key,
            phone_number: number,
            template_code: 'CODE',
            template_params: '{"code":"1"}',
          }),
        }).then(async (response) => ((await response.json()) as { code: number }).code)
      const calls = Array.from({ length: 40 }, (_, index) => {
        const number = index % 4 === 0 ? `139001390${String(index).padStart(2, '0')}` : phone
        const code =
          index % 2 === 0
            ? sms.send({ phone_number: number }).then(({ body }) => body.code)
            : viaOther(number)
        return code.then((value: number) => ({ number, code: value }))
      })
      const ended = await Promise.all(calls)
      const toOne = ended.filter(({ number }) => number === phone).map(({ code }) => code)
      assert.deepEqual(
        toOne.toSorted((a, b) => a - b),
        [0, 0, 0, ...Array<number>(27).fill(1002)],
      )
      assert.ok(ended.every(({ number, code }) => number === phone || code === 0))
      assert.equal(await sms.remaining(), 200 - 13)
      assert.deepEqual(await sms.findLedgerProblems(), [])
    }
    await storage.remove()
  })

  test('deletes the counters of past periods', async () => {
    await using sms = await startSmsService(engine, { SMS_NUMBER_LIMITS: '5/m,9/d' })
    await sms.send()
    const { db } = sms.service.installation
    const count = async () => (await db.one<{ n: number }>('SELECT COUNT(*) AS n FROM sms_number_count'))?.n
    assert.equal(await count(), 2)
    await db.write((tx) => tx.run(`UPDATE sms_number_count SET ends_at = 1 WHERE period LIKE 'm%'`))
    await deletePastCounters(db)
    assert.equal(await count(), 1)
  })
})

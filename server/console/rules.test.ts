// Unit tests of console helpers: input, day ranges, balance forecasts, guess limits.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { Type } from 'typebox'
import { startOfDay } from '../../contract/time.ts'
import { oneLine } from '../../contract/values.ts'
import { readBody, readQuery } from './schema.ts'
import { rangeOf } from './fields.ts'
import { createMemoryStore } from '../limits/memory.ts'
import { guessLimits } from './guess-limits.ts'
import { countDays, outlookOf } from './account/home.ts'
import { quantile } from './operator/overview.ts'
import { ConsoleProblem } from './problem.ts'

function fieldsOf(run: () => unknown): string[] {
  try {
    run()
  } catch (error) {
    assert.ok(error instanceof ConsoleProblem)
    return Object.keys(error.fields ?? {})
  }
  return []
}

const schema = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 5 }),
  age: Type.Optional(Type.Integer({ minimum: 0, maximum: 150 })),
  pair: Type.Optional(Type.Object({ a: Type.Optional(Type.Integer()) })),
})

void describe('body input', () => {
  const read = readBody(schema)

  it('keeps declared fields only', () => {
    const given = JSON.parse('{"name":"x","role":"operator","pair":{"a":1,"b":2},"constructor":1}') as unknown
    assert.deepEqual(read(given), { name: 'x', pair: { a: 1 } })
  })

  it('names every wrong field', () => {
    assert.deepEqual(
      fieldsOf(() => read({ age: -1, pair: { a: 'x' } })),
      ['name', 'age', 'pair'],
    )
    for (const bad of [null, [], 'x', 5, undefined])
      assert.deepEqual(
        fieldsOf(() => read(bad)),
        ['name'],
      )
    for (const bad of ['\0', '\ud800', 'toolong', '', 5])
      assert.deepEqual(
        fieldsOf(() => read({ name: bad })),
        ['name'],
      )
  })

  it('returns values or field errors for any input', () => {
    fc.assert(
      fc.property(fc.anything(), (given) => {
        try {
          const value = read(given)
          assert.ok(value.name.length >= 1)
        } catch (error) {
          assert.ok(error instanceof ConsoleProblem)
        }
      }),
    )
  })
})

void describe('query input', () => {
  const read = readQuery(schema)

  it('parses numbers and ignores empty values', () => {
    assert.deepEqual(read({ name: '5', age: '12' }), { name: '5', age: 12 })
    assert.deepEqual(read({ name: 'x', age: '' }), { name: 'x' })
    for (const age of ['1e2', '1.5', '0x10', '-1', ' 1', '9'.repeat(30)]) {
      assert.deepEqual(
        fieldsOf(() => read({ name: 'x', age })),
        ['age'],
        age,
      )
    }
    assert.deepEqual(
      fieldsOf(() => read({ name: ['a', 'b'] })),
      ['name'],
    )
  })
})

void describe('day ranges', () => {
  const noon = startOfDay('2026-03-10')! + 12 * 3_600_000

  it('are inclusive, in Shanghai time, and default to the last days', () => {
    const range = rangeOf({}, { byDefault: 7, max: 31 }, noon)
    assert.deepEqual([range.from, range.to, range.days.length], ['2026-03-04', '2026-03-10', 7])
    assert.equal(
      rangeOf({ from: '2026-03-01', to: '2026-03-01' }, { byDefault: 7, max: 31 }, noon).days.length,
      1,
    )
    // 16:30 UTC is past midnight in Shanghai.
    assert.equal(rangeOf({}, { byDefault: 1, max: 1 }, Date.UTC(2026, 0, 1, 16, 30)).to, '2026-01-02')
  })

  it('are rejected when invalid', () => {
    const limits = { byDefault: 7, max: 31 }
    assert.deepEqual(
      fieldsOf(() => rangeOf({ from: '2026-03-02', to: '2026-03-01' }, limits, noon)),
      ['from'],
    )
    assert.deepEqual(
      fieldsOf(() => rangeOf({ from: '2026-01-01', to: '2026-03-01' }, limits, noon)),
      ['from'],
    )
    assert.deepEqual(
      fieldsOf(() => rangeOf({ to: '2026-02-30' }, limits, noon)),
      ['to'],
    )
  })
})

void describe('balance forecast', () => {
  const outlook = (total: number, remaining: number, usedADay: number, daysInUse = 14) =>
    outlookOf(
      { api_type: 'sms', total, used: total - remaining, remaining },
      Array.from({ length: 14 }, (_one, index) => ({
        short_link: 0,
        sms: index < 14 - daysInUse ? 0 : usedADay,
        id_verification: 1_000,
        domain_check: 0,
      })),
    )

  it('uses the rate of the last week and only its own credit type', () => {
    assert.deepEqual(outlook(1_000, 700, 10).daily, Array<number>(14).fill(10))
    assert.equal(outlook(1_000, 700, 10).used_7d, 70)
    assert.equal(outlook(1_000, 700, 10).days_left, 70)
    assert.equal(outlook(1_000, 700, 0).days_left, null)
  })

  it('divides the use of a new account by its days in use', () => {
    assert.equal(outlook(1_000, 999, 1, 1).days_left, 999)
    assert.equal(outlook(1_000, 980, 10, 2).days_left, 98)
    assert.equal(outlook(1_000, 900, 10, 7).days_left, 90)
  })

  it('warns below 20 %, and again below 5 % or three days', () => {
    assert.equal(outlook(1_000, 500, 1).level, 'ok')
    assert.equal(outlook(1_000, 199, 1).level, 'low')
    assert.equal(outlook(1_000, 49, 1).level, 'critical')
    assert.equal(outlook(1_000, 500, 200).level, 'critical')
    assert.equal(outlook(1_000, 0, 1).level, 'empty')
    assert.equal(outlook(0, 0, 0).level, 'none')
  })
})

void describe('calls by day', () => {
  it('looks at each count a few times, whatever the number of days', () => {
    const { days } = rangeOf({}, { byDefault: 366, max: 366 })
    let looks = 0
    const counts = days.flatMap((day, index) =>
      [0, 1002].map((code) => ({
        get day() {
          looks += 1
          return day
        },
        account_id: 1,
        endpoint: 'sms',
        code,
        calls: index + 1,
        succeeded: code === 0 ? index + 1 : 0,
        paid: 0,
        credits: 0,
        console_calls: 0,
        console_paid: 0,
      })),
    )
    const counted = countDays(['1999-01-01', ...days], counts)
    assert.deepEqual(
      counted.map((one) => [one.total, one.succeeded, one.calls.sms, one.calls.shortlink]),
      [[0, 0, 0, 0], ...days.map((_day, index) => [2 * (index + 1), index + 1, 2 * (index + 1), 0])],
    )
    assert.ok(looks <= 3 * counts.length, `${looks} looks at ${counts.length} counts`)
  })
})

void describe('guess limits', () => {
  it('count a guess before it is checked and forget it after 15 minutes', async () => {
    let now = 0
    const limits = guessLimits(
      createMemoryStore(() => now),
      'test',
    )
    const keys = [{ key: 'a', max: 3 }]
    await Promise.all([limits.begin(keys), limits.begin(keys), limits.begin(keys)])
    await assert.rejects(limits.begin(keys), ConsoleProblem)
    await limits.begin([{ key: 'b', max: 3 }])
    now = 15 * 60_000
    await limits.begin(keys)
  })

  it('do not count a right guess', async () => {
    const limits = guessLimits(createMemoryStore(), 'test')
    for (let i = 0; i < 10; i++) await (await limits.begin([{ key: 'a', max: 1 }])).right()
    const two = [
      { key: 'x', max: 1 },
      { key: 'y', max: 2 },
    ]
    await (await limits.begin(two)).right('x')
    await limits.begin(two)
    await assert.rejects(limits.begin(two), ConsoleProblem)
  })
})

void describe('helpers', () => {
  it('puts a note on one line', () => {
    assert.equal(oneLine(' a\r\nb\u001b[31m\u202ec\u2028 '), 'a b [31m c')
  })

  it('returns quantiles', () => {
    const numbers = Array.from({ length: 100 }, (_one, index) => index + 1)
    assert.deepEqual([quantile(numbers, 0.5), quantile(numbers, 0.95), quantile([7], 0.99)], [50, 95, 7])
  })
})

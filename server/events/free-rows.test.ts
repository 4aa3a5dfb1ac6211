// Repeated events about one link and responses of webhooks do not fill the disk.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createRefundLimit, createRepeatLimit, createResponseBudget } from './free-rows.ts'

it('176 writes the first event about each link and a hundred repeats of an account', () => {
  const mayEmit = createRepeatLimit()
  const about = (link: number, accountId = 1) => ({
    accountId,
    type: 'link.exhausted' as const,
    alertKey: `link.exhausted ${link}`,
  })
  for (let link = 0; link < 1_000; link += 1) assert.equal(mayEmit(about(link)), true)
  const written = Array.from({ length: 500 }, () => mayEmit(about(7))).filter(Boolean).length
  assert.ok(written >= 100 && written <= 102, String(written))
  assert.equal(mayEmit(about(7, 2)), true, 'another account')
  assert.equal(mayEmit(about(1_001)), true, 'another link')
  for (let index = 0; index < 1_000; index += 1)
    assert.equal(mayEmit({ accountId: 1, type: 'sms.delivered' }), true, 'other events')
})

it('177 writes ten thousand events about refunded messages of an account, and one more for each that it paid', () => {
  const refunds = createRefundLimit()
  const written = (accountId: number, count: number) =>
    Array.from({ length: count }, () => refunds.mayEmit(accountId)).filter(Boolean).length
  const first = written(1, 12_000)
  assert.ok(first >= 10_000 && first <= 10_010, String(first))
  for (let paid = 0; paid < 50; paid += 1) refunds.addPaid(1)
  const more = written(1, 100)
  assert.ok(more >= 50 && more <= 60, String(more))
  assert.equal(written(2, 10), 10, 'another account')
})

it('176 stores a thousand responses of an account, then few', () => {
  const limited = createResponseBudget()
  const record = {
    deliveryId: 1,
    attempts: 1,
    state: 'pending',
    waitMs: 0,
    durationMs: 1,
    status: 500,
    error: 'status_500',
    response: 'x',
  } as const
  const stored = Array.from({ length: 3_000 }, () => limited(1, record)).filter(
    ({ response }) => response !== '',
  )
  assert.ok(stored.length >= 1_000 && stored.length <= 1_002, String(stored.length))
  assert.deepEqual(limited(2, record), record)
  assert.deepEqual(limited(1, record), { ...record, response: '' })
})

// Checks of many addresses: order, duplicates, failover and deadline.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import type { Outcome } from '../upstream/outcome.ts'
import { readAddress } from './address.ts'
import { type CheckerOptions, createChecker } from './checker.ts'
import { guardGateway } from '../upstream/gateways.ts'
import { monitorGateway } from './canary.ts'
import type { Address, DomainGateway, CheckVerdict } from './port.ts'
import { createScheduler } from './scheduler.ts'
import { createVerdictCache } from './verdict-cache.ts'

const passes: Outcome<CheckVerdict> = { kind: 'accepted', value: 'passes' }
const blocked: Outcome<CheckVerdict> = { kind: 'accepted', value: 'blocked' }

/** A gateway that records its calls. */
function gatewayOf(
  name: string,
  answer: (address: Address) => Outcome<CheckVerdict> | Promise<Outcome<CheckVerdict>>,
) {
  const checkedUrls: string[] = []
  let running = 0
  let maxRunning = 0
  const gateway: DomainGateway = {
    name,
    async check(address) {
      checkedUrls.push(address.url)
      running += 1
      maxRunning = Math.max(maxRunning, running)
      try {
        return await answer(address)
      } finally {
        running -= 1
      }
    },
  }
  return {
    checkedUrls,
    maxRunning: () => maxRunning,
    guarded: monitorGateway(
      guardGateway(gateway, {
        timeoutMs: 10_000,
        maxConcurrent: 66,
        maxQueued: 0,
        breakAfterConsecutiveFailures: 20,
        halfOpenAfterMs: 5_000,
      }),
    ),
  }
}

function checkerOf(options: Partial<CheckerOptions> & Pick<CheckerOptions, 'gateways'>) {
  return createChecker({
    scheduler: createScheduler({ perCall: 16, inTotal: 64 }),
    cache: undefined,
    deadlineMs: 10_000,
    isStopping: () => false,
    stopGraceMs: 0,
    onResult: () => undefined,
    ...options,
  })
}

const addressesOf = (...texts: string[]) => texts.map(readAddress)

describe('checker', () => {
  test('returns the results in the order of the addresses', async () => {
    const one = gatewayOf('one', ({ host }) => (host.startsWith('bad') ? blocked : passes))
    const checked = await checkerOf({ gateways: [one.guarded] }).check(
      addressesOf('good.com', 'nonsense', 'bad.com', 'http://127.0.0.1', 'good.com/x'),
    )
    assert.deepEqual(checked.results, ['未拦截', '无效URL', '已拦截', '无效URL', '未拦截'])
    assert.deepEqual(one.checkedUrls, ['http://good.com/', 'http://bad.com/', 'http://good.com/x'])
    assert.deepEqual(checked.gateways, ['one'])
    assert.equal(checked.failed, 0)
  })

  test('checks equal addresses once', async () => {
    const one = gatewayOf('one', () => passes)
    const checked = await checkerOf({ gateways: [one.guarded] }).check(
      addressesOf('a.com', 'http://A.com', ' a.com/ ', 'http://a.com:80/#x', 'https://a.com'),
    )
    assert.deepEqual(one.checkedUrls, ['http://a.com/', 'https://a.com/'])
    assert.deepEqual(checked.results, Array<string>(5).fill('未拦截'))
    assert.equal(checked.gatewayCalls, 2)
  })

  test('tries the next gateway after a failure', async () => {
    const unsure = gatewayOf('first', ({ host }) =>
      host === 'a.com' ? { kind: 'ambiguous', reason: 'timeout' } : passes,
    )
    const second = gatewayOf('second', () => blocked)
    const checked = await checkerOf({ gateways: [unsure.guarded, second.guarded] }).check(
      addressesOf('a.com', 'b.com'),
    )
    assert.deepEqual(checked.results, ['已拦截', '未拦截'])
    assert.deepEqual(second.checkedUrls, ['http://a.com/'])
    assert.deepEqual(checked.gateways.toSorted(), ['first', 'second'])
  })

  test('skips a distrusted gateway', async () => {
    const liar = gatewayOf('liar', () => passes)
    const pair = { good: readAddress('good.com')!, bad: readAddress('bad.com')! }
    assert.equal(await liar.guarded.runCanary(pair), true)
    assert.equal(liar.guarded.state, 'distrusted')
    const alone = await checkerOf({ gateways: [liar.guarded] }).check(addressesOf('a.com'))
    assert.deepEqual([alone.results, alone.failed, alone.gatewayCalls], [['请求失败'], 1, 0])
    const honest = gatewayOf('honest', () => blocked)
    const both = await checkerOf({ gateways: [liar.guarded, honest.guarded] }).check(addressesOf('a.com'))
    assert.deepEqual(both.results, ['已拦截'])
    assert.ok(!liar.checkedUrls.includes('http://a.com/'))
  })

  test('returns 请求失败 for every outcome without a verdict', async () => {
    const outcomes: Outcome<CheckVerdict>[] = [
      { kind: 'refused', code: 'no_verdict', reason: 'x' },
      { kind: 'throttled', concerns: 'us', reason: 'x' },
      { kind: 'not_sent', reason: 'x' },
      { kind: 'ambiguous', reason: 'x' },
    ]
    for (const outcome of outcomes) {
      const one = gatewayOf('one', () => outcome)
      const { results } = await checkerOf({ gateways: [one.guarded] }).check(addressesOf('a.com'))
      assert.deepEqual(results, ['请求失败'])
    }
    const broken = gatewayOf('broken', () => Promise.reject(new Error('a bug')))
    assert.deepEqual((await checkerOf({ gateways: [broken.guarded] }).check(addressesOf('a.com'))).results, [
      '请求失败',
    ])
  })

  test('fails the rest at the deadline and ignores later results', async () => {
    const late = Promise.withResolvers<typeof passes>()
    const one = gatewayOf('one', ({ host }) => (host === 'quick.com' ? passes : late.promise))
    const many = Array.from({ length: 40 }, (_, index) => `slow${index}.com`)
    const checked = await checkerOf({ gateways: [one.guarded], deadlineMs: 60 }).check(
      addressesOf('quick.com', ...many),
    )
    const first = [...checked.results]
    assert.equal(checked.results[0], '未拦截')
    assert.equal(checked.failed, 40)
    late.resolve(passes)
    await sleep(20)
    assert.deepEqual(checked.results, first)
    assert.equal(one.checkedUrls.length, 17, 'nothing was started after the deadline')
    assert.equal(one.guarded.state, 'up', 'the deadline does not count as a failure of the gateway')
  })

  test('ends when the signal aborts', async () => {
    const one = gatewayOf('one', () => sleep(100, passes))
    const stop = new AbortController()
    stop.abort()
    const checked = await checkerOf({ gateways: [one.guarded] }).check(addressesOf('a.com'), {
      signal: stop.signal,
    })
    assert.deepEqual(checked.results, ['请求失败'])
  })

  test('fails the items that have not started when the service stops', async () => {
    let stopping = false
    const one = gatewayOf('one', async () => {
      await sleep(20)
      stopping = true
      return passes
    })
    const many = Array.from({ length: 100 }, (_, index) => `h${index}.com`)
    const checker = checkerOf({ gateways: [one.guarded], isStopping: () => stopping })
    const { results, failed } = await checker.check(addressesOf(...many))
    assert.ok(failed >= 100 - 2 * 16, `${failed} of 100`)
    assert.deepEqual([...new Set(results)], ['未拦截', '请求失败'])
  })

  test('runs sixteen calls at a time', async () => {
    const one = gatewayOf('one', () => sleep(2, passes))
    const many = Array.from({ length: 100 }, (_, index) => `h${index}.com`)
    const { failed } = await checkerOf({ gateways: [one.guarded] }).check(addressesOf(...many))
    assert.equal(failed, 0)
    assert.equal(one.maxRunning(), 16)
  })

  test('caches verdicts by host until they expire', async () => {
    let now = 1
    const one = gatewayOf('one', () => blocked)
    const cache = createVerdictCache(1_000, () => now)
    const checker = checkerOf({ gateways: [one.guarded], cache })
    await checker.check(addressesOf('a.com/1', 'a.com/2', 'https://a.com:8443'))
    assert.equal(one.checkedUrls.length, 1)
    assert.deepEqual((await checker.check(addressesOf('http://a.com/3'))).results, ['已拦截'])
    assert.equal(one.checkedUrls.length, 1)
    now = 1_002
    await checker.check(addressesOf('a.com'))
    assert.equal(one.checkedUrls.length, 2)
  })

  test('does not cache failures and limits the cache size', async () => {
    const one = gatewayOf('one', () => ({ kind: 'ambiguous', reason: 'x' }))
    const cache = createVerdictCache(1_000_000)
    const checker = checkerOf({ gateways: [one.guarded], cache })
    await checker.check(addressesOf('a.com'))
    await checker.check(addressesOf('a.com'))
    assert.equal(one.checkedUrls.length, 2)
    for (let index = 0; index < 10_001; index++) cache.set(`h${index}.com`, 'passes')
    assert.equal(cache.get('h0.com'), undefined)
    assert.equal(cache.get('h1.com'), 'passes')
    assert.equal(cache.get('h10000.com'), 'passes')
  })

  test('reports progress up to the last item', async () => {
    const one = gatewayOf('one', () => passes)
    const progress: number[] = []
    await checkerOf({ gateways: [one.guarded] }).check(addressesOf('a.com', 'x', 'b.com', 'a.com'), {
      onProgress: ({ done, total }) => progress.push(done / total),
    })
    assert.deepEqual(
      progress,
      progress.toSorted((earlier, later) => earlier - later),
    )
    assert.equal(progress.at(-1), 1)
  })

  test('returns exactly one result for each item', async () => {
    const kinds = fc.constantFrom('good', 'bad', 'lost', 'none')
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(kinds, fc.nat(9)), { maxLength: 60 }), async (wanted) => {
        const one = gatewayOf('one', async ({ host }) => {
          await sleep(0)
          if (host.startsWith('lost')) return { kind: 'refused', code: 'x', reason: 'x' }
          return host.startsWith('bad') ? blocked : passes
        })
        const counted: string[] = []
        const checker = checkerOf({ gateways: [one.guarded], onResult: (result) => counted.push(result) })
        const checked = await checker.check(
          wanted.map(([kind, number]) => (kind === 'none' ? undefined : readAddress(`${kind}${number}.com`))),
        )
        const words = { good: '未拦截', bad: '已拦截', lost: '请求失败', none: '无效URL' }
        assert.deepEqual(
          checked.results,
          wanted.map(([kind]) => words[kind as keyof typeof words]),
        )
        assert.deepEqual(counted, checked.results)
        assert.equal(one.checkedUrls.length, new Set(one.checkedUrls).size)
      }),
      { numRuns: 30 },
    )
  })
})

// Every shared limit store gives the same guarantees.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { freshDatabase } from '../../test/support/engines.ts'
import { noRedis, startRedis } from '../../test/support/redis.ts'
import { answerLimitRequest, createPrimaryStore, type LimitResponse } from './primary-process.ts'
import { createMemoryStore } from './memory.ts'
import type { LimitStore } from './port.ts'
import { openRedisStore } from './redis.ts'
import { createTableStore } from './table-store.ts'

/** Two stores that share their counters, like those of two processes. */
interface StorePair extends AsyncDisposable {
  readonly stores: readonly [LimitStore, LimitStore]
}

function overIpc(): StorePair {
  const first = createMemoryStore()
  const worker = () => {
    let listener: (message: LimitResponse) => void = () => undefined
    return createPrimaryStore(
      // Like IPC messages: copied, and delivered later.
      (request) =>
        void answerLimitRequest(first, structuredClone(request)).then((response) =>
          listener(structuredClone(response)),
        ),
      (added) => (listener = added),
    )
  }
  return { stores: [worker(), worker()], [Symbol.asyncDispose]: async () => undefined }
}

async function inTables(): Promise<StorePair> {
  const fresh = await freshDatabase('postgres')
  const other = fresh.storage.open()
  return {
    stores: [createTableStore(fresh.db), createTableStore(other)],
    async [Symbol.asyncDispose]() {
      await other.close()
      await fresh[Symbol.asyncDispose]()
    },
  }
}

async function inRedis(): Promise<StorePair> {
  const server = await startRedis()
  const stores = [openRedisStore(server.url, 'test'), openRedisStore(server.url, 'test')] as const
  return {
    stores,
    async [Symbol.asyncDispose]() {
      for (const store of stores) store.close()
      await server[Symbol.asyncDispose]()
    },
  }
}

const stores: readonly [string, string | false, () => StorePair | Promise<StorePair>][] = [
  ['the primary process', false, overIpc],
  ['PostgreSQL tables', false, inTables],
  ['Redis', noRedis, inRedis],
]

for (const [name, skip, open] of stores) {
  void describe(`limits in ${name}`, { skip }, () => {
    it('never grants more tokens than the bucket has, under concurrency', async () => {
      await using pair = await open()
      const limit = { perSecond: 1, burst: 50 }
      const startedAt = performance.now()
      const drawn = await Promise.all(
        Array.from({ length: 60 }, async (_, index) => {
          const [first] = await pair.stores[index % 2]!.draw([
            { accountId: 7, limit, wanted: 3 },
            { accountId: 8, limit: { perSecond: 1, burst: 1 }, wanted: 0 },
          ])
          return first!
        }),
      )
      const sum = drawn.reduce((all, { granted }) => all + granted, 0)
      const inflow = Math.ceil((performance.now() - startedAt) / 1000) + 1
      assert.ok(sum >= 50 && sum <= 50 + inflow, String(sum))
      for (const { granted, bucketTokens } of drawn)
        if (granted < 3) assert.ok(bucketTokens >= 0 && bucketTokens < 1, String(bucketTokens))
    })

    it('refills tokens per second, up to the burst', async () => {
      await using pair = await open()
      const [one, other] = pair.stores
      const limit = { perSecond: 50, burst: 5 }
      const take = async (store: LimitStore, wanted: number) =>
        (await store.draw([{ accountId: 1, limit, wanted }]))[0]
      assert.equal((await take(one, 5))?.granted, 5)
      await sleep(300)
      // Fifteen tokens were added, five fit.
      assert.equal((await take(other, 100))?.granted, 5)
      const narrow = await other.draw([
        { accountId: 2, limit: { perSecond: 9_999_999, burst: 9_999_999 }, wanted: 10 },
      ])
      assert.equal(narrow[0]?.granted, 10)
      await sleep(20)
      const again = await one.draw([
        { accountId: 2, limit: { perSecond: 9_999_999, burst: 9_999_999 }, wanted: 0 },
      ])
      assert.equal(again[0]?.bucketTokens, 9_999_999)
    })

    it('counts attempts of both processes, counts no rejected attempt, and undoes successful ones', async () => {
      await using pair = await open()
      const [one, other] = pair.stores
      const keys = [
        { key: 'name', max: 3 },
        { key: 'address', max: 100 },
      ]
      const attempt = async (store: LimitStore) => {
        const result = await store.attempt(keys, 60_000)
        return 'counted' in result
          ? result.counted.toSorted((x, y) => (x.key < y.key ? 1 : -1))
          : result.retryAfterMs
      }
      const results = await Promise.all([one, other, one, other, one, other, one].map(attempt))
      const counted = results.filter((result) => typeof result !== 'number')
      assert.equal(counted.length, 3)
      assert.deepEqual(
        counted.map(([first]) => first!.attempts).toSorted((x, y) => x - y),
        [1, 2, 3],
      )
      assert.ok(
        results.every((result) => typeof result !== 'number' || (result > 30_000 && result <= 60_000)),
      )

      await other.undo(counted[0]!, undefined)
      const next = await attempt(one)
      assert.ok(typeof next !== 'number')
      assert.deepEqual(
        next.map(({ attempts }) => attempts),
        [3, 3],
      )
      assert.equal(typeof (await attempt(other)), 'number')
      await one.undo(next, 'name')
      const afterReset = await attempt(other)
      assert.ok(typeof afterReset !== 'number')
      assert.deepEqual(
        afterReset.map(({ attempts }) => attempts),
        [1, 3],
      )
      // Undoing an attempt of an expired window changes nothing.
      await one.undo([{ key: 'name', attempts: 1, window: 12 }], undefined)
      assert.deepEqual(((await attempt(other)) as { attempts: number }[])[0]?.attempts, 2)
    })

    it('starts a new window when the old one has expired', async () => {
      await using pair = await open()
      const [one, other] = pair.stores
      const keys = [{ key: 'k', max: 1 }]
      assert.ok('counted' in (await one.attempt(keys, 300)))
      assert.ok('retryAfterMs' in (await other.attempt(keys, 300)))
      await sleep(350)
      assert.ok('counted' in (await other.attempt(keys, 60_000)))
      await one.deleteExpired?.()
      assert.ok('retryAfterMs' in (await one.attempt(keys, 60_000)))
    })

    it('adds up failures', async () => {
      await using pair = await open()
      const [one, other] = pair.stores
      await Promise.all(
        [one, other, one, other].map((store) =>
          store.addFailures(
            [
              { key: 'a', count: 2 },
              { key: 'b', count: 1 },
            ],
            60_000,
          ),
        ),
      )
      const [a, b] = await one.addFailures(
        [
          { key: 'a', count: 5 },
          { key: 'b', count: 0 },
        ],
        60_000,
      )
      assert.deepEqual([a?.failures, b?.failures], [13, 4])
      assert.ok(a!.expiresInMs > 30_000 && a!.expiresInMs <= 60_000)
      await other.ping()
    })
  })
}

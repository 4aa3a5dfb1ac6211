// Every place where limits can be counted in common keeps the same promises.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { freshDatabase } from '../../test/support/engines.ts'
import { noRedis, startRedis } from '../../test/support/redis.ts'
import { answerLimits, firstProcessStore, type LimitAnswer } from './primary-process.ts'
import { memoryStore } from './memory.ts'
import type { LimitStore } from './port.ts'
import { redisStore } from './redis.ts'
import { tableStore } from './table-store.ts'

/** Two that count in the same place, as two processes do. */
interface Two extends AsyncDisposable {
  readonly stores: readonly [LimitStore, LimitStore]
}

function overIpc(): Two {
  const first = memoryStore()
  const worker = () => {
    let hear: (said: LimitAnswer) => void = () => undefined
    return firstProcessStore(
      // As messages between processes go: copied, and later.
      (question) =>
        void answerLimits(first, structuredClone(question)).then((answer) => hear(structuredClone(answer))),
      (listener) => (hear = listener),
    )
  }
  return { stores: [worker(), worker()], [Symbol.asyncDispose]: async () => undefined }
}

async function inTables(): Promise<Two> {
  const fresh = await freshDatabase('postgres')
  const other = fresh.storage.open()
  return {
    stores: [tableStore(fresh.db), tableStore(other)],
    async [Symbol.asyncDispose]() {
      await other.close()
      await fresh[Symbol.asyncDispose]()
    },
  }
}

async function inRedis(): Promise<Two> {
  const server = await startRedis()
  const stores = [redisStore(server.url, 'test'), redisStore(server.url, 'test')] as const
  return {
    stores,
    async [Symbol.asyncDispose]() {
      for (const store of stores) store.close()
      await server[Symbol.asyncDispose]()
    },
  }
}

const places: readonly [string, string | false, () => Two | Promise<Two>][] = [
  ['the first process', false, overIpc],
  ['tables of PostgreSQL', false, inTables],
  ['Redis', noRedis, inRedis],
]

for (const [name, skip, open] of places) {
  void describe(`limits in ${name}`, { skip }, () => {
    it('a bucket holds for both, to the last token, however many ask at once', async () => {
      await using two = await open()
      const limit = { perSecond: 1, burst: 50 }
      const startedAt = performance.now()
      const drawn = await Promise.all(
        Array.from({ length: 60 }, async (_, index) => {
          const [first] = await two.stores[index % 2]!.draw([
            { accountId: 7, limit, wanted: 3 },
            { accountId: 8, limit: { perSecond: 1, burst: 1 }, wanted: 0 },
          ])
          return first!
        }),
      )
      const sum = drawn.reduce((all, { granted }) => all + granted, 0)
      const inflow = Math.ceil((performance.now() - startedAt) / 1000) + 1
      assert.ok(sum >= 50 && sum <= 50 + inflow, String(sum))
      for (const { granted, left } of drawn) if (granted < 3) assert.ok(left >= 0 && left < 1, String(left))
    })

    it('tokens flow in by the second and never above the burst', async () => {
      await using two = await open()
      const [one, other] = two.stores
      const limit = { perSecond: 50, burst: 5 }
      const take = async (store: LimitStore, wanted: number) =>
        (await store.draw([{ accountId: 1, limit, wanted }]))[0]
      assert.equal((await take(one, 5))?.granted, 5)
      await sleep(300)
      // Fifteen came, five fit.
      assert.equal((await take(other, 100))?.granted, 5)
      const narrow = await other.draw([
        { accountId: 2, limit: { perSecond: 9_999_999, burst: 9_999_999 }, wanted: 10 },
      ])
      assert.equal(narrow[0]?.granted, 10)
      await sleep(20)
      const again = await one.draw([
        { accountId: 2, limit: { perSecond: 9_999_999, burst: 9_999_999 }, wanted: 0 },
      ])
      assert.equal(again[0]?.left, 9_999_999)
    })

    it('tries count for both; a refused one counts nowhere; what was right is taken back', async () => {
      await using two = await open()
      const [one, other] = two.stores
      const keys = [
        { key: 'name', most: 3 },
        { key: 'address', most: 100 },
      ]
      const begin = async (store: LimitStore) => {
        const begun = await store.begin(keys, 60_000)
        return 'counted' in begun
          ? begun.counted.toSorted((x, y) => (x.key < y.key ? 1 : -1))
          : begun.refusedMs
      }
      const results = await Promise.all([one, other, one, other, one, other, one].map(begin))
      const counted = results.filter((result) => typeof result !== 'number')
      assert.equal(counted.length, 3)
      assert.deepEqual(
        counted.map(([first]) => first!.tries).toSorted((x, y) => x - y),
        [1, 2, 3],
      )
      assert.ok(
        results.every((result) => typeof result !== 'number' || (result > 30_000 && result <= 60_000)),
      )

      await other.takeBack(counted[0]!, undefined)
      const next = await begin(one)
      assert.ok(typeof next !== 'number')
      assert.deepEqual(
        next.map(({ tries }) => tries),
        [3, 3],
      )
      assert.equal(typeof (await begin(other)), 'number')
      await one.takeBack(next, 'name')
      const forgiven = await begin(other)
      assert.ok(typeof forgiven !== 'number')
      assert.deepEqual(
        forgiven.map(({ tries }) => tries),
        [1, 3],
      )
      // Of a window that has gone nothing is taken back.
      await one.takeBack([{ key: 'name', tries: 1, window: 12 }], undefined)
      assert.deepEqual(((await begin(other)) as { tries: number }[])[0]?.tries, 2)
    })

    it('a window ends', async () => {
      await using two = await open()
      const [one, other] = two.stores
      const keys = [{ key: 'k', most: 1 }]
      assert.ok('counted' in (await one.begin(keys, 300)))
      assert.ok('refusedMs' in (await other.begin(keys, 300)))
      await sleep(350)
      assert.ok('counted' in (await other.begin(keys, 60_000)))
      await one.tidy?.()
      assert.ok('refusedMs' in (await one.begin(keys, 60_000)))
    })

    it('failures add up', async () => {
      await using two = await open()
      const [one, other] = two.stores
      await Promise.all(
        [one, other, one, other].map((store) =>
          store.add(
            [
              { key: 'a', count: 2 },
              { key: 'b', count: 1 },
            ],
            60_000,
          ),
        ),
      )
      const [a, b] = await one.add(
        [
          { key: 'a', count: 5 },
          { key: 'b', count: 0 },
        ],
        60_000,
      )
      assert.deepEqual([a?.tries, b?.tries], [13, 4])
      assert.ok(a!.leftMs > 30_000 && a!.leftMs <= 60_000)
      await other.ping()
    })
  })
}

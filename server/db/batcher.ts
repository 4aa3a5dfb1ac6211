// Runs items in batches, each batch in one transaction. Items that arrive while a batch runs form the next one.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Database, DatabaseUnavailable, type Tx } from './database.ts'
import { parallelWriters } from './dialect.ts'

export interface BatcherOptions<I, O> {
  readonly maxBatch: number
  /** Items with the same number, such as those of one account, are never in two batches at the same time. */
  readonly queueKeyOf: (item: I) => number
  /**
   * Returns the results in order, those of the items from `takeMore` last. When it throws, the items of each number run again
   * in their own batch, and those of a batch that fails again run one by one: the error of one account costs the others at
   * most a few transactions.
   */
  readonly run: (tx: Tx, items: readonly I[], takeMore: TakeMore<I>) => Promise<readonly O[]>
  /**
   * Runs a batch with one statement, where that is possible. Returns undefined when nothing was written and `run` has to do it.
   * After an error nothing runs again, because the batch may have been committed.
   */
  readonly runStatement?: (items: readonly I[]) => Promise<StatementResults<O> | undefined>
}

export interface StatementResults<O> {
  /** In order. */
  readonly results: readonly O[]
  /** Whether another process has written the same rows since the last batch. */
  readonly isContended: boolean
}

/** Adds waiting items to the batch: while it waited for a lock, items that need the same lock have arrived. */
export type TakeMore<I> = (belongs: (item: I) => boolean) => readonly I[]

export const takeNoMore = (): readonly never[] => []

interface PendingInput<I, O> {
  readonly item: I
  readonly resolve: (value: O) => void
  readonly reject: (error: unknown) => void
}

/** What is waiting is written in halves, so that the service works on one while the database writes the other. */
const minHalf = 32

/**
 * While another process writes the same rows, a statement waits for its lock, and the items that arrive meanwhile cannot join
 * it: batches become small, and a small one costs almost as much as a large one. So a batch first waits for most of the items
 * that are in progress, but only if there are many and only for a moment.
 */
const gathered = { minInProgress: 16, share: 0.8, maxMs: 3 }

/**
 * One lane writes at a time, because a batch of many items costs little more than a small one. When its batch waits, for example for
 * a lock that another process holds, another lane writes the items of other numbers meanwhile.
 */
const lateMs = 25

/** How many lanes beside another one all batchers of a database run now. More would take the connections of everything else. */
const extraLanes = new WeakMap<Database, number>()

export function createBatcher<I, O>(db: Database, options: BatcherOptions<I, O>): (item: I) => Promise<O> {
  const waiting = createWaitingItems<I, O>(options.queueKeyOf)
  const maxLanes = parallelWriters(db)
  const lanes: Lane[] = Array.from({ length: maxLanes }, () =>
    createLane(db, options, waiting, (own) => !isAnotherInTime(own)),
  )
  let running = 0
  let timer: NodeJS.Timeout | undefined

  function isAnotherInTime(own?: Lane): boolean {
    const since = performance.now() - lateMs
    return lanes.some((lane) => lane !== own && lane.isRunning && lane.batchAt > since)
  }

  function start(lane: Lane): void {
    running += 1
    if (running > 1) addExtra(db, 1)
    void lane.start().then(() => {
      running -= 1
      if (running > 0) addExtra(db, -1)
    })
  }

  function startExtra(): void {
    const lane = lanes.find(({ isRunning }) => !isRunning)
    if (lane && addExtra(db, 0) < maxLanes - 1) start(lane)
  }

  function watch(): void {
    timer ??= setTimeout(() => {
      timer = undefined
      if (waiting.size === 0) return
      if (waiting.hasMore() && !isAnotherInTime()) startExtra()
      watch()
    }, lateMs)
  }

  return (item) =>
    new Promise<O>((resolve, reject) => {
      waiting.add({ item, resolve, reject })
      if (!lanes.some(({ isRunning }) => isRunning)) start(lanes[0]!)
      else {
        for (const lane of lanes) lane.onArrival()
        if (lanes.length === 1) return
        if (waiting.hasMore() && !isAnotherInTime()) startExtra()
        watch()
      }
    })
}

/** Returns their number. */
function addExtra(db: Database, change: number): number {
  const count = (extraLanes.get(db) ?? 0) + change
  extraLanes.set(db, count)
  return count
}

interface WaitingItems<I, O> {
  readonly size: number
  add(pending: PendingInput<I, O>): void
  /** Whether a lane may take one: items of numbers that another lane writes wait for that lane. */
  hasMore(): boolean
  /** Removes and returns the first ones. Their numbers belong to the lane that takes them, until it releases them. */
  take(max: number): PendingInput<I, O>[]
  /** Removes and returns further ones of the numbers of a batch. */
  takeMore(
    batch: readonly PendingInput<I, O>[],
    max: number,
    belongs: (item: I) => boolean,
  ): PendingInput<I, O>[]
  release(batch: readonly PendingInput<I, O>[]): void
}

/** In lists by number, so that the time to take a batch does not depend on how many items of another number are waiting. */
function createWaitingItems<I, O>(keyOf: (item: I) => number): WaitingItems<I, O> {
  /** Of numbers that no lane writes; the one that has waited longest is the first. */
  const free = new Map<number, PendingInput<I, O>[]>()
  /** Of numbers whose batch is being written. */
  const taken = new Map<number, PendingInput<I, O>[]>()
  let size = 0
  let freeSize = 0

  const keysOf = (batch: readonly PendingInput<I, O>[]) => new Set(batch.map(({ item }) => keyOf(item)))

  return {
    get size() {
      return size
    },
    add(pending) {
      const key = keyOf(pending.item)
      const list = taken.get(key) ?? free.get(key)
      if (list) list.push(pending)
      else free.set(key, [pending])
      size += 1
      if (!taken.has(key)) freeSize += 1
    },
    hasMore: () => free.size > 0,
    take(max) {
      const found: PendingInput<I, O>[] = []
      // The same number of items for all numbers that have so many, then the first ones of the others.
      const share = freeSize <= max ? max : Math.max(1, Math.floor(max / free.size))
      for (const [key, list] of free) {
        if (found.length === max) break
        free.delete(key)
        taken.set(key, list)
        freeSize -= list.length
        found.push(...list.splice(0, Math.min(share, max - found.length)))
      }
      for (const key of keysOf(found)) {
        if (found.length === max) break
        found.push(...taken.get(key)!.splice(0, max - found.length))
      }
      size -= found.length
      return found
    },
    takeMore(batch, max, belongs) {
      const found: PendingInput<I, O>[] = []
      if (max <= 0) return found
      for (const key of keysOf(batch)) {
        const rest: PendingInput<I, O>[] = []
        for (const pending of taken.get(key) ?? []) {
          if (found.length < max && belongs(pending.item)) found.push(pending)
          else rest.push(pending)
        }
        taken.set(key, rest)
      }
      size -= found.length
      return found
    },
    release(batch) {
      for (const key of keysOf(batch)) {
        const list = taken.get(key) ?? []
        taken.delete(key)
        if (list.length === 0) continue
        free.set(key, list)
        freeSize += list.length
      }
    },
  }
}

interface Lane {
  readonly isRunning: boolean
  /** When its batch began. */
  readonly batchAt: number
  /** Resolves when it stops. */
  start(): Promise<void>
  onArrival(): void
}

function createLane<I, O>(
  db: Database,
  { maxBatch, queueKeyOf, run, runStatement }: BatcherOptions<I, O>,
  waiting: WaitingItems<I, O>,
  mayContinue: (own: Lane) => boolean,
): Lane {
  let isRunning = false
  let batchAt = 0
  /** Set while another process writes the same rows: how many items were in progress when the last batch ended. */
  let contention: { readonly inProgress: number; readonly at: number } | undefined
  let gathering: { readonly size: number; readonly end: () => void } | undefined

  function sizeOf(count: number): number {
    // SQLite writes on the event loop, so there is nothing to do meanwhile. Under contention the database writes for the other
    // process meanwhile.
    const isWhole = db.engine === 'sqlite' || contention
    const wanted = isWhole ? count : Math.max(minHalf, Math.ceil(count / 2))
    return Math.min(wanted, maxBatch)
  }

  /** Returns how the items of the batch get their results, unless they have them. */
  async function runBatch(): Promise<(() => void) | undefined> {
    let batch: PendingInput<I, O>[] | undefined
    batchAt = performance.now()
    // Taken when the transaction begins, so that items that arrive meanwhile still join, and only once: a job may run again.
    const take = () => (batch ??= waiting.take(sizeOf(waiting.size)))
    const takeMore: TakeMore<I> = (belongs) => {
      const taken = take()
      const known = taken.length
      const size = Math.max(known, sizeOf(known + waiting.size))
      taken.push(...waiting.takeMore(taken, size - known, belongs))
      return taken.slice(known).map(({ item }) => item)
    }
    const resolveAll = (results: readonly O[]) => () => {
      for (const [i, { resolve }] of take().entries()) resolve(results[i]!)
    }
    const rejectAll = (error: unknown) => () => {
      for (const { reject } of take()) reject(error)
    }
    try {
      if (runStatement) {
        try {
          // Another lane may have taken the items meanwhile.
          if (take().length === 0) return undefined
          const written = await runStatement(take().map(({ item }) => item))
          contention = written?.isContended
            ? { inProgress: take().length + waiting.size, at: performance.now() }
            : undefined
          if (written) return resolveAll(written.results)
        } catch (error) {
          return rejectAll(error)
        }
      }
      try {
        return resolveAll(
          await db.write((tx) => {
            const items = take().map(({ item }) => item)
            return items.length === 0 ? Promise.resolve([]) : run(tx, items, takeMore)
          }),
        )
      } catch (error) {
        if (!mayRunAgain(error, take())) return rejectAll(error)
        await runInGroups(take())
        return undefined
      }
    } finally {
      waiting.release(batch ?? [])
    }
  }

  async function runInGroups(batch: readonly PendingInput<I, O>[]): Promise<void> {
    const groups = [...Map.groupBy(batch, ({ item }) => queueKeyOf(item)).values()]
    // The failed batch is often one group with a problem and others without: the small ones do not wait for it.
    groups.sort((a, b) => a.length - b.length)
    await runEach(groups, async (group) => {
      const items = group.map(({ item }) => item)
      if (group.length === batch.length) return runSingly(group)
      try {
        const results = await db.write((tx) => run(tx, items, takeNoMore))
        for (const [index, { resolve }] of group.entries()) resolve(results[index]!)
      } catch (error) {
        if (mayRunAgain(error, group)) await runSingly(group)
        else for (const { reject } of group) reject(error)
      }
    })
  }

  function runSingly(batch: readonly PendingInput<I, O>[]): Promise<void> {
    return runEach(batch, ({ item, resolve, reject }) =>
      db.write(async (tx) => (await run(tx, [item], takeNoMore))[0]!).then(resolve, reject),
    )
  }

  /** SQLite commits jobs of the same time together. On PostgreSQL they would take all connections of the pool. */
  async function runEach<T>(list: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
    if (db.engine === 'sqlite') await Promise.all(list.map(work))
    else for (const one of list) await work(one)
  }

  /** How many items the next batch waits for. The callers of the last batch are expected to come back. */
  function sizeToGather(): number {
    if (!contention || performance.now() > contention.at + gathered.maxMs) return 0
    const { inProgress } = contention
    return inProgress < gathered.minInProgress
      ? 0
      : Math.min(Math.ceil(inProgress * gathered.share), maxBatch)
  }

  function gather(size: number): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer)
        gathering = undefined
        resolve()
      }
      const timer = setTimeout(end, gathered.maxMs)
      gathering = { size, end }
    })
  }

  async function runAll(): Promise<void> {
    // All items of this turn are to be in the statement, not only the first one.
    if (runStatement) await nextTurn()
    let settleLast: (() => void) | undefined
    while (waiting.hasMore() && mayContinue(lane)) {
      const size = sizeToGather()
      if (waiting.size < size) {
        settleLast?.()
        settleLast = undefined
        await gather(size)
      }
      const batch = runBatch()
      if (settleLast) {
        // By then the next batch is sent: the database writes it while the service continues with the items of the last one.
        await nextTurn()
        settleLast()
      }
      settleLast = await batch
      if (db.engine === 'sqlite') {
        settleLast?.()
        settleLast = undefined
      }
    }
    isRunning = false
    settleLast?.()
  }

  const lane: Lane = {
    get isRunning() {
      return isRunning
    },
    get batchAt() {
      return batchAt
    },
    start() {
      isRunning = true
      batchAt = performance.now()
      return runAll()
    },
    onArrival() {
      if (gathering && waiting.size >= gathering.size) gathering.end()
    },
  }
  return lane
}

/** When the connection breaks during COMMIT, the batch may be durable: running it again could write it twice. */
function mayRunAgain(error: unknown, batch: readonly unknown[]): boolean {
  return batch.length > 1 && !(error instanceof DatabaseUnavailable)
}

// The click pipeline: visits are buffered in memory, appended to the journal, and folded from there into the counters.
//
// Counting never waits and never fails a redirect. A crash loses at most the visits that are still in memory.
import { randomUUID } from 'node:crypto'
import { hourOf } from './hours.ts'
import { createVisitBuffer, toColumns, type Visit, type VisitBatch } from './visit-buffer.ts'
import type { ClickWriter } from './writer.ts'

/** The buffer is appended to the journal this often, or when it holds this many clicks. */
const flushMs = 500
const flushClicks = 1_000

/** The journal is folded immediately when idle. Under load it is folded this often: then many clicks share a counter. */
const foldMs = 5_000

export interface Clicks {
  count(visit: Visit): void
  /** Folds what this process counted before the call; returns immediately when nothing of this link is waiting. */
  flush(linkId?: number): Promise<void>
  start(): void
  stop(): Promise<void>
  /** Clicks that were lost because the database was unavailable for too long. */
  lost(): number
}

export interface ClickOptions {
  readonly writer: ClickWriter
  readonly onError: (error: unknown) => void
  /** Whether another process left clicks in the journal. */
  readonly hasJournal: boolean
}

export function createClicks({ writer, onError, hasJournal }: ClickOptions): Clicks {
  const buffer = createVisitBuffer()
  let appending: VisitBatch | undefined
  let isFoldNeeded = hasJournal
  let hasFailed = false
  let fullAt = Number.NEGATIVE_INFINITY
  let foldedAt = performance.now()
  let timer: NodeJS.Timeout | undefined

  const append = createSharedRun(async () => {
    try {
      // A batch that failed is repeated as it is: it may be in the journal already, and then its id prevents a second count.
      if (appending) await appendBatch(appending)
      if (buffer.clicks() > 0) await appendBatch({ id: randomUUID(), visits: toColumns(buffer.take()) })
      hasFailed = false
    } catch (error) {
      hasFailed = true
      throw error
    }
  })

  async function appendBatch(batch: VisitBatch): Promise<void> {
    appending = batch
    await writer.run({ kind: 'append', batch })
    appending = undefined
    isFoldNeeded = true
  }

  /** Runs in steps, so that appends do not wait until the whole journal is folded. */
  const fold = createSharedRun(async () => {
    isFoldNeeded = false
    try {
      let upTo: number | undefined
      do upTo = await writer.run({ kind: 'fold', upTo })
      while (upTo !== undefined)
      foldedAt = performance.now()
    } catch (error) {
      isFoldNeeded = true
      throw error
    }
  })

  function appendInBackground(): void {
    if (!append.isRunning()) append.run().then(foldInBackground).catch(onError)
  }

  function foldInBackground(): void {
    const now = performance.now()
    const isDue = now - fullAt >= flushMs || now - foldedAt >= foldMs
    if (isFoldNeeded && isDue && !fold.isRunning()) fold.run().catch(onError)
  }

  function mayHold(linkId: number | undefined): boolean {
    if (isFoldNeeded || fold.isRunning()) return true
    if (linkId === undefined) return buffer.clicks() > 0 || appending !== undefined
    return buffer.has(linkId) || (appending?.visits.linkId.includes(linkId) ?? false)
  }

  return {
    count(visit) {
      buffer.add(visit, hourOf(Date.now()))
      if (buffer.clicks() < flushClicks) return
      fullAt = performance.now()
      // After a failure only the timer retries.
      if (!hasFailed) appendInBackground()
    },
    async flush(linkId) {
      if (!mayHold(linkId)) return
      await append.run()
      await fold.run()
    },
    start() {
      timer = setInterval(appendInBackground, flushMs).unref()
    },
    async stop() {
      clearInterval(timer)
      await this.flush().catch(onError)
    },
    lost: buffer.lost,
  }
}

interface SharedRun {
  /** Returns the end of a run that starts after this call: callers during a run share the next one. */
  run(): Promise<void>
  isRunning(): boolean
}

function createSharedRun(work: () => Promise<void>): SharedRun {
  let current: Promise<void> | undefined
  let next: Promise<void> | undefined

  function start(): Promise<void> {
    next = undefined
    const started = work().finally(() => {
      if (current === started) current = undefined
    })
    current = started
    return started
  }

  return {
    run: () => next ?? (current ? (next = current.then(start, start)) : start()),
    isRunning: () => current !== undefined || next !== undefined,
  }
}

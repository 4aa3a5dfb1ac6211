// Clicks on their way: collected in memory, written together. Counting never waits and never fails a redirect.
import type { Agent } from './user-agents.ts'
import { type ClickBatch, combine, openDraft } from './batch.ts'
import type { ClickWriter } from './writer.ts'
import { hourOf } from './hours.ts'

/** What a crash can lose. */
const flushMs = 500
/** So many clicks are written without waiting for the time. */
const flushClicks = 1_000
/** While clicks come by the thousand, they go into the journal first, and from there into the counters so often. */
const foldMs = 5_000
/** So many clicks wait one by one behind a write that takes its time; then they are added up. */
const mostWaiting = 10_000
/** While the database is away counters wait in memory, but no more than these; then clicks are lost, and counted as lost. */
const mostCounters = 50_000

export interface Visit {
  readonly linkId: number
  readonly agent: Agent
  readonly isLookingAhead: boolean
  readonly referrer: string
  readonly address: string
}

export interface Clicks {
  count(visit: Visit): void
  /** Puts into the counters what this process counted before the call; at once when nothing of this link waits. */
  flush(linkId?: number): Promise<void>
  start(): void
  stop(): Promise<void>
  readonly lost: () => number
}

export interface ClickOptions {
  readonly writer: ClickWriter
  readonly onError: (error: unknown) => void
  /** Whether a journal was found that somebody left behind. */
  readonly isJournalLeft: boolean
}

export function openClicks({ writer, onError, isJournalLeft }: ClickOptions): Clicks {
  let draft = openDraft()
  /** What could not be written and what waited too long, added up. */
  let held: ClickBatch<string> | undefined
  let written: ClickBatch<string> | undefined
  let lost = 0
  let lastWrite: Promise<void> = Promise.resolve()
  let isWriting = false
  let hasFailed = false
  let isJournalUsed = isJournalLeft
  let isFolding = false
  let foldedAt = performance.now()
  let takenAt = performance.now()
  /** Whether clicks have come by the thousand since the last look. */
  let isCrowded = false
  let asked: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined

  /** Takes what waits and writes it. What could not be written waits again, beside what came meanwhile. */
  async function write(kind: 'add' | 'note'): Promise<void> {
    const batch = take()
    if (batch === undefined) return
    written = batch
    if (kind === 'note') isJournalUsed = true
    try {
      await writer.run({ kind, batch })
    } catch (error) {
      hold([batch])
      throw error
    } finally {
      written = undefined
    }
  }

  function take(): ClickBatch<string> | undefined {
    takenAt = performance.now()
    if (held !== undefined && draft.clicks() > 0) hold([])
    const taken = held ?? (draft.clicks() > 0 ? draft.batch() : undefined)
    if (held === undefined && taken !== undefined) draft = openDraft()
    held = undefined
    return taken
  }

  /** Adds up everything that waits, and these. */
  function hold(batches: readonly ClickBatch<string>[]): void {
    const all = [...(held ? [held] : []), ...batches, draft.batch()]
    const combined = combine(all, mostCounters)
    held = combined.batch
    lost += combined.lost
    draft = openDraft()
  }

  /** From the journal into the counters; what comes meanwhile does not wait for the end of it. */
  async function fold(): Promise<void> {
    isJournalUsed = false
    isFolding = true
    try {
      let upTo = await writer.run({ kind: 'fold', upTo: undefined })
      while (upTo !== undefined) {
        if (draft.clicks() >= flushClicks || performance.now() - takenAt >= flushMs) await write('note')
        upTo = await writer.run({ kind: 'fold', upTo })
      }
    } catch (error) {
      isJournalUsed = true
      throw error
    } finally {
      isFolding = false
    }
    foldedAt = performance.now()
  }

  async function writeAll(): Promise<void> {
    const waiting = draft.clicks() + (held?.linkIds.length ?? 0)
    // More than a thousand at once would keep others waiting for the end of their transaction; folding takes them in pieces.
    await write(waiting > flushClicks ? 'note' : 'add')
    if (isJournalUsed) await fold()
  }

  async function writeDown(): Promise<void> {
    await write('note')
    if (performance.now() - foldedAt >= foldMs) await fold()
  }

  /** One piece of work at a time, each after the one before, however that ended. */
  function next(work: () => Promise<void>): Promise<void> {
    lastWrite = lastWrite.then(work, work)
    return lastWrite
  }

  function workAlone(work: () => Promise<void>): void {
    if (isWriting) return
    isWriting = true
    next(work)
      .then(() => (hasFailed = false))
      .catch((error: unknown) => {
        hasFailed = true
        onError(error)
      })
      .finally(() => (isWriting = false))
  }

  function writeOnTime(): void {
    if (isCrowded) workAlone(writeDown)
    else if (isWaiting() || isJournalUsed) workAlone(writeAll)
    isCrowded = false
  }

  /** A full buffer does not wait for the time, unless the database has just refused: then only time may help. */
  function writeWhenFull(): void {
    if (draft.clicks() < flushClicks) return
    isCrowded = true
    if (!isWriting && !hasFailed) workAlone(() => write('note'))
    else if (draft.clicks() >= mostWaiting) hold([])
  }

  const isWaiting = () => draft.clicks() > 0 || held !== undefined
  const holds = (batch: ClickBatch<string> | undefined, linkId: number) =>
    batch !== undefined && batch.linkIds.includes(linkId)

  function mayHold(linkId: number | undefined): boolean {
    if (isJournalUsed || isFolding) return true
    if (linkId === undefined) return isWaiting() || written !== undefined
    return draft.has(linkId) || holds(held, linkId) || holds(written, linkId)
  }

  return {
    count({ linkId, agent, isLookingAhead, referrer, address }) {
      const hour = hourOf(Date.now())
      const agentClass = isLookingAhead ? agent.lookingAhead : agent.usual
      draft.add(linkId, hour, agentClass, referrer)
      if (agentClass.kind === 'person') draft.addVisitor(linkId, hour, address, agent)
      writeWhenFull()
    },
    async flush(linkId) {
      if (!mayHold(linkId)) return
      // Whoever comes before it has begun shares it.
      asked ??= next(() => {
        asked = undefined
        return writeAll()
      })
      await asked
    },
    start() {
      timer = setInterval(writeOnTime, flushMs).unref()
    },
    async stop() {
      clearInterval(timer)
      await this.flush().catch(onError)
    },
    lost: () => lost,
  }
}

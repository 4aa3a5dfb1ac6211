// Limits concurrent work per call and per process, and lets the calls take turns.

/** In one turn of the event loop: items whose verdict is known end at once, and everything else would wait for all of them. */
const maxStartsPerTurn = 64

export interface SchedulerLimits {
  readonly perCall: number
  readonly inTotal: number
}

export interface ScheduledBatch {
  /** Resolves when every started item has ended and no item is left to start. */
  readonly finished: Promise<void>
  /** Starts no further item. Running items keep their slots until they end. */
  stop(): void
}

export interface Scheduler {
  /** Calls `work` for 0 … count-1, each at most once. */
  start(count: number, work: (index: number) => Promise<void>): ScheduledBatch
  /** Running items in the whole process. */
  readonly running: number
}

interface ScheduledCall {
  readonly count: number
  readonly work: (index: number) => Promise<void>
  readonly finish: () => void
  next: number
  running: number
  stopped: boolean
  queued: boolean
}

export function createScheduler(limits: SchedulerLimits): Scheduler {
  /** Calls that may start one more item, in order. */
  const queue: ScheduledCall[] = []
  let running = 0
  let startsInTurn = 0

  function onNextTurn(): void {
    startsInTurn = 0
    fillSlots()
  }

  function enqueue(call: ScheduledCall): void {
    if (call.queued || call.stopped || call.next >= call.count || call.running >= limits.perCall) return
    call.queued = true
    queue.push(call)
  }

  function fillSlots(): void {
    while (running < limits.inTotal && startsInTurn < maxStartsPerTurn) {
      const call = queue.shift()
      if (call === undefined) return
      call.queued = false
      if (!call.stopped) startNext(call)
    }
  }

  function startNext(call: ScheduledCall): void {
    const index = call.next
    call.next += 1
    call.running += 1
    running += 1
    if (startsInTurn === 0) setImmediate(onNextTurn)
    startsInTurn += 1
    // At the end of the queue, so that every other call gets a turn first.
    enqueue(call)
    const onEnd = () => end(call)
    call.work(index).then(onEnd, onEnd)
  }

  function end(call: ScheduledCall): void {
    call.running -= 1
    running -= 1
    if (call.running === 0 && (call.stopped || call.next >= call.count)) call.finish()
    enqueue(call)
    fillSlots()
  }

  return {
    get running() {
      return running
    },
    start(count, work) {
      const { promise: finished, resolve: finish } = Promise.withResolvers<void>()
      const call: ScheduledCall = { count, work, finish, next: 0, running: 0, stopped: false, queued: false }
      if (count === 0) finish()
      enqueue(call)
      fillSlots()
      return {
        finished,
        stop() {
          call.stopped = true
          if (call.running === 0) finish()
        },
      }
    },
  }
}

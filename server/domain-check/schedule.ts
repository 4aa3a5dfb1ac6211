// Who may ask next: so many at a time for one call, so many for the process, and the calls take turns.

export interface ScheduleLimits {
  readonly perCall: number
  readonly inTotal: number
}

export interface Batch {
  /** Every item that was started has ended, and none is left to start. */
  readonly finished: Promise<void>
  /** Starts no further item. Those under way keep their places until they end. */
  stop(): void
}

export interface Schedule {
  /** Calls `work` for 0 … count-1, each once at most. */
  begin(count: number, work: (index: number) => Promise<void>): Batch
  /** Items under way in the whole process. */
  readonly running: number
}

interface Call {
  readonly count: number
  readonly work: (index: number) => Promise<void>
  readonly finish: () => void
  next: number
  running: number
  stopped: boolean
  queued: boolean
}

export function createSchedule(limits: ScheduleLimits): Schedule {
  /** Calls that may start one more item, in the order of their turns. */
  const turns: Call[] = []
  let running = 0

  function queue(call: Call): void {
    if (call.queued || call.stopped || call.next >= call.count || call.running >= limits.perCall) return
    call.queued = true
    turns.push(call)
  }

  function fill(): void {
    while (running < limits.inTotal) {
      const call = turns.shift()
      if (call === undefined) return
      call.queued = false
      if (!call.stopped) start(call)
    }
  }

  function start(call: Call): void {
    const index = call.next
    call.next += 1
    call.running += 1
    running += 1
    // To the end of the line: everyone else has a turn first.
    queue(call)
    const ended = () => end(call)
    call.work(index).then(ended, ended)
  }

  function end(call: Call): void {
    call.running -= 1
    running -= 1
    if (call.running === 0 && (call.stopped || call.next >= call.count)) call.finish()
    queue(call)
    fill()
  }

  return {
    get running() {
      return running
    },
    begin(count, work) {
      const { promise: finished, resolve: finish } = Promise.withResolvers<void>()
      const call: Call = { count, work, finish, next: 0, running: 0, stopped: false, queued: false }
      if (count === 0) finish()
      queue(call)
      fill()
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

// Runs costly tasks, a few at a time. Shares take turns, so that a caller with many tasks delays only itself. When the queue is
// full, the largest share loses its newest task. Ranks put some shares before others.

export interface FairQueueOptions {
  readonly maxRunning: number
  /** Of one share; `maxRunning` if left out. */
  readonly maxRunningOfShare?: number
  readonly maxWaiting: number
  /** A task that has waited for so long is rejected. */
  readonly maxWaitMs?: number
  /** Shares of the lowest rank are served first; of the largest shares, the one of the highest rank loses a task. */
  readonly rankOf?: (share: string) => number
  /** Of equal shares of one rank, groups take turns, and the group with the most shares that wait loses a task. There are few groups. */
  readonly groupOf?: (share: string) => string
}

export interface FairQueue {
  /** Rejects with `QueueFull` when the queue is full for this share, or when the task has waited too long. */
  run<T>(share: string, work: () => Promise<T>): Promise<T>
  /** Whether `run` would reject now. */
  isFullFor(share: string): boolean
}

export class QueueFull extends Error {}

interface Task {
  start(): void
  reject(error: QueueFull): void
}

export function createFairQueue(options: FairQueueOptions): FairQueue {
  const { maxRunning, maxWaiting, maxWaitMs, maxRunningOfShare = maxRunning, rankOf, groupOf } = options
  /** Tasks by share, in the order of the shares' turns. No list is empty. */
  const waiting = new Map<string, Task[]>()
  /** Only of shares that have running tasks. */
  const runningOf = new Map<string, number>()
  let running = 0
  let waitingCount = 0
  /** When each group had its last turn. */
  const turnOf = new Map<string, number>()
  let turns = 0

  const mayStart = (share: string) => running < maxRunning && (runningOf.get(share) ?? 0) < maxRunningOfShare

  function begin(share: string): void {
    running += 1
    runningOf.set(share, (runningOf.get(share) ?? 0) + 1)
    if (groupOf) turnOf.set(groupOf(share), (turns += 1))
  }

  function end(share: string): void {
    running -= 1
    const left = runningOf.get(share)! - 1
    if (left === 0) runningOf.delete(share)
    else runningOf.set(share, left)
  }

  /** How many shares of each group wait. `newShare` counts as waiting. */
  function sizesOfGroups(newShare?: string): ReadonlyMap<string, number> {
    const sizes = new Map<string, number>()
    if (groupOf === undefined) return sizes
    const count = (share: string) => {
      const group = groupOf(share)
      sizes.set(group, (sizes.get(group) ?? 0) + 1)
    }
    for (const share of waiting.keys()) count(share)
    if (newShare !== undefined && !waiting.has(newShare)) count(newShare)
    return sizes
  }

  /** Whether the first share loses a task before the second. */
  function losesBefore(
    [share, count]: readonly [string, number],
    [other, otherCount]: readonly [string, number],
    sizes: ReadonlyMap<string, number>,
  ): boolean {
    if (count !== otherCount) return count > otherCount
    const rank = rankOf?.(share) ?? 0
    const otherRank = rankOf?.(other) ?? 0
    if (rank !== otherRank || groupOf === undefined) return rank > otherRank
    return (sizes.get(groupOf(share)) ?? 0) > (sizes.get(groupOf(other)) ?? 0)
  }

  function largestShare(sizes = sizesOfGroups()): [string, Task[]] {
    let largest: [string, Task[]] = ['', []]
    for (const entry of waiting) {
      if (losesBefore([entry[0], entry[1].length], [largest[0], largest[1].length], sizes)) largest = entry
    }
    return largest
  }

  function isFullFor(share: string): boolean {
    if (waitingCount < maxWaiting) return false
    const sizes = sizesOfGroups(share)
    const [largest, { length }] = largestShare(sizes)
    return !losesBefore([largest, length], [share, (waiting.get(share)?.length ?? 0) + 1], sizes)
  }

  function drop([share, tasks]: [string, Task[]], task: Task): void {
    tasks.splice(tasks.lastIndexOf(task), 1)
    if (tasks.length === 0) waiting.delete(share)
    waitingCount -= 1
    task.reject(new QueueFull())
  }

  function dropNewest([share, tasks]: [string, Task[]]): void {
    drop([share, tasks], tasks.at(-1)!)
  }

  /** Resolves when the task may start. */
  function wait(share: string): Promise<void> {
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined
      const task: Task = {
        start: () => {
          clearTimeout(timer)
          begin(share)
          resolve()
        },
        reject: (error) => {
          clearTimeout(timer)
          reject(error)
        },
      }
      const tasks = waiting.get(share)
      if (tasks) tasks.push(task)
      else waiting.set(share, [task])
      waitingCount += 1
      // The list of a share may have been replaced meanwhile.
      if (maxWaitMs !== undefined)
        timer = setTimeout(() => drop([share, waiting.get(share)!], task), maxWaitMs)
    })
  }

  function nextShare(): [string, Task[]] | undefined {
    let next: [string, Task[]] | undefined
    for (const entry of waiting) {
      if (!mayStart(entry[0])) continue
      if (rankOf === undefined) return entry
      if (next === undefined || isBefore(entry[0], next[0], rankOf)) next = entry
    }
    return next
  }

  function isBefore(share: string, other: string, rank: (share: string) => number): boolean {
    const difference = rank(share) - rank(other)
    if (difference !== 0 || groupOf === undefined) return difference < 0
    return (turnOf.get(groupOf(share)) ?? 0) < (turnOf.get(groupOf(other)) ?? 0)
  }

  function startNext(): void {
    const next = nextShare()
    if (next === undefined) return
    const [share, tasks] = next
    const task = tasks.shift()
    // The share goes to the end of the queue.
    waiting.delete(share)
    if (tasks.length > 0) waiting.set(share, tasks)
    waitingCount -= 1
    task?.start()
  }

  return {
    isFullFor,
    async run(share, work) {
      if (!mayStart(share)) {
        if (isFullFor(share)) throw new QueueFull()
        if (waitingCount >= maxWaiting) dropNewest(largestShare())
        await wait(share)
      } else begin(share)
      try {
        return await work()
      } finally {
        end(share)
        startNext()
      }
    },
  }
}

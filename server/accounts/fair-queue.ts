// Runs costly work a few at a time. Whoever sends much waits for itself: shares take turns, and when the queue is full the
// largest share loses its newest task.

export interface FairQueueOptions {
  readonly maxRunning: number
  readonly maxWaiting: number
}

export interface FairQueue {
  /** Rejects with `QueueFull` when there is no room for this share. */
  run<T>(share: string, work: () => Promise<T>): Promise<T>
  /** Whether `run` would reject now. */
  isFullFor(share: string): boolean
}

export class QueueFull extends Error {}

interface Task {
  start(): void
  reject(error: QueueFull): void
}

export function createFairQueue({ maxRunning, maxWaiting }: FairQueueOptions): FairQueue {
  /** Tasks by share, in the order of the shares' turns. No list is empty. */
  const waiting = new Map<string, Task[]>()
  let running = 0
  let waitingCount = 0

  function largestShare(): [string, Task[]] {
    let largest: [string, Task[]] = ['', []]
    for (const entry of waiting) if (entry[1].length > largest[1].length) largest = entry
    return largest
  }

  const isFullFor = (share: string) =>
    waitingCount >= maxWaiting && (waiting.get(share)?.length ?? 0) + 1 >= largestShare()[1].length

  function dropNewest([share, tasks]: [string, Task[]]): void {
    const task = tasks.pop()
    if (tasks.length === 0) waiting.delete(share)
    waitingCount -= 1
    task?.reject(new QueueFull())
  }

  function startNext(): void {
    const [next] = waiting
    if (next === undefined || running >= maxRunning) return
    const [share, tasks] = next
    const task = tasks.shift()
    // The share goes to the end of the line.
    waiting.delete(share)
    if (tasks.length > 0) waiting.set(share, tasks)
    waitingCount -= 1
    task?.start()
  }

  return {
    isFullFor,
    async run(share, work) {
      if (running >= maxRunning) {
        if (isFullFor(share)) throw new QueueFull()
        if (waitingCount >= maxWaiting) dropNewest(largestShare())
        await new Promise<void>((resolve, reject) => {
          const tasks = waiting.get(share)
          const task = {
            start: () => {
              running += 1
              resolve()
            },
            reject,
          }
          if (tasks) tasks.push(task)
          else waiting.set(share, [task])
          waitingCount += 1
        })
      } else running += 1
      try {
        return await work()
      } finally {
        running -= 1
        startNext()
      }
    },
  }
}

// Who does the work on the click tables: a thread of its own, so that no redirect waits for adding up or for the disk.
import { Worker } from 'node:worker_threads'
import type { Database } from '../../db/database.ts'
import type { ClickJob } from './job-store.ts'
import type { ThreadAnswer, ThreadData, ThreadRequest } from './thread-store.ts'

export interface ClickWriter {
  /** Answers when the work is durable, as `runClickJob` does. */
  run(job: ClickJob): Promise<number | undefined>
  close(): Promise<void>
}

interface Waiting {
  readonly resolve: (next: number | undefined) => void
  readonly reject: (error: Error) => void
}

export function openClickWriter({ engine, place }: Database): ClickWriter {
  let thread: Worker | undefined
  let lastId = 0
  const waiting = new Map<number, Waiting>()

  /** Started with the first click: a service that counts none has no use for it. After a crash of the thread, again. */
  function open(): Worker {
    const opened = new Worker(new URL('./thread-store.ts', import.meta.url), {
      workerData: { engine, place } satisfies ThreadData,
      resourceLimits: { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 128 },
    })
    opened.on('message', ({ id, problem, next }: ThreadAnswer) => {
      const waiter = waiting.get(id)
      waiting.delete(id)
      if (problem === undefined) waiter?.resolve(next)
      else waiter?.reject(new Error(problem))
    })
    const lost = (error: unknown) => {
      if (thread === opened) thread = undefined
      for (const waiter of waiting.values())
        waiter.reject(new Error('the click thread ended', { cause: error }))
      waiting.clear()
    }
    opened.on('error', lost)
    opened.on('exit', lost)
    // After the listeners, which would hold the process again.
    opened.unref()
    return opened
  }

  function send(to: Worker, job: ClickJob | undefined): Promise<number | undefined> {
    return new Promise((resolve, reject) => {
      lastId += 1
      waiting.set(lastId, { resolve, reject })
      to.postMessage({ id: lastId, job } satisfies ThreadRequest)
    })
  }

  return {
    run(job) {
      thread ??= open()
      return send(thread, job)
    },
    async close() {
      const last = thread
      if (!last) return
      // Without the reference the process could end before the answer comes.
      last.ref()
      await send(last, undefined)
      await last.terminate()
    },
  }
}

// Sends work on the click tables to a thread, so that no redirect waits for aggregation or for the disk.
import { Worker } from 'node:worker_threads'
import type { Database } from '../../db/database.ts'
import type { PlaceFiles } from '../../places/places.ts'
import type { ClickJob, ClickThreadData, ThreadRequest, ThreadResponse } from './thread-store.ts'

export interface ClickWriter {
  /** Like `runClickJob`. */
  run(job: ClickJob): Promise<number | undefined>
  close(): Promise<void>
}

export function openClickWriter(
  { engine, location }: Database,
  places: PlaceFiles = { v4: undefined, v6: undefined },
): ClickWriter {
  let thread: Worker | undefined
  let lastId = 0
  const pending = new Map<number, PromiseWithResolvers<number | undefined>>()

  /** The thread starts with the first job (`load`, at the start of the service), and again after it crashed. */
  function startThread(): Worker {
    const started = new Worker(new URL('./thread-store.ts', import.meta.url), {
      workerData: { engine, location, places } satisfies ClickThreadData,
      resourceLimits: { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 128 },
    })
    started.on('message', ({ id, error, result }: ThreadResponse) => {
      const waiter = pending.get(id)
      pending.delete(id)
      if (pending.size === 0) started.unref()
      if (error === undefined) waiter?.resolve(result)
      else waiter?.reject(new Error(error))
    })
    const onEnd = (cause: unknown) => {
      if (thread === started) thread = undefined
      for (const waiter of pending.values()) waiter.reject(new Error('the click thread ended', { cause }))
      pending.clear()
    }
    started.on('error', onEnd)
    started.on('exit', onEnd)
    return started
  }

  function send(to: Worker, job: ClickJob | undefined): Promise<number | undefined> {
    lastId += 1
    const waiter = Promise.withResolvers<number | undefined>()
    pending.set(lastId, waiter)
    // Only an idle thread may let the process exit: clicks must not be lost while the service stops.
    to.ref()
    to.postMessage({ id: lastId, job } satisfies ThreadRequest)
    return waiter.promise
  }

  return {
    run(job) {
      thread ??= startThread()
      return send(thread, job)
    },
    async close() {
      if (!thread) return
      const last = thread
      await send(last, undefined)
      await last.terminate()
    },
  }
}

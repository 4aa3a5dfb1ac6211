// Starts the requests that Fastify serves, a few per turn of the event loop: many requests for pages at once do not delay paid
// calls and redirects. Clients take turns.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { networkOf, type AddressOf } from './address.ts'
import { createFairQueue, QueueFull } from './fair-queue.ts'

/** A request of the console takes about a millisecond. */
const startsPerTurn = 4

const maxWaiting = 2_000
const maxWaitMs = 10_000

type Start = (request: IncomingMessage, response: ServerResponse) => void

/** Returns a handler that calls `start` when it is the client's turn, which is immediately unless there are many requests. */
export function startInTurns(addressOf: AddressOf, start: Start, rejectBusy: Start): Start {
  const queue = createFairQueue({ maxRunning: startsPerTurn, maxWaiting, maxWaitMs })
  return (request, response) => {
    const startOne = (): Promise<void> => {
      if (request.socket.destroyed) {
        // A stop waits for every response that was not ended.
        response.end()
        return Promise.resolve()
      }
      start(request, response)
      return nextTurn()
    }
    queue.run(networkOf(addressOf(request)), startOne).catch((error: unknown) => {
      if (!(error instanceof QueueFull)) throw error
      rejectBusy(request, response)
    })
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

// Requests that Fastify serves start in turns: many requests for pages at once do not delay paid calls and redirects.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { networkOf, type AddressOf } from './address.ts'
import { QueueFull } from './fair-queue.ts'
import { createTurns } from './turns.ts'

/** A request of the console takes about a millisecond. */
const startsPerTurn = 4

type PageHandler = (request: IncomingMessage, response: ServerResponse) => void

/** Returns a handler that calls `start` when it is the client's turn. */
export function startInTurns(addressOf: AddressOf, start: PageHandler, rejectBusy: PageHandler): PageHandler {
  const turns = createTurns(startsPerTurn)
  return (request, response) => {
    const startOne = () => {
      // A stop waits for every response that was not ended.
      if (request.socket.destroyed) response.end()
      else start(request, response)
    }
    turns.run(networkOf(addressOf(request)), startOne).catch((error: unknown) => {
      if (!(error instanceof QueueFull)) throw error
      rejectBusy(request, response)
    })
  }
}

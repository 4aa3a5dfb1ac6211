// Large bodies of what Fastify serves (console, receipts, payment notifications, /mcp) take the same turns as those of the endpoints.
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { networkOf } from './address.ts'
import type { HttpContext } from './endpoint.ts'
import { type AppError, malformed, tooFrequent } from './errors.ts'
import { isFragmented, smallBodyBytes } from './large-bodies.ts'

export type BodyContext = Pick<HttpContext, 'addressOf' | 'largeBodies'>

/** Call it before the routes are registered. */
export function readBodiesInTurn(app: FastifyInstance, context: BodyContext): void {
  app.addHook('preParsing', (request, reply, payload, done) => {
    const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
    const isSmall = encoding === undefined && !(Number(length) > smallBodyBytes)
    // Without a body the stream has already ended and emits no event, so a parser would wait indefinitely.
    if (request.raw.readableEnded) done(null, Readable.from([]))
    else if (isSmall) done(null, payload)
    // Reads nothing until a parser does: bodies without a parser are left to node:http.
    else done(null, Readable.from(readInTurn(context, request, reply, payload), { objectMode: false }))
  })
}

/** A large body waits for its turn, which lasts until the response. It is discarded when too many wait. */
async function* readInTurn(
  { addressOf, largeBodies }: BodyContext,
  request: FastifyRequest,
  reply: FastifyReply,
  payload: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  const isChunked = request.headers['transfer-encoding'] !== undefined
  let received = 0
  let size = 0
  let isLarge = false
  let refused: AppError | undefined
  for await (const chunk of payload) {
    received += 1
    size += chunk.length
    // Leaving the loop closes the connection.
    if (isChunked && isFragmented(received, size))
      throw malformed('请求体的分块过小', 'The chunks of the body are too small')
    if (size > smallBodyBytes && !isLarge) {
      isLarge = true
      const end = await largeBodies.begin(networkOf(addressOf(request.raw))).catch(() => undefined)
      if (end === undefined) refused = tooFrequent(1)
      // The client may have left while it waited.
      else if (reply.raw.closed) end()
      else reply.raw.once('close', end)
    }
    if (refused === undefined) yield chunk
  }
  // Not earlier: many clients send the whole body before they read the response.
  if (refused !== undefined) throw refused
}

/** Decodes a body, a large one in its turn. */
export async function decodeInTurn<T>(
  { addressOf, largeBodies }: BodyContext,
  request: FastifyRequest,
  body: Buffer,
  decode: (body: Buffer) => T,
): Promise<T> {
  const address = () => networkOf(addressOf(request.raw))
  if (body.length <= smallBodyBytes) return largeBodies.decodeSmall(address, () => decode(body))
  return largeBodies.decode(address(), body.length, () => decode(body))
}

/** The body of a route whose parser keeps the bytes; empty without one. */
export function bytesOf({ body }: FastifyRequest): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0)
}

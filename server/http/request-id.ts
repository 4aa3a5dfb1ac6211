// The id of a request: the one that a trusted proxy gave it, so that both logs name it alike, or a new one.
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { createAddressCheck, peerOf } from './address.ts'

export type RequestIdOf = (request: IncomingMessage) => string

/** Includes the ids that nginx and HAProxy create, and no character that could forge a line of a log. */
const acceptedId = /^[A-Za-z0-9][A-Za-z0-9._-]{7,63}$/

export function createRequestIdReader(trustedProxies: readonly string[]): RequestIdOf {
  if (trustedProxies.length === 0) return () => randomUUID()
  const isTrusted = createAddressCheck(trustedProxies)
  return (request) => {
    const given = request.headers['x-request-id']
    return typeof given === 'string' && acceptedId.test(given) && isTrusted(peerOf(request))
      ? given
      : randomUUID()
  }
}

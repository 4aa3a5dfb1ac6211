// The id of a request: the one that a trusted proxy gave it, so that both logs name it alike, or a new one.
import { randomInt, randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { createAddressCheck, peerOf } from './address.ts'

export type RequestIdOf = (request: IncomingMessage) => string

/** Includes the ids that nginx and HAProxy create, and no character that could forge a line of a log. */
const acceptedId = /^[A-Za-z0-9][A-Za-z0-9._-]{7,63}$/

export function createRequestIdReader(trustedProxies: readonly string[]): RequestIdOf {
  const nextId = createIds()
  if (trustedProxies.length === 0) return nextId
  const isTrusted = createAddressCheck(trustedProxies)
  return (request) => {
    const given = request.headers['x-request-id']
    return typeof given === 'string' && acceptedId.test(given) && isTrusted(peerOf(request))
      ? given
      : nextId()
  }
}

const hexOfByte = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/**
 * Ids in the form of a UUID: random for the process, and a number. The number is mixed, because an id must not tell how many
 * requests there were. A random UUID for each request took 2 % of a redirect.
 */
export function createIds(): () => string {
  const key = randomInt(2 ** 32)
  let prefix = randomUUID().slice(0, 28)
  let count = 0
  return () => {
    count = (count + 1) >>> 0
    if (count === 0) prefix = randomUUID().slice(0, 28)
    // Each step maps different numbers of 32 bits to different ones.
    let mixed = Math.imul(count ^ key, 0x9e3779b1)
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b)
    mixed ^= mixed >>> 13
    return (
      prefix +
      hexOfByte[mixed >>> 24]! +
      hexOfByte[(mixed >>> 16) & 255]! +
      hexOfByte[(mixed >>> 8) & 255]! +
      hexOfByte[mixed & 255]!
    )
  }
}

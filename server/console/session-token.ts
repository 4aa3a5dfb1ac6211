// The token of a session: random text, and a tag that only this installation can create, so that invented cookies cost no look-up.
import { createHash, createHmac, randomBytes } from 'node:crypto'

const tokenPattern = /^([\w-]{32})([\w-]{11})$/

export function createSessionToken(secret: string): string {
  const text = randomBytes(24).toString('base64url')
  return text + tagOf(text, secret)
}

export function isSessionToken(token: string, secret: string): boolean {
  const [, text, tag] = tokenPattern.exec(token) ?? []
  return text !== undefined && tag === tagOf(text, secret)
}

/** The stored form of a token. */
export function hashSessionToken(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

function tagOf(text: string, secret: string): string {
  return createHmac('sha256', secret).update(`session ${text}`).digest('base64url').slice(0, 11)
}

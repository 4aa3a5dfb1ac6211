// The cookies of the console: no script reads them, and requests of other sites carry them only when they open a page.
import type { FastifyReply } from 'fastify'

interface CookieOptions {
  readonly name: string
  /** Only requests below this path carry the cookie. */
  readonly path: string
  readonly isSecure: boolean
}

/** Returns a function that sets the cookie; with 0 seconds the browser deletes it. */
export function createCookieSetter({
  name,
  path,
  isSecure,
}: CookieOptions): (reply: FastifyReply, value: string, seconds: number) => void {
  return (reply, value, seconds) => {
    // A `strict` cookie is missing when another site links to the console, as the callback of an OpenID provider does.
    reply.setCookie(name, value, { path, httpOnly: true, sameSite: 'lax', secure: isSecure, maxAge: seconds })
  }
}

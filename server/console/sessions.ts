// Session cookies, the CSRF token bound to them, and the signed-in user of a request.
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { csrfHeader } from '../../contract/console/route.ts'
import { type Account, findById } from '../accounts/store.ts'
import type { Database } from '../db/database.ts'
import { oneLine } from './fields.ts'
import { ConsoleProblem, suspended, wrongCredentials } from './problem.ts'
import {
  absoluteMs,
  deleteSessionByToken,
  findSession,
  insertSession,
  markSeen,
  type Session,
} from '../accounts/session-store.ts'

const cookieName = 'tg_session'
const tokenPattern = /^[A-Za-z0-9_-]{43}$/

export interface SignedIn {
  readonly user: Account
  readonly session: Session
  readonly csrfToken: string
}

/** An account whose password was verified, with the hash that was stored at that time. */
export interface VerifiedPassword {
  readonly account: Account
  readonly passwordHash: string
}

export interface Sessions {
  /** The signed-in user; undefined without a valid session. */
  find(request: FastifyRequest): Promise<SignedIn | undefined>
  /** Starts a session with a new id and ends the one of the request, if any. */
  begin(
    request: FastifyRequest,
    reply: FastifyReply,
    verified: VerifiedPassword,
    address: string,
  ): Promise<SignedIn>
  /** Ends the session of the request and deletes the cookie. */
  end(request: FastifyRequest, reply: FastifyReply): Promise<void>
  /** Throws unless the request carries the session's token. */
  requireToken(request: FastifyRequest, signedIn: SignedIn): void
}

export function createSessions(db: Database, options: { secret: string; isSecure: boolean }): Sessions {
  function csrfTokenOf(tokenHash: string): string {
    return createHmac('sha256', options.secret).update(tokenHash).digest('base64url')
  }

  function setCookie(reply: FastifyReply, value: string, seconds: number): void {
    reply.setCookie(cookieName, value, {
      path: '/',
      httpOnly: true,
      sameSite: 'lax',
      secure: options.isSecure,
      maxAge: seconds,
    })
  }

  return {
    async find(request) {
      const token = tokenOf(request)
      if (token === undefined) return undefined
      const tokenHash = hashOf(token)
      const found = await findSession(db, tokenHash)
      if (!found) return undefined
      const user = await findById(db, found.session.account_id)
      if (!user) return undefined
      if (found.shouldMarkSeen) await db.write((tx) => markSeen(tx, found.session.id))
      return { user, session: found.session, csrfToken: csrfTokenOf(tokenHash) }
    },

    async begin(request, reply, { account, passwordHash }, address) {
      const old = tokenOf(request)
      const token = randomBytes(32).toString('base64url')
      const tokenHash = hashOf(token)
      const session = await db.write(async (tx) => {
        const agent = agentOf(request)
        const inserted = await insertSession(tx, {
          tokenHash,
          accountId: account.id,
          passwordHash,
          address,
          agent,
        })
        if (inserted && old !== undefined) await deleteSessionByToken(tx, hashOf(old))
        return inserted
      })
      if (!session) {
        const now = await findById(db, account.id)
        throw now?.suspended === 1 ? suspended() : wrongCredentials()
      }
      setCookie(reply, token, absoluteMs / 1000)
      return { user: account, session, csrfToken: csrfTokenOf(tokenHash) }
    },

    async end(request, reply) {
      const token = tokenOf(request)
      if (token !== undefined) await db.write((tx) => deleteSessionByToken(tx, hashOf(token)))
      setCookie(reply, '', 0)
    },

    requireToken(request, signedIn) {
      const header = request.headers[csrfHeader]
      const expected = Buffer.from(signedIn.csrfToken)
      const given = Buffer.from(typeof header === 'string' ? header : '')
      if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
        throw new ConsoleProblem('csrf', {
          zh: '页面已过期，请刷新后重试',
          en: 'The page is out of date, reload it and try again',
        })
      }
    },
  }
}

function tokenOf(request: FastifyRequest): string | undefined {
  const value = request.cookies[cookieName]
  return value !== undefined && tokenPattern.test(value) ? value : undefined
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

function agentOf(request: FastifyRequest): string {
  return oneLine(request.headers['user-agent'] ?? '').slice(0, 200)
}

// Session cookies, the CSRF token bound to them, and the signed-in user of a request.
import { createHmac } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { csrfHeader } from '../../contract/console/route.ts'
import { oneLine } from '../../contract/values.ts'
import { type Account, findById } from '../accounts/store.ts'
import type { OperatorCall } from '../audit/operator-call-store.ts'
import type { Database } from '../db/database.ts'
import { createCookieSetter } from './cookies.ts'
import { ConsoleProblem, suspended, wrongCredentials } from './problem.ts'
import { createSessionToken, hashSessionToken, isSessionToken } from './session-token.ts'
import { shareLookups } from './shared-lookups.ts'
import type { Touches } from './touches.ts'
import {
  absoluteMs,
  deleteSessionByToken,
  findSession,
  insertSession,
  markSeen,
  type Session,
  type SignInProof,
} from '../accounts/session-store.ts'
import { recordSignIn } from '../accounts/sign-in-store.ts'
import type { SecondFactorKind } from '../../contract/console/limits.ts'
import { isSameSecret } from '../encryption.ts'

const cookieName = 'tg_session'

export interface SignedIn {
  readonly user: Account
  readonly session: Session
  readonly csrfToken: string
  /** The user proved who they are within the last minutes. */
  readonly confirmed: boolean
  readonly hasSecondFactor: boolean
  /** An operator who has to enable the second factor before anything else. */
  readonly mustEnrol: boolean
  /** Set for a program with an operator token, which has no session. */
  readonly token?: UsedToken
  /** Set for a change by an operator, or a token, with an Idempotency-Key. */
  call?: OperatorCall
}

/** What a request with a token has instead of a session. */
export interface UsedToken {
  readonly id: number
  readonly name: string
  readonly scopes: readonly string[]
}

/** A user who proved who they are. */
export interface VerifiedUser {
  readonly account: Account
  readonly proof: SignInProof
  readonly secondFactor: SecondFactorKind
}

export interface Sessions {
  /** The signed-in user; undefined without a valid session. */
  find(request: FastifyRequest): Promise<SignedIn | undefined>
  /** Starts a session with a new id and ends the one of the request, if any. */
  begin(
    request: FastifyRequest,
    reply: FastifyReply,
    verified: VerifiedUser,
    address: string,
  ): Promise<SignedIn>
  /** Deletes the cookie, and ends the session if there is one. */
  end(request: FastifyRequest, reply: FastifyReply, signedIn: SignedIn | undefined): Promise<void>
  /** Throws unless the request carries the session's token. */
  requireToken(request: FastifyRequest, signedIn: SignedIn): void
}

export interface SessionOptions {
  /** Keys the CSRF tokens and the tags of session tokens. */
  readonly secret: string
  readonly isSecure: boolean
  /** If false, sessions that began with a password are no longer valid. */
  readonly passwordLogin: boolean
  /** OPERATOR_2FA=required. */
  readonly operatorFactor: boolean
  /** Called after a sign-in from a device or place that the account never signed in from before. */
  readonly onNewPlace: (account: Account, from: { address: string; place: string; agent: string }) => void
  /** `CN-GD`, `US`; empty when unknown. */
  readonly placeOf: (address: string) => string
  readonly touches: Pick<Touches, 'touch'>
}

export function createSessions(db: Database, options: SessionOptions): Sessions {
  function csrfTokenOf(tokenHash: string): string {
    return createHmac('sha256', options.secret).update(tokenHash).digest('base64url')
  }

  function tokenOf(request: FastifyRequest): string | undefined {
    const token = request.cookies[cookieName]
    return token !== undefined && isSessionToken(token, options.secret) ? token : undefined
  }

  const mustHaveFactor = (user: Account) => options.operatorFactor && user.role !== 'account'

  const setCookie = createCookieSetter({ name: cookieName, path: '/', isSecure: options.isSecure })

  const findByHash = shareLookups(async (tokenHash): Promise<SignedIn | undefined> => {
    const found = await findSession(db, tokenHash)
    if (!found || (found.session.method === 'password' && !options.passwordLogin)) return undefined
    const user = await findById(db, found.session.account_id)
    if (!user) return undefined
    const { session, confirmed, hasSecondFactor } = found
    if (found.shouldMarkSeen) options.touches.touch(`session ${session.id}`, (tx) => markSeen(tx, session.id))
    const mustEnrol = mustHaveFactor(user) && !hasSecondFactor
    return { user, session, csrfToken: csrfTokenOf(tokenHash), confirmed, hasSecondFactor, mustEnrol }
  })

  return {
    async find(request) {
      const token = tokenOf(request)
      const found = token === undefined ? undefined : await findByHash(hashSessionToken(token))
      // Requests share a look-up, but each one has a call of its own.
      return found && { ...found }
    },

    async begin(request, reply, { account, proof, secondFactor }, address) {
      const old = tokenOf(request)
      const token = createSessionToken(options.secret)
      const tokenHash = hashSessionToken(token)
      const agent = agentOf(request)
      const place = options.placeOf(address)
      const begun = await db.write(async (tx) => {
        const accountId = account.id
        const inserted = await insertSession(tx, {
          tokenHash,
          accountId,
          proof,
          secondFactor,
          address,
          agent,
        })
        if (!inserted) return undefined
        if (old !== undefined) await deleteSessionByToken(tx, hashSessionToken(old))
        const isNew = await recordSignIn(tx, {
          accountId,
          address,
          place,
          agent,
          method: proof.method,
          secondFactor,
        })
        return { session: inserted, isNew }
      })
      if (!begun) {
        const now = await findById(db, account.id)
        throw now?.suspended === 1 ? suspended() : wrongCredentials()
      }
      setCookie(reply, token, absoluteMs / 1000)
      if (begun.isNew) options.onNewPlace(account, { address, place, agent })
      return {
        user: account,
        session: begun.session,
        csrfToken: csrfTokenOf(tokenHash),
        confirmed: false,
        hasSecondFactor: secondFactor !== 'none',
        mustEnrol: mustHaveFactor(account) && secondFactor === 'none',
      }
    },

    async end(request, reply, signedIn) {
      const token = tokenOf(request)
      if (signedIn && token !== undefined)
        await db.write((tx) => deleteSessionByToken(tx, hashSessionToken(token)))
      setCookie(reply, '', 0)
    },

    requireToken(request, signedIn) {
      const header = request.headers[csrfHeader]
      if (!isSameSecret(typeof header === 'string' ? header : '', signedIn.csrfToken)) {
        throw new ConsoleProblem('csrf', {
          zh: '页面已过期，请刷新后重试',
          en: 'The page is out of date, reload it and try again',
        })
      }
    },
  }
}

export function agentOf(request: FastifyRequest): string {
  return oneLine(request.headers['user-agent'] ?? '').slice(0, 200)
}

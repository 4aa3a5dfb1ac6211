// Requests of programs with an operator token instead of a session: authentication and rate limit.
import type { FastifyRequest } from 'fastify'
import { markTokenUsed, type OperatorToken, shouldMarkUsed } from '../accounts/operator-token-store.ts'
import { findToken } from '../accounts/operators.ts'
import { findById } from '../accounts/store.ts'
import { networkOf } from '../http/address.ts'
import { readBearer } from '../http/parameters.ts'
import type { RateLimit } from '../limits/token-bucket.ts'
import type { Services } from '../services.ts'
import { ConsoleProblem, tooManyRequests } from './problem.ts'
import type { SignedIn } from './sessions.ts'
import type { Touches } from './touches.ts'

/** Requests with one token. */
const tokenRate: RateLimit = { perSecond: 10, burst: 60 }

/** Secrets derived for this purpose key the checksums of tokens. */
export const tokenPurpose = 'operator tokens'

export interface TokenAccess {
  /** Undefined when the request has no operator token. Throws when the token is wrong. */
  find(request: FastifyRequest): Promise<SignedIn | undefined>
}

export function hasToken(request: FastifyRequest): boolean {
  return readBearer(request.headers.authorization)?.startsWith('tgo_') === true
}

export function createTokenAccess(services: Services, touches: Pick<Touches, 'touch'>): TokenAccess {
  const { db, limits } = services
  const checksumSecret = services.secretFor(tokenPurpose)

  async function authenticate(request: FastifyRequest): Promise<OperatorToken> {
    const token = await findToken(db, readBearer(request.headers.authorization) ?? '', checksumSecret)
    if (token) return token
    const retryAfter = limits.fail(networkOf(services.http.addressOf(request.raw)))
    throw retryAfter === undefined ? wrongToken() : tooManyRequests(retryAfter)
  }

  return {
    async find(request) {
      if (!hasToken(request)) return undefined
      const token = await authenticate(request)
      const user = await findById(db, token.account_id)
      if (!user) throw wrongToken()
      // Tokens and accounts share the counters; the ids of tokens are negative there.
      const { allowed, resetSeconds } = await limits.take(-token.id, tokenRate)
      if (!allowed) throw tooManyRequests(resetSeconds)
      if (shouldMarkUsed(token)) touches.touch(`token ${token.id}`, (tx) => markTokenUsed(tx, token.id))
      return {
        user,
        session: {
          id: 0,
          account_id: user.id,
          address: '',
          agent: '',
          created_at: token.created_at,
          seen_at: token.created_at,
          method: 'password',
        },
        csrfToken: '',
        confirmed: true,
        hasSecondFactor: false,
        mustEnrol: false,
        token: { id: token.id, name: token.name, scopes: token.scopes.split(',') },
      }
    },
  }
}

function wrongToken(): ConsoleProblem {
  return new ConsoleProblem('unauthenticated', { zh: '令牌无效', en: 'The token is invalid' })
}

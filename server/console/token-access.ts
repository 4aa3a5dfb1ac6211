// Requests of programs with an operator token instead of a session: authentication, rate limit and Idempotency-Key.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { markTokenUsed, type OperatorToken, shouldMarkUsed } from '../accounts/operator-token-store.ts'
import { findToken } from '../accounts/operators.ts'
import { findById } from '../accounts/store.ts'
import {
  claimTokenCall,
  findTokenCall,
  type PreviousTokenCall,
  storeTokenResponse,
  type TokenCall,
} from '../audit/token-call-store.ts'
import { createResponseCipher } from '../credits/charge/response-cipher.ts'
import { networkOf } from '../http/address.ts'
import { readIdempotencyKey } from '../http/call.ts'
import { readBearer } from '../http/parameters.ts'
import type { RateLimit } from '../limits/token-bucket.ts'
import type { Services } from '../services.ts'
import { ConsoleProblem, tooManyRequests } from './problem.ts'
import type { SignedIn, UsedToken } from './sessions.ts'

/** Requests with one token. */
const tokenRate: RateLimit = { perSecond: 10, burst: 60 }

/** Secrets derived for this purpose key the checksums of tokens. */
export const tokenPurpose = 'operator tokens'

export interface TokenAccess {
  /** Undefined when the request has no operator token. Throws when the token is wrong. */
  find(request: FastifyRequest): Promise<SignedIn | undefined>
  /** Makes a change once for its Idempotency-Key, or sends the stored response again. */
  once<T>(
    request: FastifyRequest,
    reply: FastifyReply,
    token: UsedToken,
    input: unknown,
    change: () => Promise<T>,
  ): Promise<T>
}

export function hasToken(request: FastifyRequest): boolean {
  return readBearer(request.headers.authorization)?.startsWith('tgo_') === true
}

export function createTokenAccess(services: Services): TokenAccess {
  const { db, credits, limits } = services
  const checksumSecret = services.secretFor(tokenPurpose)
  const cipher = createResponseCipher(services.secretKey)

  async function authenticate(request: FastifyRequest): Promise<OperatorToken> {
    const token = await findToken(db, readBearer(request.headers.authorization) ?? '', checksumSecret)
    if (token) return token
    const retryAfter = limits.fail(networkOf(services.http.addressOf(request.raw)))
    throw retryAfter === undefined ? wrongToken() : tooManyRequests(retryAfter)
  }

  function replay(reply: FastifyReply, call: TokenCall, previous: PreviousTokenCall): unknown {
    if (previous.fingerprint !== call.fingerprint) throw otherParameters()
    const stored = previous.response === null ? undefined : cipher.decrypt(previous.response)
    if (!stored) throw alreadyMade()
    reply.header('idempotent-replayed', 'true')
    return stored.body
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
      if (shouldMarkUsed(token)) await db.write((tx) => markTokenUsed(tx, token.id))
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

    async once(request, reply, token, input, change) {
      const key = readIdempotencyKey(request.headers['idempotency-key'])
      if (key === undefined) return change()
      const call: TokenCall = {
        tokenId: token.id,
        key: credits.fingerprint('idempotency key', { key }),
        fingerprint: credits.fingerprint(`${request.method} ${request.url}`, { input }),
        requestId: request.id,
      }
      type Output = Awaited<ReturnType<typeof change>>
      const previous = await findTokenCall(db, call)
      if (previous) return replay(reply, call, previous) as Output
      token.call = call
      const output = await change().catch(async (error: unknown) => {
        // Another call with the same key was faster: its change was made, this one was rolled back.
        const made = await findTokenCall(db, call)
        if (!made || made.request_id === call.requestId) throw error
        return replay(reply, call, made) as Output
      })
      const response = cipher.encrypt({ status: 200, body: output })
      await db.write(async (tx) => {
        // A change without an audit row has not claimed the key yet.
        if (await claimTokenCall(tx, call)) await storeTokenResponse(tx, call, response)
      })
      return output
    },
  }
}

function wrongToken(): ConsoleProblem {
  return new ConsoleProblem('unauthenticated', { zh: '令牌无效', en: 'The token is invalid' })
}

function otherParameters(): ConsoleProblem {
  return new ConsoleProblem('other_parameters', {
    zh: '同一 Idempotency-Key 的参数不同',
    en: 'This Idempotency-Key came with other parameters',
  })
}

function alreadyMade(): ConsoleProblem {
  const text = {
    zh: '同一 Idempotency-Key 的更改已经完成，或仍在处理',
    en: 'The change with this Idempotency-Key was made, or is still running',
  }
  return new ConsoleProblem('conflict', text, { retryAfter: 1 })
}

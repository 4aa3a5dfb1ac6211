// The second step of signing in: remembers in an encrypted cookie who passed the first one, and checks codes.
import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { minuteMs } from '../../contract/time.ts'
import type { SecondFactorKind } from '../../contract/console/limits.ts'
import type { SecondFactors } from '../accounts/second-factor.ts'
import type { SignInProof } from '../accounts/session-store.ts'
import { type Account, findById, findPasswordHash } from '../accounts/store.ts'
import type { Database } from '../db/database.ts'
import { createTextCipher } from '../encryption.ts'
import { createCookieSetter } from './cookies.ts'
import { type GuessLimits, guessLimits } from './guess-limits.ts'
import type { Attempts } from '../limits/limits.ts'
import { ConsoleProblem, invalidFields } from './problem.ts'
import type { VerifiedUser } from './sessions.ts'

const cookieName = 'tg_second_step'
const maxAgeMs = 10 * minuteMs

/**
 * Wrong codes of an account in 15 minutes: three of a million codes are right at a time. Only a user who passed the first step
 * gets here, so others cannot lock the owner out.
 */
const maxWrongCodes = 5

interface PendingSignIn {
  readonly account: number
  readonly at: number
  readonly proof: SignInProof
}

export interface SecondStep {
  /** Remembers the first step. Returns the error that requests the code. */
  begin(reply: FastifyReply, account: Account, proof: SignInProof): ConsoleProblem
  /** Checks the code of the second step; the user who passed both. */
  finish(request: FastifyRequest, reply: FastifyReply, code: string): Promise<VerifiedUser>
  /** Checks a code of a signed-in user. */
  check(request: FastifyRequest, account: Account, code: string): Promise<void>
}

export interface SecondStepOptions {
  readonly db: Database
  readonly secretKey: string
  readonly isSecure: boolean
  readonly attempts: Attempts
  readonly secondFactors: SecondFactors
  /** Called after a recovery code was used, wherever a code is accepted. */
  readonly onRecoveryCode: (account: Account, request: FastifyRequest) => void
}

export function createSecondStep(options: SecondStepOptions): SecondStep {
  const { db, secondFactors } = options
  const cipher = createTextCipher(options.secretKey, 'second step')
  const limits = {
    signIn: guessLimits(options.attempts, 'second step'),
    // Counted separately, so that a stolen session cannot keep its owner from signing in.
    signedIn: guessLimits(options.attempts, 'code'),
  }

  const setCookie = createCookieSetter({ name: cookieName, path: '/console/api', isSecure: options.isSecure })

  function read(request: FastifyRequest): PendingSignIn | undefined {
    const text = cipher.decrypt(request.cookies[cookieName] ?? '')
    const pending = text === undefined ? undefined : (JSON.parse(text) as PendingSignIn)
    return pending && pending.at > Date.now() - maxAgeMs ? pending : undefined
  }

  async function use(
    request: FastifyRequest,
    account: Account,
    code: string,
    counted: GuessLimits,
  ): Promise<Exclude<SecondFactorKind, 'none'>> {
    const key = `account ${account.id}`
    const guess = await counted.begin([{ key, max: maxWrongCodes }])
    const kind = await secondFactors.use(account.id, code).catch(async (error: unknown) => {
      await guess.right()
      throw error
    })
    if (kind === undefined) {
      await guess.wrong()
      throw invalidFields({ code: { zh: '验证码错误或已使用', en: 'Wrong code, or used before' } })
    }
    await guess.right(key)
    if (kind === 'recovery') options.onRecoveryCode(account, request)
    return kind
  }

  return {
    begin(reply, account, proof) {
      const pending: PendingSignIn = { account: account.id, at: Date.now(), proof: fingerprinted(proof) }
      setCookie(reply, cipher.encrypt(JSON.stringify(pending)), maxAgeMs / 1000)
      return new ConsoleProblem('second_factor_required', {
        zh: '请输入两步验证码',
        en: 'Enter the code of your second factor',
      })
    },

    async finish(request, reply, code) {
      const pending = read(request)
      const account = pending && (await findById(db, pending.account))
      const proof = account && (await presentProof(db, account.id, pending.proof))
      if (!proof) {
        throw new ConsoleProblem('unauthenticated', {
          zh: '登录已超时，请重新登录',
          en: 'The sign-in timed out, please start again',
        })
      }
      const secondFactor = await use(request, account, code, limits.signIn)
      setCookie(reply, '', 0)
      return { account, proof, secondFactor }
    },

    async check(request, account, code) {
      await use(request, account, code, limits.signedIn)
    },
  }
}

/** The cookie holds no password hash, only a digest that shows whether it has changed. */
function fingerprinted(proof: SignInProof): SignInProof {
  return proof.method === 'password' ? { ...proof, passwordHash: fingerprintOf(proof.passwordHash) } : proof
}

async function presentProof(
  db: Database,
  accountId: number,
  proof: SignInProof,
): Promise<SignInProof | undefined> {
  if (proof.method !== 'password') return proof
  const passwordHash = await findPasswordHash(db, accountId)
  return passwordHash !== undefined && fingerprintOf(passwordHash) === proof.passwordHash
    ? { method: 'password', passwordHash }
    : undefined
}

function fingerprintOf(passwordHash: string): string {
  return createHash('sha256').update(passwordHash).digest('hex')
}

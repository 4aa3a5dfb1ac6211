// A verification by hand, from the console: no API key, but the same rules, the same price and the same refund.
import type { IdentityOutcome } from '../../contract/identity.ts'
import type { Language } from '../../contract/text.ts'
import { requireNotExpired, requireNotSuspended, wrongCredentials } from '../accounts/authenticate.ts'
import type { Account } from '../accounts/store.ts'
import { parameterError } from '../http/parameters.ts'
import type { Services } from '../services.ts'
import { endOf, failureOutcome, insufficientCredits, interrupted, verdictOutcome } from './answers.ts'
import { checkPerson } from './person.ts'
import type { Records } from './records.ts'
import { identityAction, type Verification } from './verification.ts'

export interface ByHand {
  readonly account: Account
  readonly name: string
  readonly idcard: string
  readonly language: Language
  readonly requestId: string
}

/** Throws an AppError for everything that is refused before the charge. */
export type VerifyByHand = (wish: ByHand) => Promise<IdentityOutcome>

export function openByHand(
  { config, credits, db }: Pick<Services, 'config' | 'credits' | 'db'>,
  verification: Verification,
  records: Records,
): VerifyByHand {
  return async ({ account, language, requestId, ...given }) => {
    const { person, problems } = checkPerson(given)
    if (!person) throw parameterError([], problems)
    requireNotSuspended(account)
    requireNotExpired(account, 403)

    const apiType = 'id_verification'
    const charged = await credits.charge({
      accountId: account.id,
      apiType,
      action: identityAction,
      cost: config.PRICES.identity,
      requestId,
      leaseMs: verification.leaseMs,
    })
    if (charged.kind === 'insufficient') throw insufficientCredits()
    if (charged.kind !== 'charged') throw wrongCredentials()
    const { operationId } = charged

    const asked = await verification.ask(person, requestId)
    const { ended, givenBack } = await db.write(async (tx) => {
      const result = await credits.end(tx, { operationId, end: endOf(asked.verdict), sends: asked.asked })
      await records.write(tx, {
        accountId: account.id,
        person,
        operationId,
        requestId,
        gateway: asked.gateway,
        verdict: result.ended ? asked.verdict : 'failed',
        reason: result.ended ? (asked.verdict === 'failed' ? asked.reason : undefined) : 'late',
      })
      return result
    })
    if (givenBack > 0) credits.onMoved?.({ kind: 'refund', apiType, amount: givenBack })
    if (!ended) return failureOutcome(interrupted, language)
    return asked.verdict === 'failed'
      ? failureOutcome(asked.text, language)
      : verdictOutcome(asked.verdict, asked.facts, person.number, language)
  }
}

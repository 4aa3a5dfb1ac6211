// The outcomes of a verification in the words of the interface. All of them are HTTP 200: the request itself was fine.
import { type Extra, type IdentityOutcome, identityMessages } from '../../contract/identity.ts'
import type { Language, Text } from '../../contract/text.ts'
import { formatDay } from '../../contract/time.ts'
import type { OperationEnd } from '../credits/operation.ts'
import { AppError } from '../http/errors.ts'
import type { ApiResponse } from '../http/responses.ts'
import { extraOf } from './extra.ts'
import type { Facts, Verdict } from './port.ts'

const success: Readonly<Record<Verdict, boolean>> = { match: true, mismatch: true, no_record: false }

const messages: Readonly<Record<Verdict, Text>> = {
  match: identityMessages.match,
  mismatch: identityMessages.mismatch,
  no_record: identityMessages.noRecord,
}

export function verdictOutcome(
  verdict: Verdict,
  facts: Facts,
  number: string,
  language: Language,
): IdentityOutcome {
  const matched = verdict === 'match'
  const extra: Extra = matched ? extraOf(facts, number, formatDay(Date.now())) : {}
  return { success: success[verdict], message: messages[verdict][language], matched, extra }
}

export function failureOutcome(cause: Text, language: Language): IdentityOutcome {
  const message = `${identityMessages.failedPrefix[language]}${cause[language]}${givenBack[language]}`
  return { success: false, message, matched: false, extra: {} }
}

const givenBack: Text = { zh: '，额度已退还', en: '; the credit was given back' }

/** The call took so long, or its process died: the credit has gone back meanwhile. */
export const interrupted: Text = {
  zh: '核验未能在期限内完成',
  en: 'the verification was not finished in time',
}

export function answerOf(outcome: IdentityOutcome): ApiResponse {
  return { status: 200, body: outcome }
}

/** A match and a mismatch are what the caller paid for; for anything else the credit goes back. */
export function endOf(verdict: Verdict | 'failed'): OperationEnd {
  return { state: verdict === 'match' || verdict === 'mismatch' ? 'settled' : 'refunded' }
}

export function insufficientCredits(): AppError {
  return new AppError(1004, {
    zh: '身份核验调用次数不足',
    en: 'Insufficient identity verification call count',
  })
}

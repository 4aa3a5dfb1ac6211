// The response to a verification. Every outcome is HTTP 200, because the request itself was valid.
import type { IdentityOutcome } from '../../contract/console/values.ts'
import { type Extra, type IdentityResponse, identityMessages } from '../../contract/identity.ts'
import type { Language, Text } from '../../contract/text.ts'
import { formatDay } from '../../contract/time.ts'
import { AppError } from '../http/errors.ts'
import type { ApiResponse } from '../http/responses.ts'
import { buildExtra } from './extra.ts'
import type { PersonDetails, Verdict } from './port.ts'

/** The verdicts as the console names them. */
export const outcomes: Readonly<Record<Verdict | 'failed', IdentityOutcome>> = {
  match: 'matched',
  mismatch: 'mismatched',
  no_record: 'no_record',
  failed: 'failed',
}

const messages: Readonly<Record<Verdict, Text>> = {
  match: identityMessages.match,
  mismatch: identityMessages.mismatch,
  no_record: identityMessages.noRecord,
}

/** Names the outcome beside the body, which is the documented one. It is stored with the response, so that a replay has it too. */
export interface VerifyResponse extends ApiResponse {
  readonly body: IdentityResponse
  /** Absent in a response that version 1.0.0 or earlier has stored. */
  readonly outcome?: IdentityOutcome
}

export function verdictResponse(
  verdict: Verdict,
  details: PersonDetails,
  number: string,
  language: Language,
): VerifyResponse {
  const matched = verdict === 'match'
  const extra: Extra = matched ? buildExtra(details, number, formatDay(Date.now())) : {}
  const body = { success: verdict !== 'no_record', message: messages[verdict][language], matched, extra }
  return { status: 200, body, outcome: outcomes[verdict] }
}

const refunded: Text = { zh: '，额度已退回', en: '; the credit was refunded' }

export function failureResponse(cause: Text, language: Language): VerifyResponse {
  const message = `${identityMessages.failedPrefix[language]}${cause[language]}${refunded[language]}`
  return { status: 200, body: { success: false, message, matched: false, extra: {} }, outcome: 'failed' }
}

const late: Text = { zh: '核验未能在期限内完成', en: 'the verification was not finished in time' }

/** The lease expired before the verification ended, so the sweeper refunded the credit. */
export const interrupted: Readonly<Record<Language, VerifyResponse>> = {
  zh: failureResponse(late, 'zh'),
  en: failureResponse(late, 'en'),
}

/** The body alone does not distinguish a failure from "no record". */
export function outcomeOf({ body, outcome }: VerifyResponse): IdentityOutcome {
  if (outcome !== undefined) return outcome
  if (!body.success) return 'failed'
  return body.matched ? 'matched' : 'mismatched'
}

// A constant: creating an error captures the stack, and every call passes it.
export const insufficientCredits = new AppError(1004, {
  zh: '身份核验调用次数不足',
  en: 'Insufficient identity verification call count',
})

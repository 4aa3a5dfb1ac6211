// The response to a verification. Every outcome is HTTP 200, because the request itself was valid.
import type { IdentityOutcome } from '../../contract/console/values.ts'
import { type Extra, type IdentityResponse, identityMessages } from '../../contract/identity.ts'
import type { Language, Text } from '../../contract/text.ts'
import { formatDay } from '../../contract/time.ts'
import { AppError } from '../http/errors.ts'
import type { ApiResponse } from '../http/responses.ts'
import { buildExtra } from './extra.ts'
import type { PersonDetails, Verdict } from './port.ts'

const messages: Readonly<Record<Verdict, Text>> = {
  match: identityMessages.match,
  mismatch: identityMessages.mismatch,
  no_record: identityMessages.noRecord,
}

export function verdictResponse(
  verdict: Verdict,
  details: PersonDetails,
  number: string,
  language: Language,
): ApiResponse {
  const matched = verdict === 'match'
  const extra: Extra = matched ? buildExtra(details, number, formatDay(Date.now())) : {}
  return response({
    success: verdict !== 'no_record',
    message: messages[verdict][language],
    matched,
    extra,
  })
}

export function failureResponse(cause: Text, language: Language): ApiResponse {
  const message = `${identityMessages.failedPrefix[language]}${cause[language]}${refunded[language]}`
  return response({ success: false, message, matched: false, extra: {} })
}

const refunded: Text = { zh: '，额度已退回', en: '; the credit was refunded' }

/** The lease expired before the verification ended, so the sweeper refunded the credit. */
export const interrupted: Text = {
  zh: '核验未能在期限内完成',
  en: 'the verification was not finished in time',
}

/** A failure and "no record" differ only in the message, also in the stored response of a replay. */
export function outcomeOf({ success, matched, message }: IdentityResponse): IdentityOutcome {
  if (success) return matched ? 'matched' : 'mismatched'
  const { zh, en } = identityMessages.noRecord
  return message === zh || message === en ? 'no_record' : 'failed'
}

function response(body: IdentityResponse): ApiResponse {
  return { status: 200, body }
}

export function insufficientCredits(): AppError {
  return new AppError(1004, {
    zh: '身份核验调用次数不足',
    en: 'Insufficient identity verification call count',
  })
}

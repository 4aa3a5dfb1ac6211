// Texts of the domain check for callers, account holders and operators.
import type { Text } from '../../contract/text.ts'
import { AppError } from '../http/errors.ts'

export function tooManyUrls(max: number): Text {
  return { zh: `最多 ${max} 个`, en: `has at most ${max} items` }
}

// A constant: creating an error captures the stack, and every call passes it.
export const checkFailed = new AppError(1005, {
  zh: '域名检测失败，请稍后重试',
  en: 'The domain check failed, please try again',
})

/** Why a watched domain is not being checked. */
export const pauseReasons = {
  no_credit: { zh: '额度不足', en: 'no credit' },
  expired: { zh: '账户已过期', en: 'account expired' },
  suspended: { zh: '账户已停用', en: 'account suspended' },
} as const satisfies Readonly<Record<string, Text>>

export type PauseReason = keyof typeof pauseReasons

// Why a message was not sent. Records store the problem and the vendor's code; the account sees the text.
import type { Language, Text } from '../../contract/text.ts'
import type { Failure } from '../upstream/outcome.ts'
import { refusalReasons } from './port.ts'

const texts = {
  '': { zh: '', en: '' },
  number: { zh: '号码无效或无法接收短信', en: 'the number is not valid or cannot receive SMS' },
  content: { zh: '内容或变量不符合要求', en: 'the content or a variable is not allowed' },
  template: {
    zh: '模板或签名未在短信通道通过审核',
    en: 'the template or the signature is not approved at the gateway',
  },
  blocked: { zh: '号码已退订或被屏蔽', en: 'the number has unsubscribed or is blocked' },
  hours: { zh: '当前时段不允许发送', en: 'sending is not allowed at this hour' },
  recipient_limit: { zh: '该号码发送过于频繁', en: 'too many messages to this number' },
  gateway: { zh: '短信通道暂不可用', en: 'the gateway is not available' },
  unknown: {
    zh: '发送结果未知，确认前额度暂扣',
    en: 'the result is not known yet, the credits are held until it is',
  },
  unconfirmed: {
    zh: '发送结果未能确认，额度已退回',
    en: 'the result could not be confirmed, the credits were refunded',
  },
  cancelled: { zh: '已取消', en: 'cancelled' },
  account: { zh: '账户已停用、已过期或未开通短信', en: 'the account is suspended, expired or without SMS' },
  template_changed: { zh: '模板已修改或删除', en: 'the template was changed or deleted' },
  signature: { zh: '签名未通过审核', en: 'the signature is not approved' },
  undelivered: { zh: '短信未送达', en: 'the message was not delivered' },
} as const satisfies Readonly<Record<string, Text>>

export type Problem = keyof typeof texts

function isProblem(value: string): value is Problem {
  return Object.hasOwn(texts, value)
}

export function problemText(problem: string): Text {
  return texts[isProblem(problem) ? problem : 'gateway']
}

/** Codes about the operator's account at a vendor are not shown to account holders. */
const problemsWithoutCode: ReadonlySet<string> = new Set<Problem>(['gateway', 'unknown', 'unconfirmed'])

export function describeProblem(problem: string, code: string, language: Language): string {
  const text = problemText(problem)[language]
  if (code === '' || text === '' || problemsWithoutCode.has(problem)) return text
  return language === 'zh' ? `${text}（${code}）` : `${text} (${code})`
}

export function findProblem(outcome: Failure): { readonly problem: Problem; readonly code: string } {
  switch (outcome.kind) {
    case 'refused':
      return {
        problem: refusalReasons.find((one) => one === outcome.reason) ?? 'content',
        code: outcome.code,
      }
    case 'throttled':
      return {
        problem: outcome.concerns === 'recipient' ? 'recipient_limit' : 'gateway',
        code: outcome.reason,
      }
    case 'not_sent':
      return { problem: outcome.onlyThisRequest ? 'template' : 'gateway', code: outcome.reason }
    case 'ambiguous':
      return { problem: 'unknown', code: outcome.reason }
  }
}

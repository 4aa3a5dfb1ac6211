// Reads the parameters of a send, and checks when it may be sent.
import { signNameProblem } from '../../contract/sign-name.ts'
import { sms } from '../../contract/sms.ts'
import { isMarketingHour, isPhoneNumber, marketingHours } from '../../contract/sms-text.ts'
import type { Parameters } from '../../contract/parameters.ts'
import { type Call, readCallParameters } from '../http/call.ts'
import { AppError } from '../http/errors.ts'
import { type InvalidParameter, parameterError } from '../http/parameters.ts'
import { notBetween } from '../http/value-problems.ts'
import type { UsableTemplate } from './templates.ts'

export const invalidPhone = {
  name: 'phone_number',
  text: { zh: '必须是11位手机号', en: 'must be a mainland mobile number of 11 digits' },
} as const

/** Throws one error that names everything missing or invalid. */
export function readSend(call: Call) {
  const { values, missing, invalid } = readCallParameters(call, sms.operations.send.parameters)
  const problems = [...invalid, ...findProblems(values)]
  if (missing.length > 0 || problems.length > 0) throw parameterError(missing, problems)
  return values
}

/** Marketing messages are not sent at night. */
export function requireSendingHour({ type }: Pick<UsableTemplate, 'type'>, now: number): void {
  if (type !== 'marketing' || isMarketingHour(now)) return
  const from = `${String(marketingHours.from).padStart(2, '0')}:00`
  const to = `${marketingHours.to}:00`
  throw new AppError(1002, {
    zh: `营销短信只能在 ${from} 至 ${to} 发送`,
    en: `Marketing messages are sent from ${from} to ${to} only, Asia/Shanghai`,
  })
}

/** Numbers outside the range of their description. */
export function findRangeProblems(
  description: Parameters,
  values: Readonly<Record<string, unknown>>,
): InvalidParameter[] {
  return Object.entries(description).flatMap(([name, { minimum, maximum }]) => {
    const value = values[name]
    if (typeof value !== 'number' || minimum === undefined || maximum === undefined) return []
    if (value >= minimum && value <= maximum) return []
    return { name, text: notBetween(minimum, maximum) }
  })
}

/** Problems of the values that every send has. They are absent when missing or not text, which is reported already. */
export function findProblems(values: {
  readonly phone_number?: string | undefined
  readonly sign_name?: string | undefined
}): InvalidParameter[] {
  const { phone_number: phone, sign_name: signName } = values
  const problems: InvalidParameter[] = []
  if (phone !== undefined && !isPhoneNumber(phone)) problems.push(invalidPhone)
  const signProblem = signName === undefined ? undefined : signNameProblem(signName)
  if (signProblem) {
    problems.push({
      name: 'sign_name',
      text: { zh: `无效：${signProblem.zh}`, en: `is wrong: ${signProblem.en}` },
    })
  }
  return problems
}

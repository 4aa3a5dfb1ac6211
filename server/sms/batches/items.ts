// Reads the parameters of a batch, and checks its messages one by one: invalid ones are rejected, the others go on.
import { sms } from '../../../contract/sms.ts'
import { isPhoneNumber, maxBatchMessages, maxSendAheadDays } from '../../../contract/sms-text.ts'
import type { Text } from '../../../contract/text.ts'
import { dayMs, parseTime } from '../../../contract/time.ts'
import { isRecord, printable } from '../../../contract/values.ts'
import { type Call, readCallParameters } from '../../http/call.ts'
import type { AppError } from '../../http/errors.ts'
import { type InvalidParameter, parameterError } from '../../http/parameters.ts'
import { inThePast, notATime } from '../../http/value-problems.ts'
import { findProblems, invalidPhone } from '../send-parameters.ts'
import type { PricedMessage, PriceMessage } from './pricing.ts'

export interface BatchInput {
  /** As sent, for the comparison of calls with the same `Idempotency-Key`. */
  readonly values: Readonly<Record<string, unknown>>
  readonly templateCode: string
  readonly signName: string | undefined
  readonly items: readonly ItemToSend[]
  readonly sendAt: number | undefined
  /** `send_at` is over and nothing else is wrong: only the response to an earlier call can be repeated. */
  readonly tooLate: AppError | undefined
}

interface ItemToSend {
  readonly phone: unknown
  readonly params: unknown
}

export interface ValidMessage extends PricedMessage {
  readonly index: number
  readonly phone: string
}

export interface RejectedMessage {
  readonly index: number
  readonly phone: string
  readonly reason: Text
}

/** Throws one error that names everything missing or invalid, unless `send_at` is over and nothing else is wrong. */
export function readBatch(call: Call, now: number): BatchInput {
  const { values, sources, missing, invalid } = readCallParameters(call, sms.operations.send_batch.parameters)
  const problems: InvalidParameter[] = [...invalid, ...findProblems({ sign_name: values.sign_name })]
  const { phone_numbers: phones, messages } = values
  const absent = [...missing]
  if (sources.phone_numbers && sources.messages) {
    problems.push({
      name: 'messages',
      text: { zh: '与 phone_numbers 只能传一个', en: 'and phone_numbers exclude each other' },
    })
  } else if (!sources.phone_numbers && !sources.messages) absent.push('phone_numbers')
  for (const [name, list] of Object.entries({ phone_numbers: phones, messages })) {
    if (list && list.length > maxBatchMessages) {
      const text = { zh: `最多 ${maxBatchMessages} 项`, en: `has at most ${maxBatchMessages} items` }
      problems.push({ name, text })
    }
  }
  const sendAt = values.send_at === undefined ? undefined : parseTime(values.send_at)
  const wrongTime = values.send_at === undefined ? undefined : sendAtProblem(sendAt, now)
  if (wrongTime) problems.push({ name: 'send_at', text: wrongTime })
  const error = absent.length > 0 || problems.length > 0 ? parameterError(absent, problems) : undefined
  const isOnlyLate = wrongTime === inThePast && problems.length === 1 && absent.length === 0
  if (error && !isOnlyLate) throw error
  const shared = values.template_params
  return {
    values,
    templateCode: values.template_code,
    signName: values.sign_name,
    items: messages
      ? messages.map((one) =>
          isRecord(one)
            ? { phone: one['phone_number'], params: unlessBlank(one['template_params']) ?? shared }
            : { phone: undefined, params: undefined },
        )
      : (phones ?? []).map((phone) => ({ phone, params: shared })),
    sendAt,
    tooLate: error,
  }
}

/** A blank text counts as not given, as for every parameter. */
function unlessBlank(value: unknown): unknown {
  return typeof value === 'string' && value.trim() === '' ? undefined : value
}

function sendAtProblem(sendAt: number | undefined, now: number): Text | undefined {
  if (sendAt === undefined) return notATime
  if (sendAt <= now) return inThePast
  if (sendAt > now + maxSendAheadDays * dayMs) {
    return { zh: `最多提前 ${maxSendAheadDays} 天`, en: `is at most ${maxSendAheadDays} days ahead` }
  }
  return undefined
}

const repeatedNumber: Text = { zh: '号码重复', en: 'The number is repeated' }
const invalidNumber: Text = {
  zh: `${invalidPhone.name} ${invalidPhone.text.zh}`,
  en: `${invalidPhone.name} ${invalidPhone.text.en}`,
}

export function checkItems(
  items: readonly ItemToSend[],
  price: PriceMessage,
): { readonly valid: ValidMessage[]; readonly rejected: RejectedMessage[] } {
  const valid: ValidMessage[] = []
  const rejected: RejectedMessage[] = []
  const seen = new Set<string>()
  for (let index = 0; index < items.length; index += 1) {
    const { phone: given, params } = items[index]!
    const phone = textOf(given)
    const reject = (reason: Text) => rejected.push({ index, phone: printable(phone), reason })
    if (!isPhoneNumber(phone)) reject(invalidNumber)
    else if (seen.has(phone)) reject(repeatedNumber)
    else {
      seen.add(phone)
      const priced = price(params)
      if ('reason' in priced) reject(priced.reason)
      else valid.push({ index, phone, params: priced.params, parts: priced.parts, cost: priced.cost })
    }
  }
  return { valid, rejected }
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value.trim()
  return typeof value === 'number' ? String(value) : ''
}

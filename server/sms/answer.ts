// What a send answers, and what records look like to the account.
import { bizIdOf } from '../../contract/sms-text.ts'
import type { Language, Text } from '../../contract/text.ts'
import { formatTime } from '../../contract/time.ts'
import { findBalance } from '../credits/store.ts'
import type { Queries } from '../db/database.ts'
import { AppError } from '../http/errors.ts'
import { type ApiResponse, envelope } from '../http/responses.ts'
import { describeProblem } from './problems.ts'
import type { SendRecord } from './store.ts'

type Sent = Pick<SendRecord, 'id' | 'phone' | 'created_at'>

export function successAnswer(record: Sent, remaining: number): ApiResponse {
  return envelope({
    phone_number: record.phone,
    biz_id: bizIdOf(record.id),
    send_time: formatTime(record.created_at),
    remaining_credits: remaining,
  })
}

/** The same for a call that died before it could answer; the balance is today's. */
export async function sendAnswer(queries: Queries, record: SendRecord): Promise<ApiResponse> {
  const { remaining } = await findBalance(queries, record.account_id, 'sms')
  return successAnswer(record, remaining)
}

export function sendFailed(reason: Text): AppError {
  return new AppError(1005, { zh: `短信发送失败：${reason.zh}`, en: `Sending failed: ${reason.en}` })
}

/** The documented send record. */
export function describeRecord(record: SendRecord, language: Language) {
  return {
    phone_number: record.phone,
    template_code: record.template_code,
    template_params: JSON.parse(record.template_params) as Record<string, string>,
    sign_name: record.sign_name,
    biz_id: bizIdOf(record.id),
    success: record.success === 1,
    created_at: formatTime(record.created_at),
    error_message: describeProblem(record.problem, record.problem_code, language),
  }
}

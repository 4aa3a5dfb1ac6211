// The response to a send, and the documented form of a send record.
import { batchIdOf, bizIdOf, type SendState } from '../../contract/sms-text.ts'
import type { Language, Text } from '../../contract/text.ts'
import { formatTime } from '../../contract/time.ts'
import { findBalance } from '../credits/store.ts'
import type { Queries } from '../db/database.ts'
import { AppError } from '../http/errors.ts'
import { type ApiResponse, envelope } from '../http/responses.ts'
import { findCodeOf } from './code-store.ts'
import { describeProblem } from './problems.ts'
import type { SendRecord } from './store.ts'

export type SuccessfulSend = Pick<SendRecord, 'id' | 'phone' | 'created_at'>

/** `expiresAt` is that of the one-time code in the message. */
export function successResponse(record: SuccessfulSend, remaining: number, expiresAt?: number): ApiResponse {
  return envelope({
    phone_number: record.phone,
    biz_id: bizIdOf(record.id),
    send_time: formatTime(record.created_at),
    remaining_credits: remaining,
    ...(expiresAt !== undefined && { expires_at: formatTime(expiresAt) }),
  })
}

/** For a call whose process exited before it could respond. The balance is the current one. */
export async function findSuccessResponse(queries: Queries, record: SendRecord): Promise<ApiResponse> {
  const { remaining } = await findBalance(queries, record.account_id, 'sms')
  return successResponse(record, remaining, (await findCodeOf(queries, record))?.expires_at)
}

export function sendFailed(reason: Text): AppError {
  return new AppError(1005, { zh: `短信发送失败：${reason.zh}`, en: `Sending failed: ${reason.en}` })
}

export function sendStateOf(
  record: Pick<SendRecord, 'state' | 'charged' | 'problem' | 'batch_id' | 'sent_at'>,
): SendState {
  if (record.problem === 'cancelled') return 'cancelled'
  switch (record.state) {
    case 'accepted':
      return 'sent'
    case 'delivered':
      return 'delivered'
    case 'refused':
    case 'undelivered':
      return 'failed'
    case 'sending':
      if (record.charged === 0) return 'failed'
      return record.batch_id !== null && record.sent_at === null ? 'scheduled' : 'sending'
    case 'unknown':
      return record.charged === 0 ? 'failed' : 'unknown'
  }
}

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
    state: sendStateOf(record),
    receipt_time: record.receipt_at === null ? '' : formatTime(record.receipt_at),
    receipt_code: record.receipt_code,
    batch_id: record.batch_id === null ? '' : batchIdOf(record.batch_id),
  }
}

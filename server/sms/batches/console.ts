// Console routes for group sending: check and price, send, progress, cancel, result file.
import { maskPhone } from '../../../contract/masking.ts'
import { type BatchDraft, smsBatchRoutes } from '../../../contract/console/sms-batches.ts'
import type { Batch } from '../../../contract/console/responses/sms-batches.ts'
import { sms as endpoint } from '../../../contract/sms.ts'
import { batchIdOf, bizIdOf, maxBatchMessages, type SendState } from '../../../contract/sms-text.ts'
import type { Text } from '../../../contract/text.ts'
import { callFromConsole, createConsoleCall, requireNotExpired } from '../../console/call-from-console.ts'
import { csvStream, csvTime } from '../../console/csv.ts'
import { readSlice } from '../../console/fields.ts'
import { invalidFields, notFound } from '../../console/problem.ts'
import type { Api } from '../../console/routes.ts'
import { AppError } from '../../http/errors.ts'
import type { Services } from '../../services.ts'
import type { SmsProduct } from '../api.ts'
import { describeProblem } from '../problems.ts'
import { sendStateOf } from '../responses.ts'
import { findPage, type ListedSend } from '../store.ts'
import { NothingToSend } from './accept.ts'
import { batchStateOf } from './api.ts'
import { type BatchCounts, type BatchRow, countMessages, findBatch, findBatches } from './store.ts'

const defaultSize = 20

export function batchPages(api: Api, services: Services, sms: SmsProduct): void {
  const { db, credits } = services

  api.account(smsBatchRoutes.checkBatch, async (request, input) => {
    requireNotExpired(request.account)
    const call = createConsoleCall(request, {
      endpoint,
      action: 'send_batch',
      parameters: parametersOf(input),
    })
    const checked = await sms.batchSending.check(call, request.account).catch(rethrowAtField)
    const { remaining } = await credits.balance(request.account.id, 'sms')
    return {
      valid: checked.valid.length,
      rejected: checked.rejected.map(({ index, reason }) => ({
        index,
        error_message: reason[request.language],
      })),
      cost: checked.valid.reduce((sum, one) => sum + one.cost, 0),
      parts: checked.valid.reduce((sum, one) => sum + one.parts, 0),
      remaining,
      planned_at: checked.plannedAt,
    }
  })

  api.account(smsBatchRoutes.sendBatch, async (request, input) => {
    const call = { endpoint, action: 'send_batch', parameters: parametersOf(input) }
    const sent = await callFromConsole(services, request, call, sms.batchSending.send).catch(
      (error: unknown) => (error instanceof NothingToSend ? error : rethrowAtField(error)),
    )
    if (sent instanceof NothingToSend) {
      // One batch of a group: the next ones go on.
      const { remaining } = await credits.balance(request.account.id, 'sms')
      const rejected = sent.rejected.map(({ index, reason }) => ({
        index,
        error_message: reason[request.language],
      }))
      return { batch_id: '', accepted: 0, rejected, remaining }
    }
    const { data } = sent.response.body as {
      data: {
        batch_id: string
        accepted: number
        rejected: readonly { index: number; error_message: string }[]
        remaining_credits: number
      }
    }
    return {
      batch_id: data.batch_id,
      accepted: data.accepted,
      rejected: data.rejected.map(({ index, error_message }) => ({ index, error_message })),
      remaining: data.remaining_credits,
    }
  })

  api.account(smsBatchRoutes.batches, async (request, { before, size = defaultSize }) => {
    let counts: ReadonlyMap<number, BatchCounts> = new Map()
    return readSlice(
      { size },
      async (limit) => {
        const rows = await findBatches(db.reports, request.account.id, { before, limit })
        counts = await countMessages(db.reports, rows)
        return rows
      },
      (row) => batchOf(row, counts.get(row.id)!),
    )
  })

  api.account(smsBatchRoutes.cancelBatch, async (request) => {
    const parameters = { batch_id: batchIdOf(request.id()) }
    if (!(await findBatch(db, request.account.id, request.id()))) throw notFound()
    const { response } = await callFromConsole(
      services,
      request,
      { endpoint, action: 'cancel_batch', parameters },
      sms.batches.cancel,
    )
    const { data } = response.body as { data: { cancelled: number; remaining_credits: number } }
    return { cancelled: data.cancelled, remaining: data.remaining_credits }
  })

  api.accountFile(smsBatchRoutes.batchCsv, async (request) => {
    const { language, account } = request
    const batch = await findBatch(db, account.id, request.id())
    if (!batch) throw notFound()
    async function* pages() {
      const rows = await findPage(db.reports, { accountId: account.id, batchId: batch!.id }, maxBatchMessages)
      // Whole numbers for the account itself, which compares them with its own file.
      const phoneOf = ({ phone }: ListedSend) => (request.readOnly ? maskPhone(phone) : phone)
      yield rows
        .toReversed()
        .map((row) => [
          phoneOf(row),
          stateNames[sendStateOf(row)][language],
          describeProblem(row.problem, row.problem_code, language),
          bizIdOf(row.id),
          row.parts,
          row.cost === null ? '' : row.cost - (row.given_back ?? 0),
          csvTime(row.sent_at),
          csvTime(row.receipt_at),
          row.receipt_code,
        ])
    }
    return { name: `sms-${batchIdOf(batch.id)}.csv`, content: csvStream(headings[language], pages()) }
  })
}

function parametersOf(input: BatchDraft): Readonly<Record<string, unknown>> {
  return {
    template_code: input.template_code.trim(),
    messages: input.messages,
    ...(input.sign_name?.trim() && { sign_name: input.sign_name.trim() }),
    ...(input.send_at !== undefined && { send_at: input.send_at }),
  }
}

function rethrowAtField(error: unknown): never {
  if (error instanceof AppError && error.code === 1007) throw invalidFields({ template_code: error.text })
  throw error
}

function batchOf(row: BatchRow, counts: BatchCounts): Batch {
  return {
    id: row.id,
    batch_id: batchIdOf(row.id),
    template_code: row.template_code,
    sign_name: row.sign_name,
    state: batchStateOf(row, counts),
    send_at: row.send_at,
    created_at: row.created_at,
    finished_at: row.finished_at,
    total: row.total,
    succeeded: counts.succeeded,
    failed: counts.failed,
    cancelled: counts.cancelled,
    pending: counts.pending,
    credits_used: counts.credits_used,
  }
}

const stateNames: Readonly<Record<SendState, Text>> = {
  scheduled: { zh: '待发送', en: 'scheduled' },
  sending: { zh: '发送中', en: 'sending' },
  sent: { zh: '已提交', en: 'sent' },
  delivered: { zh: '已送达', en: 'delivered' },
  failed: { zh: '失败', en: 'failed' },
  unknown: { zh: '待确认', en: 'pending' },
  cancelled: { zh: '已取消', en: 'cancelled' },
}

const headings = {
  zh: ['手机号', '结果', '原因', '流水号', '条数', '消耗', '发送时间', '回执时间', '回执码'],
  en: ['phone', 'outcome', 'reason', 'biz_id', 'parts', 'credits', 'sent', 'receipt', 'receipt code'],
} as const

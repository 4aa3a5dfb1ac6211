// Console routes for SMS: price, send, records.
import { signNameProblem } from '../../contract/sign-name.ts'
import { smsRoutes, type SmsDraft, type SmsRecordFilter } from '../../contract/console/sms.ts'
import type { SmsRecord } from '../../contract/console/responses/sms.ts'
import { sms as endpoint } from '../../contract/sms.ts'
import { bizIdOf, isPhoneNumber, phoneRule } from '../../contract/sms-text.ts'
import type { Language, Text } from '../../contract/text.ts'
import type { Account } from '../accounts/store.ts'
import { AppError } from '../http/errors.ts'
import type { Services } from '../services.ts'
import { describeProblem } from './problems.ts'
import type { SmsProduct } from './api.ts'
import { findPage, findPosition, outcomeOf, type SendFilter, type ListedSend } from './store.ts'
import type { Api } from '../console/routes.ts'
import { callFromConsole } from '../console/call-from-console.ts'
import { csvPages, csvStream, csvTime } from '../console/csv.ts'
import { fileDays, filterRange, readSlice } from '../console/fields.ts'
import { maskPhone } from '../../contract/masking.ts'
import { type FieldProblems, invalidFields } from '../console/problem.ts'
import type { SmsOutcome } from '../../contract/console/values.ts'

const outcomeNames: Readonly<Record<SmsOutcome, Text>> = {
  sent: { zh: '已提交', en: 'sent' },
  delivered: { zh: '已送达', en: 'delivered' },
  failed: { zh: '失败', en: 'failed' },
  undecided: { zh: '待确认', en: 'pending' },
}

export function smsPages(api: Api, services: Services, sms: SmsProduct): void {
  const { db, credits } = services

  async function priceOf(account: Account, input: SmsDraft) {
    const problems: Record<string, Text> = {}
    if (!isPhoneNumber(input.phone_number.trim())) problems['phone_number'] = phoneRule
    const signName = input.sign_name?.trim() || undefined
    const signProblem = signName === undefined ? undefined : signNameProblem(signName)
    if (signProblem) problems['sign_name'] = signProblem
    const templateParams = new Map(Object.entries(input.template_params ?? {}))
    try {
      const draft = { templateCode: input.template_code.trim(), signName, templateParams }
      const priced = await sms.price(account, draft)
      if (Object.keys(problems).length === 0) return priced
    } catch (error) {
      // The problems of the draft are shown beside their fields.
      if (!(error instanceof AppError) || (error.code !== 1007 && !error.fields)) throw error
      Object.assign(problems, error.fields ?? { template_code: error.text })
    }
    throw invalidFields(problems satisfies FieldProblems)
  }

  api.account(smsRoutes.price, async (request, input) => {
    const { text, parts, cost } = await priceOf(request.account, input)
    const { remaining } = await credits.balance(request.account.id, 'sms')
    return { text, length: text.length, parts, cost, remaining }
  })

  api.account(smsRoutes.send, async (request, input) => {
    const parameters = {
      phone_number: input.phone_number,
      template_code: input.template_code,
      ...(input.template_params && { template_params: input.template_params }),
      ...(input.sign_name?.trim() && { sign_name: input.sign_name }),
    }
    const { response } = await callFromConsole(
      services,
      request,
      { endpoint, action: 'send', parameters },
      sms.send,
    ).catch((error: unknown) => {
      if (!(error instanceof AppError) || error.code !== 1007) throw error
      throw invalidFields({ template_code: error.text })
    })
    const { biz_id: bizId } = (response.body as { data: { biz_id: string } }).data
    const [record] = await findPage(db, { accountId: request.account.id, bizId }, 1)
    const { remaining } = await credits.balance(request.account.id, 'sms')
    return {
      biz_id: bizId,
      charged: record?.cost ?? 0,
      remaining,
      request_id: record?.request_id ?? request.requestId,
    }
  })

  function filterOf(accountId: number, input: SmsRecordFilter): SendFilter {
    const { start, end } = filterRange(input)
    return {
      accountId,
      phone: input.phone_number?.trim(),
      bizId: input.biz_id?.trim(),
      templateCode: input.template_code?.trim(),
      outcome: input.outcome,
      from: start,
      before: end,
    }
  }

  api.account(smsRoutes.records, async (request, input) => {
    const after =
      input.before === undefined ? undefined : await findPosition(db, request.account.id, input.before)
    if (input.before !== undefined && !after) return { items: [], next: null }
    const filter = { ...filterOf(request.account.id, input), after }
    return readSlice(
      input,
      (limit) => findPage(db, filter, limit),
      (row) => recordOf(row, request.language),
    )
  })

  api.accountFile(smsRoutes.recordsCsv, async (request, input) => {
    const search = filterOf(request.account.id, input)
    const { language } = request
    const pages = csvPages(
      (after: ListedSend | undefined, limit) => findPage(db, { ...search, after }, limit),
      (row) => {
        const record = recordOf(row, language)
        return [
          record.biz_id,
          csvTime(record.at),
          record.phone_number,
          record.template_code,
          record.sign_name,
          outcomeNames[record.outcome][language],
          record.reason,
          record.gateway,
          record.parts,
          record.charged,
          record.given_back,
          csvTime(record.receipt_at),
          record.request_id,
        ]
      },
    )
    return {
      name: `sms-${fileDays(input)}.csv`,
      content: csvStream(headings[language], pages),
    }
  })
}

const headings = {
  zh: [
    '流水号',
    '时间',
    '手机号',
    '模板',
    '签名',
    '结果',
    '原因',
    '网关',
    '条数',
    '扣减',
    '退回',
    '回执时间',
    '请求编号',
  ],
  en: [
    'biz_id',
    'time',
    'phone',
    'template',
    'signature',
    'outcome',
    'reason',
    'gateway',
    'parts',
    'charged',
    'refunded',
    'receipt',
    'request id',
  ],
} as const

function recordOf(row: ListedSend, language: Language): SmsRecord {
  const reason = describeProblem(row.problem, row.problem_code, language)
  return {
    id: row.id,
    biz_id: bizIdOf(row.id),
    at: row.created_at,
    phone_number: maskPhone(row.phone),
    template_code: row.template_code,
    template_name: row.template_name ?? row.template_code,
    sign_name: row.sign_name,
    outcome: outcomeOf(row),
    reason: reason === '' ? null : reason,
    gateway: row.gateway,
    parts: row.parts,
    charged: row.cost ?? 0,
    given_back: row.given_back ?? 0,
    receipt_at: row.receipt_at,
    request_id: row.request_id ?? '',
  }
}

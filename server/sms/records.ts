// The query for send records: reads its filter and lists the records, in pages if the caller asks for pages.
import { defaultPageSize } from '../../contract/paging.ts'
import { sms } from '../../contract/sms.ts'
import { isPhoneNumber } from '../../contract/sms-text.ts'
import type { Text } from '../../contract/text.ts'
import { endOfDay, startOfDay } from '../../contract/time.ts'
import { type Caller, requireNotSuspended } from '../accounts/authenticate.ts'
import type { Database } from '../db/database.ts'
import { type Call, readCallParameters } from '../http/call.ts'
import { type Cursors, limitProblem } from '../http/cursor.ts'
import { AppError } from '../http/errors.ts'
import { type InvalidParameter, parameterError } from '../http/parameters.ts'
import { type ApiResponse, envelope, pageEnvelope } from '../http/responses.ts'
import { notADay } from '../http/value-problems.ts'
import { describeRecord } from './responses.ts'
import { invalidPhone } from './send-parameters.ts'
import { findSends } from './store.ts'

export async function showRecords(
  db: Database,
  cursors: Cursors,
  call: Call,
  { account }: Caller,
): Promise<ApiResponse> {
  const { filter, cursor, limit } = readFilter(call)
  requireNotSuspended(account)
  const query = [account.id, 'get_status', filter.bizId, filter.phone, filter.from, filter.before]
  const position = cursors.read(query, cursor)
  const after = position && { created_at: position[0]!, id: position[1]! }
  const size = limit ?? defaultPageSize
  const rows = await findSends(db, { ...filter, accountId: account.id, after }, size + 1)
  const records = rows.slice(0, size)
  const data = records.map((record) => describeRecord(record, call.language))
  // Without these parameters the response is that of callers who know no pages.
  if (cursor === undefined && limit === undefined) return envelope(data)
  const last = rows.length > size ? records.at(-1) : undefined
  return pageEnvelope(data, last ? cursors.write(query, [last.created_at, last.id]) : null)
}

/** Throws one error that names everything invalid. One of biz_id, phone_number and start_date is required. */
function readFilter(call: Call) {
  const { values, sources, missing, invalid } = readCallParameters(call, sms.operations.logs.parameters)
  const problems: InvalidParameter[] = [...invalid]
  const { biz_id: bizId, phone_number: phone, cursor, limit } = values
  if (phone !== undefined && !isPhoneNumber(phone)) problems.push(invalidPhone)
  const { from, before, problems: wrongDays } = readDays(values)
  problems.push(...wrongDays)
  const wrongLimit = limitProblem(limit)
  if (wrongLimit) problems.push(wrongLimit)
  const error = missing.length > 0 || problems.length > 0 ? parameterError(missing, problems) : undefined
  // `sources` also has the parameters that are present but invalid.
  if (!sources.biz_id && !sources.phone_number && !sources.start_date) throw filterRequired(error?.text)
  if (error) throw error
  return { filter: { bizId, phone, from, before }, cursor, limit }
}

/** The days as times, inclusive, and what is wrong with them. */
export function readDays(days: {
  readonly start_date?: string | undefined
  readonly end_date?: string | undefined
}): {
  readonly from: number | undefined
  readonly before: number | undefined
  readonly problems: readonly InvalidParameter[]
} {
  const { start_date: startDate, end_date: endDate } = days
  const problems: InvalidParameter[] = []
  const from = startDate === undefined ? undefined : startOfDay(startDate)
  const before = endDate === undefined ? undefined : endOfDay(endDate)
  if (startDate !== undefined && from === undefined) problems.push({ name: 'start_date', text: notADay })
  if (endDate !== undefined && before === undefined) problems.push({ name: 'end_date', text: notADay })
  if (from !== undefined && before !== undefined && before <= from) {
    problems.push({ name: 'end_date', text: { zh: '早于 start_date', en: 'is before start_date' } })
  }
  return { from, before, problems }
}

function filterRequired(also: Text | undefined): AppError {
  const zh = 'biz_id、phone_number、start_date 至少填写一个'
  const en = 'at least one of biz_id, phone_number and start_date is needed'
  return new AppError(1001, also ? { zh: `${also.zh}；${zh}`, en: `${also.en}; ${en}` } : { zh, en })
}

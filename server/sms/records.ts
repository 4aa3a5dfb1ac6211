// Reads the filter of a query for send records.
import { sms } from '../../contract/sms.ts'
import { isPhoneNumber } from '../../contract/sms-text.ts'
import type { Text } from '../../contract/text.ts'
import { endOfDay, startOfDay } from '../../contract/time.ts'
import { type Call, readCallParameters } from '../http/call.ts'
import { AppError } from '../http/errors.ts'
import { type InvalidParameter, parameterError } from '../http/parameters.ts'
import { invalidPhone } from './send-parameters.ts'
import type { SendFilter } from './store.ts'

const invalidDay = { zh: '必须是 YYYY-MM-DD 格式的日期', en: 'must be a date YYYY-MM-DD' }

/** Throws one error that names everything invalid. One of biz_id, phone_number and start_date is required. */
export function readFilter(call: Call): Omit<SendFilter, 'accountId'> {
  const { values, sources, missing, invalid } = readCallParameters(call, sms.operations.logs.parameters)
  const problems: InvalidParameter[] = [...invalid]
  const { biz_id: bizId, phone_number: phone, start_date: startDate, end_date: endDate } = values
  if (phone !== undefined && !isPhoneNumber(phone)) problems.push(invalidPhone)
  const from = startDate === undefined ? undefined : startOfDay(startDate)
  const before = endDate === undefined ? undefined : endOfDay(endDate)
  if (startDate !== undefined && from === undefined) problems.push({ name: 'start_date', text: invalidDay })
  if (endDate !== undefined && before === undefined) problems.push({ name: 'end_date', text: invalidDay })
  if (from !== undefined && before !== undefined && before <= from) {
    problems.push({ name: 'end_date', text: { zh: '早于 start_date', en: 'is before start_date' } })
  }
  const error = missing.length > 0 || problems.length > 0 ? parameterError(missing, problems) : undefined
  // `sources` also has the parameters that are present but invalid.
  if (!sources.biz_id && !sources.phone_number && !sources.start_date) throw filterRequired(error?.text)
  if (error) throw error
  return { bizId, phone, from, before }
}

function filterRequired(also: Text | undefined): AppError {
  const zh = 'biz_id、phone_number、start_date 至少填写一个'
  const en = 'at least one of biz_id, phone_number and start_date is needed'
  return new AppError(1001, also ? { zh: `${also.zh}；${zh}`, en: `${also.en}; ${en}` } : { zh, en })
}

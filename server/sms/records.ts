// Looking up send records: which of them the parameters mean.
import { sms } from '../../contract/sms.ts'
import { isPhoneNumber } from '../../contract/sms-text.ts'
import type { Text } from '../../contract/text.ts'
import { endOfDay, startOfDay } from '../../contract/time.ts'
import { type Call, readCallParameters } from '../http/call.ts'
import { AppError } from '../http/errors.ts'
import { type InvalidParameter, parameterError } from '../http/parameters.ts'
import type { SendFilter } from './store.ts'

const notADay = { zh: '必须是 YYYY-MM-DD 格式的日期', en: 'must be a date YYYY-MM-DD' }

/** Everything that is wrong in one message; without any of the three ways to search there is nothing to answer. */
export function readFilter(call: Call): Omit<SendFilter, 'accountId'> {
  const { values, sources, missing, invalid } = readCallParameters(call, sms.operations.logs.parameters)
  const problems: InvalidParameter[] = [...invalid]
  const { biz_id: bizId, phone_number: phone, start_date: startDate, end_date: endDate } = values
  if (phone !== undefined && !isPhoneNumber(phone)) {
    problems.push({
      name: 'phone_number',
      text: { zh: '必须是11位手机号', en: 'must be a mainland mobile number of 11 digits' },
    })
  }
  const from = startDate === undefined ? undefined : startOfDay(startDate)
  const before = endDate === undefined ? undefined : endOfDay(endDate)
  if (startDate !== undefined && from === undefined) problems.push({ name: 'start_date', text: notADay })
  if (endDate !== undefined && before === undefined) problems.push({ name: 'end_date', text: notADay })
  if (from !== undefined && before !== undefined && before <= from) {
    problems.push({ name: 'end_date', text: { zh: '早于 start_date', en: 'is before start_date' } })
  }
  const wrong = missing.length > 0 || problems.length > 0 ? parameterError(missing, problems) : undefined
  // Where each was found: one that was given and is wrong was given all the same.
  if (!sources.biz_id && !sources.phone_number && !sources.start_date) throw nothingToSearchBy(wrong?.text)
  if (wrong) throw wrong
  return { bizId, phone, from, before }
}

function nothingToSearchBy(also: Text | undefined): AppError {
  const zh = 'biz_id、phone_number、start_date 至少填写一个'
  const en = 'at least one of biz_id, phone_number and start_date is needed'
  return new AppError(1001, also ? { zh: `${also.zh}；${zh}`, en: `${also.en}; ${en}` } : { zh, en })
}

// Statistics of messages: of an account, and of all accounts for the operator.
import { type Static, Type } from 'typebox'
import { dayRange, optionalText } from './fields.ts'
import type { operatorSmsStatisticsResponses, smsStatisticsResponses } from './responses/sms-statistics.ts'
import { route, withResponses } from './route.ts'

/** Days of one report. */
export const maxStatisticsDays = 92

const StatisticsQuery = Type.Object({ ...dayRange, template_code: optionalText })
export type StatisticsQuery = Static<typeof StatisticsQuery>

/** Without a user name: all accounts. */
const OperatorStatisticsQuery = Type.Object({ ...StatisticsQuery.properties, username: optionalText })

export const smsStatisticsRoutes = withResponses<typeof smsStatisticsResponses>()({
  statistics: route('GET', '/sms/statistics', StatisticsQuery),
  statisticsCsv: route('GET', '/sms/statistics.csv', StatisticsQuery),
})

export const operatorSmsStatisticsRoutes = withResponses<typeof operatorSmsStatisticsResponses>()({
  smsStatistics: route('GET', '/operator/sms/statistics', OperatorStatisticsQuery),
  smsStatisticsCsv: route('GET', '/operator/sms/statistics.csv', OperatorStatisticsQuery),
})

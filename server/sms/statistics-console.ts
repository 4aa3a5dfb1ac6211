// Console routes for the statistics of messages, of one account and of all.
import {
  maxStatisticsDays,
  operatorSmsStatisticsRoutes,
  smsStatisticsRoutes,
  type StatisticsQuery,
} from '../../contract/console/sms-statistics.ts'
import type { MessageCounts, SmsStatistics } from '../../contract/console/responses/sms-statistics.ts'
import type { Language } from '../../contract/text.ts'
import { findByUsername } from '../accounts/store.ts'
import { csvStream } from '../console/csv.ts'
import { rangeOf } from '../console/fields.ts'
import { invalidFields } from '../console/problem.ts'
import type { Api } from '../console/routes.ts'
import type { Services } from '../services.ts'
import { createStatistics } from './statistics.ts'

export function statisticsPages(api: Api, { db }: Services): void {
  function read(
    accountId: number | undefined,
    input: StatisticsQuery,
    language: Language,
  ): Promise<SmsStatistics> {
    const { days } = rangeOf(input, { byDefault: 7, max: maxStatisticsDays })
    const templateCode = input.template_code?.trim() || undefined
    return createStatistics(db.reports, { accountId, templateCode, days }, language)
  }

  async function accountOf(username: string | undefined): Promise<number | undefined> {
    const name = username?.trim() ?? ''
    if (name === '') return undefined
    const account = await findByUsername(db, name)
    if (!account) throw invalidFields({ username: { zh: '账户不存在', en: 'There is no such account' } })
    return account.id
  }

  api.account(smsStatisticsRoutes.statistics, (request, input) =>
    read(request.account.id, input, request.language),
  )
  api.accountFile(smsStatisticsRoutes.statisticsCsv, async (request, input) =>
    fileOf(await read(request.account.id, input, request.language), request.language),
  )
  api.operator(operatorSmsStatisticsRoutes.smsStatistics, async (request, { username, ...input }) =>
    read(await accountOf(username), input, request.language),
  )
  api.operatorFile(operatorSmsStatisticsRoutes.smsStatisticsCsv, async (request, { username, ...input }) =>
    fileOf(await read(await accountOf(username), input, request.language), request.language),
  )
}

const words = {
  zh: {
    heading: ['维度', '值', '总数', '已提交', '已送达', '失败', '待确认', '已取消'],
    day: '日期',
    template: '模板',
    gateway: '网关',
    reason: '失败原因',
  },
  en: {
    heading: ['by', 'value', 'total', 'sent', 'delivered', 'failed', 'pending', 'cancelled'],
    day: 'day',
    template: 'template',
    gateway: 'gateway',
    reason: 'reason',
  },
} as const

function fileOf(statistics: SmsStatistics, language: Language) {
  const t = words[language]
  const cells = ({ total, sent, delivered, failed, undecided, cancelled }: MessageCounts) =>
    [total, sent, delivered, failed, undecided, cancelled] as const
  async function* rows() {
    yield [
      ...statistics.days.map((one) => [t.day, one.day, ...cells(one)]),
      ...statistics.templates.map((one) => [t.template, one.template_code, ...cells(one)]),
      ...statistics.gateways.map((one) => [t.gateway, one.gateway, ...cells(one)]),
      ...statistics.reasons.map(({ reason, count }) => [t.reason, reason, '', '', '', count, '', '']),
    ]
  }
  return {
    name: `sms-statistics-${statistics.from}-${statistics.to}.csv`,
    content: csvStream(t.heading, rows()),
  }
}

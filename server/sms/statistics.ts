// Statistics of messages, day by day from the newest: each query reads one day, and a report reads a bounded number of rows.
import type { MessageCounts, SmsStatistics } from '../../contract/console/responses/sms-statistics.ts'
import type { Language } from '../../contract/text.ts'
import { endOfDay, startOfDay } from '../../contract/time.ts'
import type { Queries } from '../db/database.ts'
import { problemText } from './problems.ts'
import { countDay, type SmsDayCount } from './statistics-store.ts'

/** A report of more messages says from which day on it is complete. */
const maxReportRows = 2_000_000

const maxTemplates = 50

export interface StatisticsFilter {
  readonly accountId: number | undefined
  readonly templateCode: string | undefined
  /** Oldest first. */
  readonly days: readonly string[]
}

type Counts = { -readonly [Name in keyof MessageCounts]: MessageCounts[Name] }

const noMessages: MessageCounts = { total: 0, sent: 0, delivered: 0, failed: 0, undecided: 0, cancelled: 0 }

export async function createStatistics(
  queries: Queries,
  { accountId, templateCode, days }: StatisticsFilter,
  language: Language,
  maxRows: number = maxReportRows,
): Promise<SmsStatistics> {
  const totals: Counts = { ...noMessages }
  const byDay: SmsStatistics['days'][number][] = []
  const templates = new Map<string, Counts>()
  const gateways = new Map<string, Counts>()
  const reasons = new Map<string, number>()
  let left = maxRows
  let countedFrom: string | null = null
  for (const day of days.toReversed()) {
    const filter = { accountId, templateCode, start: startOfDay(day)!, end: endOfDay(day)! }
    const groups = left > 0 ? await countDay(queries, filter, left + 1) : undefined
    const read = groups?.reduce((sum, { count }) => sum + count, 0) ?? 0
    if (!groups || read > left) break
    left -= read
    countedFrom = day
    const counts: Counts = { ...noMessages }
    for (const group of groups) {
      for (const one of [
        totals,
        counts,
        countsOf(templates, group.template_code),
        countsOf(gateways, group.gateway),
      ])
        add(one, group)
      if (group.outcome !== 'failed') continue
      const reason = problemText(group.problem)[language]
      reasons.set(reason, (reasons.get(reason) ?? 0) + group.count)
    }
    byDay.unshift({ day, ...counts })
  }
  const isWhole = byDay.length === days.length
  return {
    from: days[0]!,
    to: days.at(-1)!,
    counted_from: isWhole ? null : (countedFrom ?? ''),
    totals,
    days: byDay,
    templates: sorted(templates, (code) => ({ template_code: code })).slice(0, maxTemplates),
    gateways: sorted(gateways, (name) => ({ gateway: name })),
    reasons: [...reasons]
      .map(([reason, count]) => ({ reason, count }))
      .toSorted((one, other) => other.count - one.count),
  }
}

function countsOf(known: Map<string, Counts>, name: string): Counts {
  const counts = known.get(name) ?? { ...noMessages }
  known.set(name, counts)
  return counts
}

function add(counts: Counts, { outcome, count }: SmsDayCount): void {
  counts.total += count
  counts[outcome] += count
}

function sorted<Name extends object>(
  known: ReadonlyMap<string, MessageCounts>,
  toName: (name: string) => Name,
): (MessageCounts & Name)[] {
  return [...known]
    .map(([name, counts]) => ({ ...toName(name), ...counts }))
    .toSorted((one, other) => other.total - one.total)
}

// Decisions of operators about the reports of visitors.
import type { ReportDecision } from '../../../contract/link-abuse.ts'
import { type OperatorActor, recordChange } from '../../audit/audit.ts'
import type { Database } from '../../db/database.ts'
import { AppError } from '../../http/errors.ts'
import type { BanRules, BanTarget } from './bans.ts'
import { decideReports, type ListedReport } from './report-store.ts'

/** Decides all open reports of the same address. The note of the actor is that of the ban. */
export async function decideReport(
  { db, bans }: { readonly db: Database; readonly bans: BanRules },
  actor: OperatorActor,
  report: ListedReport,
  decision: ReportDecision,
): Promise<void> {
  if (decision !== 'dismiss') await bans.add(actor, targetOf(report, decision), actor.note ?? '')
  await db.write(async (tx) => {
    const state = decision === 'dismiss' ? 'dismissed' : 'banned'
    const count = await decideReports(tx, report.address, state, actor.name)
    await recordChange(tx, actor, 'report.decide', report.address, { decision, count })
  })
}

function targetOf({ code, target_url: url }: ListedReport, decision: 'ban_link' | 'ban_host'): BanTarget {
  if (code === null || url === null) {
    throw new AppError(1002, {
      zh: '举报的地址不是本平台的短链接',
      en: 'the reported address is not a short link of this platform',
    })
  }
  return decision === 'ban_link' ? { code } : { host: URL.parse(url)?.hostname ?? '' }
}

// Console routes of bans and of reports by visitors, for operators.
import { linkAbuseRoutes } from '../../../contract/console/link-domains.ts'
import type { LinkBan, LinkReport } from '../../../contract/console/responses/link-domains.ts'
import { readSlice } from '../../console/fields.ts'
import { operatorOf } from '../../console/operator-actor.ts'
import { conflict, invalidFields, notFound } from '../../console/problem.ts'
import type { Api } from '../../console/routes.ts'
import type { Services } from '../../services.ts'
import type { Shortlink } from '../api.ts'
import { readBanTarget } from './bans.ts'
import { findReport, type ListedReport, listReports } from './report-store.ts'
import { decideReport } from './reports.ts'
import { type Ban, findBan, listBans } from './store.ts'

export function linkAbusePages(api: Api, { db }: Services, { bans }: Shortlink): void {
  api.operator(linkAbuseRoutes.bans, (_request, input) =>
    readSlice(input, (limit) => listBans(db, limit, input.before), toBan),
  )

  api.operator(linkAbuseRoutes.addBan, async (request, input) => {
    const target = readBanTarget(input.target)
    if (!target) throw invalidFields({ target: wrongTarget })
    await bans.add(operatorOf(request, input), target, input.note)
    return {}
  })

  api.operator(linkAbuseRoutes.removeBan, async (request, input) => {
    const ban = await findBan(db, request.id())
    if (!ban) throw notFound()
    const target = ban.host === null ? { code: ban.code } : { host: ban.host }
    await bans.remove(operatorOf(request, input), target)
    return {}
  })

  api.operator(linkAbuseRoutes.reports, (_request, input) =>
    readSlice(
      input,
      (limit) => listReports(db, { state: input.state ?? 'open', before: input.before, limit }),
      toReport,
    ),
  )

  api.operator(linkAbuseRoutes.decideReport, async (request, input) => {
    const report = await findReport(db, request.id())
    if (!report) throw notFound()
    if (report.state !== 'open') throw conflict('已经处理过', 'It is already decided')
    // Its owner may have led the link to the host of someone else, which must not be banned.
    const isOther = input.target_url !== undefined && input.target_url !== (report.target_url ?? '')
    if (input.decision === 'ban_host' && isOther) {
      throw conflict(
        '链接的目标已变更，请刷新后重新处理',
        'The link leads elsewhere by now; reload and decide again',
      )
    }
    await decideReport({ db, bans }, operatorOf(request, input), report, input.decision)
    return {}
  })
}

const wrongTarget = { zh: '写成 link:短码 或 host:域名', en: 'Write link:CODE or host:HOST' }

function toBan({ id, host, code, note, created_by, created_at }: Ban): LinkBan {
  return { id, kind: host === null ? 'link' : 'host', value: host ?? code, note, created_by, created_at }
}

function toReport(report: ListedReport): LinkReport {
  const { id, reason, details, contact, state, decided_by, decided_at, at } = report
  return {
    id,
    short_code: report.code ?? '',
    username: report.username ?? '',
    target_url: report.target_url ?? '',
    is_banned: (report.banned ?? 0) !== 0,
    reason,
    details,
    contact,
    state,
    decided_by,
    decided_at,
    at,
  }
}

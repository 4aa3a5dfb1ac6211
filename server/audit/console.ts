// Console routes of the audit log: list and export.
import { operatorRoutes, type AuditFilter } from '../../contract/console/operator.ts'
import type { AuditEntry } from '../../contract/console/responses/operator.ts'
import type { Services } from '../services.ts'
import type { Api } from '../console/routes.ts'
import { type AuditRow, listAudit } from './store.ts'
import { csvPages, csvStream, csvTime } from '../console/csv.ts'
import { fileDays, filterRange, readSlice } from '../console/fields.ts'

export function auditPages(api: Api, { db }: Services): void {
  function searchOf(input: AuditFilter) {
    return { actor: input.actor, action: input.action, target: input.target, ...filterRange(input) }
  }

  api.operator(operatorRoutes.audit, async (_request, input) => {
    const search = { ...searchOf(input), before: input.before }
    return readSlice(input, (limit) => listAudit(db, search, limit), entryOf)
  })

  api.operatorFile(operatorRoutes.auditCsv, async ({ language }, input) => {
    const search = searchOf(input)
    const pages = csvPages(
      (last: AuditRow | undefined, limit) => listAudit(db, { ...search, before: last?.id }, limit),
      (row) => [row.id, csvTime(row.at), row.actor, row.action, row.target, row.note, row.details],
    )
    const heading =
      language === 'zh'
        ? ['编号', '时间', '操作人', '操作', '对象', '备注', '变更内容']
        : ['id', 'time', 'actor', 'action', 'target', 'note', 'details']
    return { name: `audit-${fileDays(input)}.csv`, content: csvStream(heading, pages) }
  })
}

function entryOf({ details, ...row }: AuditRow): AuditEntry {
  return { ...row, details: JSON.parse(details) as AuditEntry['details'] }
}

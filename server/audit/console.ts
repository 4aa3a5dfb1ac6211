// The audit log as operators read it.
import { type Static, Type } from 'typebox'
import { type AuditEntry, operatorRoutes } from '../../contract/console/operator.ts'
import type { Services } from '../services.ts'
import type { Api } from '../console/routes.ts'
import { type AuditRow, listAudit } from './store.ts'
import { csvStream, csvTime } from '../console/csv.ts'
import { dayRange, filterRange, rangeOf, slice } from '../console/fields.ts'

const filter = {
  ...dayRange,
  actor: Type.Optional(Type.String({ maxLength: 100 })),
  action: Type.Optional(Type.String({ maxLength: 100 })),
  target: Type.Optional(Type.String({ maxLength: 100 })),
}

const filterOnly = Type.Object(filter)

export function auditPages(api: Api, { db }: Services): void {
  function searchOf(sent: Static<typeof filterOnly>) {
    return { actor: sent.actor, action: sent.action, target: sent.target, ...filterRange(sent) }
  }

  api.operator(operatorRoutes.audit, Type.Object({ ...filter, ...slice }), async (_ask, sent) => {
    const size = sent.size ?? 50
    const rows = await listAudit(db, { ...searchOf(sent), before: sent.before }, size + 1)
    const items = rows.slice(0, size).map(entryOf)
    return { items, next: rows.length > size ? items[size - 1]!.id : null }
  })

  api.operatorFile(operatorRoutes.auditCsv, filterOnly, async (_ask, sent) => {
    const range = rangeOf(sent, { usual: 366, most: 3_660 })
    const search = { ...searchOf(sent), start: range.start, end: range.end }
    async function* pages() {
      let before: number | undefined
      for (;;) {
        const rows = await listAudit(db, { ...search, before }, 1_000)
        yield rows.map((row) => [
          row.id,
          csvTime(row.at),
          row.actor,
          row.action,
          row.target,
          row.note,
          row.details,
        ])
        if (rows.length < 1_000) return
        before = rows.at(-1)!.id
      }
    }
    const heading = ['id', 'time', 'actor', 'action', 'target', 'note', 'details']
    return { name: `audit-${range.from}-${range.to}.csv`, content: csvStream(heading, pages()) }
  })
}

function entryOf({ details, ...row }: AuditRow): AuditEntry {
  return { ...row, details: JSON.parse(details) as AuditEntry['details'] }
}

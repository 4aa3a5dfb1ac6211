// Console routes for statements: the list, and each as CSV and XLSX.
import { Readable } from 'node:stream'
import { paymentRoutes } from '../../contract/console/payments.ts'
import type { Api } from '../console/routes.ts'
import type { Services } from '../services.ts'
import { amountColumns, formatFile, readRows } from './file.ts'
import { monthOf, type Statements } from './statements.ts'
import { listStatements } from './store.ts'
import { formatXlsx } from './xlsx.ts'

const xlsxType = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'

export function statementPages(api: Api, { db }: Services, statements: Statements): void {
  api.account(paymentRoutes.statements, async ({ account }) => {
    const running = await statements.make(account, monthOf(Date.now()))
    const frozen = await listStatements(db, account.id)
    return {
      items: [
        ...(running.isFinal ? [] : [viewOf(running.month, false, running.digest, running.rows)]),
        ...frozen.map(({ month, digest, content }) => viewOf(month, true, digest, readRows(content))),
      ],
    }
  })

  api.accountFile(paymentRoutes.statementCsv, async (request) => {
    const made = await statements.make(request.account, request.part('month'))
    const content = Readable.from([formatFile(made, statements.key.id)], { objectMode: false })
    return { name: `statement-${made.month}.csv`, content }
  })

  api.accountFile(paymentRoutes.statementXlsx, async (request) => {
    const made = await statements.make(request.account, request.part('month'))
    const rows = [
      ['account', request.account.username],
      ['month', made.month],
      ['state', made.isFinal ? 'final' : 'provisional'],
      ['digest', made.digest],
      ['signature', made.signature],
      ['api_type', ...amountColumns],
      ...made.rows.map((row) => [row.api_type, ...amountColumns.map((column) => row[column])]),
    ]
    const content = Readable.from([formatXlsx(rows)], { objectMode: false })
    return { name: `statement-${made.month}.xlsx`, content, type: xlsxType }
  })
}

function viewOf(
  month: string,
  isFinal: boolean,
  digest: string,
  rows: readonly ReturnType<typeof readRows>[number][],
) {
  return { month, is_final: isFinal, digest, rows: rows.map((row) => ({ ...row })) }
}

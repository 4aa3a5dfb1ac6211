// Console routes for the ledger: entries with their operations, balances over time, export.
import { apiTypeNames, type ApiType, apiTypes } from '../../contract/credits.ts'
import { creditRoutes, type LedgerFilter } from '../../contract/console/credits.ts'
import type { LedgerEntry } from '../../contract/console/responses/credits.ts'
import { dayMs, formatDay } from '../../contract/time.ts'
import type { Services } from '../services.ts'
import type { Api } from '../console/routes.ts'
import { csvPages, csvStream, csvTime } from '../console/csv.ts'
import { fileDays, filterRange, rangeOf, readSlice } from '../console/fields.ts'
import { findBalancesBefore, type LedgerRow, listLedger } from './ledger/list-store.ts'
import { createLedgerUsage } from './ledger/usage.ts'
import type { LedgerKind } from '../../contract/console/values.ts'

const kindNames: Readonly<Record<LedgerKind, { zh: string; en: string }>> = {
  grant: { zh: '发放', en: 'grant' },
  adjust: { zh: '调整', en: 'adjustment' },
  charge: { zh: '扣减', en: 'charge' },
  refund: { zh: '退回', en: 'refund' },
}

export function creditPages(api: Api, { db }: Services): void {
  const usage = createLedgerUsage(db)

  function searchOf(accountId: number, input: LedgerFilter) {
    return { accountId, apiType: input.api_type, kind: input.kind, ...filterRange(input) }
  }

  api.account(creditRoutes.ledger, async (request, input) => {
    const search = { ...searchOf(request.account.id, input), before: input.before }
    return readSlice(input, (limit) => listLedger(db, search, limit), entryOf)
  })

  api.accountFile(creditRoutes.ledgerCsv, async (request, input) => {
    const search = searchOf(request.account.id, input)
    const { language } = request
    const pages = csvPages(
      (last: LedgerRow | undefined, limit) => listLedger(db, { ...search, before: last?.id }, limit),
      (row) => [
        row.id,
        csvTime(row.at),
        apiTypeNames[row.api_type][language],
        kindNames[row.kind][language],
        row.amount,
        row.balance_after,
        row.action,
        row.request_id,
        row.note,
      ],
    )
    const heading =
      language === 'zh'
        ? ['编号', '时间', '额度类型', '变动类型', '数量', '变动后余额', '操作', '请求编号', '备注']
        : ['id', 'time', 'type', 'kind', 'amount', 'balance', 'operation', 'request id', 'note']
    return { name: `ledger-${fileDays(input)}.csv`, content: csvStream(heading, pages) }
  })

  api.account(creditRoutes.history, async (request, input) => {
    const range = rangeOf(input, { byDefault: 30, max: 366 })
    const ends = range.days.map((_day, index) => range.start + (index + 1) * dayMs)
    const ids = await usage.firstIdsAt(ends)
    const found = await findBalancesBefore(db, request.account.id, [...new Set(ids)])
    const remaining = new Map(found.map((one) => [`${one.id} ${one.api_type}`, one.remaining ?? 0]))
    return {
      from: range.from,
      to: range.to,
      days: ends.map((end, index) => ({
        day: formatDay(end - 1),
        remaining: Object.fromEntries(
          apiTypes.map((type) => [type, remaining.get(`${ids[index]} ${type}`) ?? 0]),
        ) as Record<ApiType, number>,
      })),
    }
  })
}

function entryOf(row: LedgerRow): LedgerEntry {
  return {
    id: row.id,
    at: row.at,
    api_type: row.api_type,
    kind: row.kind,
    amount: row.amount,
    balance_after: row.balance_after,
    note: row.note,
    redeem_hint: row.redeem_hint,
    operation:
      row.operation_id === null || row.action === null
        ? null
        : {
            id: row.operation_id,
            action: row.action,
            state: row.state ?? 'settled',
            cost: row.cost ?? 0,
            given_back: row.given_back ?? 0,
            request_id: row.request_id ?? '',
          },
  }
}

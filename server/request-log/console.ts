// Console routes of the request log: list, export, detail, and the search box.
import type { EndpointName } from '../../contract/console/values.ts'
import { requestRoutes, searchRoutes, type RequestFilter } from '../../contract/console/requests.ts'
import type { RequestSummary, SearchHit } from '../../contract/console/responses/requests.ts'
import type { Text } from '../../contract/text.ts'
import { formatDay } from '../../contract/time.ts'
import type { Services } from '../services.ts'
import type { Api } from '../console/routes.ts'
import { csvStream, csvTime, rowsPerCsvPage } from '../console/csv.ts'
import { fileDays, filterRange } from '../console/fields.ts'
import { notFound } from '../console/problem.ts'
import { searchAccounts } from '../accounts/search-store.ts'
import type { RequestLog } from './recorder.ts'
import {
  type CallSearch,
  type CallSummaryRow,
  countSkipped,
  findCall,
  findNewest,
  listCalls,
} from './store.ts'

/** Our own ids, and those of nginx, in capital letters too: nothing else that a call is found by looks like them. */
const ownIdPattern = /^([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32})$/

export function requestPages(api: Api, services: Services, log: RequestLog): void {
  const { db, config } = services

  function searchOf(accountId: number, input: RequestFilter): CallSearch {
    const q = input.q?.trim() ?? ''
    const isOwnId = ownIdPattern.test(q.toLowerCase())
    return {
      accountId,
      endpoint: input.endpoint,
      action: input.action,
      ok: input.outcome === undefined ? undefined : input.outcome === 'ok' ? 1 : 0,
      code: input.code,
      source: input.source,
      address: input.address?.trim() || undefined,
      minMs: input.min_ms,
      requestIds: isOwnId ? [q, q.toLowerCase()] : undefined,
      text: q === '' || isOwnId ? undefined : { requestId: q, terms: log.termsFor(q) },
      ...filterRange(input),
    }
  }

  api.account(requestRoutes.list, async (request, input) => {
    const newest = await findNewest(db, request.account.id)
    const search = { ...searchOf(request.account.id, input), before: input.before, after: input.after }
    const { rows, next } = await listCalls(db, search, input.size ?? 50)
    return {
      items: rows.map(summaryOf),
      next: input.after === undefined ? next : null,
      newest: Math.max(newest?.id ?? 0, rows[0]?.id ?? 0),
      kept_days: config.REQUEST_LOG_DAYS,
      skipped_today: await countSkipped(db, request.account.id, formatDay(Date.now())),
    }
  })

  api.accountFile(requestRoutes.csv, async (request, input) => {
    const search = searchOf(request.account.id, input)
    async function* pages() {
      let before: number | undefined
      for (;;) {
        const { rows, next } = await listCalls(db, { ...search, before }, rowsPerCsvPage)
        yield rows.map((row) => [
          csvTime(row.at),
          row.request_id,
          row.endpoint,
          row.action,
          row.method,
          row.status,
          row.code,
          row.message,
          row.duration_us / 1000,
          row.gateway,
          row.charged,
          row.given_back,
          row.address,
          row.source,
        ])
        if (next === null) return
        before = next
      }
    }
    const content = csvStream(
      headings.map((heading) => heading[request.language]),
      pages(),
    )
    return { name: `requests-${fileDays(input)}.csv`, content }
  })

  api.account(requestRoutes.one, async (request) => {
    // A proxy may give requests ids with capital letters; ours may be typed with them.
    const id = request.part('id')
    const { id: accountId } = request.account
    const row = (await findCall(db, accountId, id)) ?? (await findCall(db, accountId, id.toLowerCase()))
    if (!row) throw notFound()
    return {
      ...summaryOf(row),
      address: row.address,
      idempotency_key: row.idempotent === 1,
      parameters: JSON.parse(row.parameters) as [],
      answer: row.answer === null ? null : (JSON.parse(row.answer) as unknown),
      steps: JSON.parse(row.steps) as [],
    }
  })

  api.account(searchRoutes.search, async (request, input) => {
    const q = input.q.trim()
    const items: SearchHit[] = []
    if (q === '') return { items }
    const { rows } = await listCalls(db, searchOf(request.account.id, { q }), 8)
    for (const row of rows) {
      items.push({
        kind: 'request',
        id: row.request_id,
        at: row.at,
        endpoint: row.endpoint as EndpointName,
        action: row.action,
      })
    }
    if (request.user.role === 'operator') {
      const found = await searchAccounts(db, { q, sort: 'username', order: 'asc', limit: 8, offset: 0 })
      for (const account of found.rows) {
        const { id, username, role } = account
        items.push({ kind: 'account', id: String(id), username, role })
      }
    }
    return { items }
  })
}

/** The words of the page; English readers get the names of the fields. */
const headings: readonly Text[] = [
  { zh: '时间', en: 'time' },
  { zh: '请求编号', en: 'request_id' },
  { zh: '接口', en: 'endpoint' },
  { zh: '操作', en: 'action' },
  { zh: '方法', en: 'method' },
  { zh: '状态码', en: 'status' },
  { zh: '代码', en: 'code' },
  { zh: '消息', en: 'message' },
  { zh: '耗时（毫秒）', en: 'ms' },
  { zh: '网关', en: 'gateway' },
  { zh: '扣减', en: 'charged' },
  { zh: '退回', en: 'refunded' },
  { zh: '来源 IP', en: 'address' },
  { zh: '调用方式', en: 'source' },
]

function summaryOf(row: CallSummaryRow): RequestSummary {
  return {
    id: row.id,
    request_id: row.request_id,
    at: row.at,
    endpoint: row.endpoint as EndpointName,
    action: row.action,
    method: row.method,
    status: row.status,
    code: row.code,
    ok: row.ok === 1,
    message: row.message,
    duration_ms: row.duration_us / 1000,
    gateway: row.gateway,
    charged: row.charged,
    given_back: row.given_back,
    replayed: row.replayed === 1,
    source: row.source,
  }
}

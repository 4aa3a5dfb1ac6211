// Console routes for identity verification: verify one person, masked history.
import { type IdentityFilter, identityRoutes } from '../../contract/console/identity.ts'
import type { IdentityRecord } from '../../contract/console/responses/identity.ts'
import type { IdentityOutcome } from '../../contract/console/values.ts'
import { identity as endpoint } from '../../contract/identity.ts'
import type { Text } from '../../contract/text.ts'
import { pricesOf } from '../accounts/prices.ts'
import { callFromConsole } from '../console/call-from-console.ts'
import { csvPages, csvStream, csvTime } from '../console/csv.ts'
import { fileDays, filterRange, readSlice } from '../console/fields.ts'
import type { Api } from '../console/routes.ts'
import type { Services } from '../services.ts'
import type { IdentityProduct } from './api.ts'
import { outcomeOf, outcomes, type VerifyResponse } from './responses.ts'
import type { VerificationRecord } from './store.ts'

const verdicts: Readonly<Record<IdentityOutcome, VerificationRecord['verdict']>> = {
  matched: 'match',
  mismatched: 'mismatch',
  no_record: 'no_record',
  failed: 'failed',
}

const outcomeNames: Readonly<Record<IdentityOutcome, Text>> = {
  matched: { zh: '一致', en: 'match' },
  mismatched: { zh: '不一致', en: 'mismatch' },
  no_record: { zh: '查无记录', en: 'no record' },
  failed: { zh: '核验失败', en: 'failed' },
}

export function identityPages(api: Api, services: Services, identity: IdentityProduct): void {
  const { config, credits } = services

  function searchOf(input: IdentityFilter) {
    return {
      verdict: input.outcome === undefined ? undefined : verdicts[input.outcome],
      ...filterRange(input),
    }
  }

  api.account(identityRoutes.verify, async (request, input) => {
    const { call, response } = await callFromConsole(
      services,
      request,
      { endpoint, action: 'verify', parameters: { name: input.name, idcard: input.idcard } },
      identity.verify,
    )
    const verified = response as VerifyResponse
    const outcome = outcomeOf(verified)
    const price = pricesOf(request.account, config.PRICES).identity
    const paid = outcome === 'matched' || outcome === 'mismatched'
    const { remaining } = await credits.balance(request.account.id, 'id_verification')
    return {
      outcome,
      message: verified.body.message,
      extra: verified.body.extra,
      // A replay has the cost of the first call; it cost nothing itself.
      charged: call.trace.replayed ? price : call.trace.charged,
      given_back: call.trace.replayed ? (paid ? 0 : price) : call.trace.refunded,
      remaining,
      request_id: request.requestId,
    }
  })

  api.account(identityRoutes.history, async (request, input) => {
    const search = { ...searchOf(input), before: input.before }
    return readSlice(input, (limit) => identity.history(request.account.id, { ...search, limit }), recordOf)
  })

  api.accountFile(identityRoutes.historyCsv, async (request, input) => {
    const search = searchOf(input)
    const { language } = request
    const pages = csvPages(
      (last: VerificationRecord | undefined, limit) =>
        identity.history(request.account.id, { ...search, before: last?.id, limit }),
      (row) => [
        row.id,
        csvTime(row.at),
        row.name_mask,
        row.number_mask,
        outcomeNames[outcomes[row.verdict]][language],
        row.gateway,
        row.charged,
        row.given_back,
        row.request_id,
      ],
    )
    const heading =
      language === 'zh'
        ? ['编号', '时间', '姓名', '身份证号', '结果', '网关', '扣减', '退回', '请求编号']
        : ['id', 'time', 'name', 'idcard', 'outcome', 'gateway', 'charged', 'refunded', 'request id']
    return { name: `identity-${fileDays(input)}.csv`, content: csvStream(heading, pages) }
  })
}

function recordOf(row: VerificationRecord): IdentityRecord {
  return {
    id: row.id,
    at: row.at,
    name: row.name_mask,
    idcard: row.number_mask,
    outcome: outcomes[row.verdict],
    gateway: row.gateway,
    charged: row.charged,
    given_back: row.given_back,
    request_id: row.request_id,
  }
}

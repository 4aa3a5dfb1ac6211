// Identity verification in the console: one by hand, and the masked history.
import { type Static, Type } from 'typebox'
import { type IdentityOutcome, type IdentityRecord, identityRoutes } from '../../contract/console/identity.ts'
import {
  identity as endpoint,
  identityMessages,
  type IdentityOutcome as Told,
} from '../../contract/identity.ts'
import type { IdentityProduct } from './api.ts'
import type { IdentityRecord as KeptRecord } from './store.ts'
import type { Services } from '../services.ts'
import type { Api } from '../console/routes.ts'
import { byHand } from '../console/call-from-console.ts'
import { csvStream, csvTime } from '../console/csv.ts'
import { dayRange, filterRange, rangeOf, slice } from '../console/fields.ts'

const outcomes = {
  matched: 'match',
  mismatched: 'mismatch',
  no_record: 'no_record',
  failed: 'failed',
} as const satisfies Readonly<Record<IdentityOutcome, KeptRecord['verdict']>>

const outcomeOfVerdict: Readonly<Record<KeptRecord['verdict'], IdentityOutcome>> = {
  match: 'matched',
  mismatch: 'mismatched',
  no_record: 'no_record',
  failed: 'failed',
}

const outcomeNames: Readonly<Record<IdentityOutcome, { zh: string; en: string }>> = {
  matched: { zh: '一致', en: 'match' },
  mismatched: { zh: '不一致', en: 'mismatch' },
  no_record: { zh: '查无记录', en: 'no record' },
  failed: { zh: '核验失败', en: 'failed' },
}

const wish = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 200 }),
  idcard: Type.String({ minLength: 1, maxLength: 100 }),
})

const filter = {
  ...dayRange,
  outcome: Type.Optional(Type.Enum(['matched', 'mismatched', 'no_record', 'failed'])),
}

const filterOnly = Type.Object(filter)

export function identityPages(api: Api, services: Services, identity: IdentityProduct): void {
  const { config, credits } = services

  function searchOf(sent: Static<typeof filterOnly>) {
    return {
      verdict: sent.outcome === undefined ? undefined : outcomes[sent.outcome],
      ...filterRange(sent),
    }
  }

  api.account(identityRoutes.verify, wish, async (ask, sent) => {
    const { call, answer } = await byHand(
      services,
      ask,
      { endpoint, action: 'verify', parameters: { name: sent.name, idcard: sent.idcard } },
      identity.verify,
    )
    const told = answer.body as Told
    const outcome = outcomeOf(told)
    const price = config.PRICES.identity
    const paid = outcome === 'matched' || outcome === 'mismatched'
    const { remaining } = await credits.balance(ask.account.id, 'id_verification')
    return {
      outcome,
      message: told.message,
      extra: told.extra,
      // A repeat tells what the first call cost; it cost nothing itself.
      charged: call.trace.replayed ? price : call.trace.charged,
      given_back: call.trace.replayed ? (paid ? 0 : price) : call.trace.refunded,
      remaining,
      request_id: ask.requestId,
    }
  })

  api.account(identityRoutes.history, Type.Object({ ...filter, ...slice }), async (ask, sent) => {
    const size = sent.size ?? 50
    const search = { ...searchOf(sent), before: sent.before, limit: size + 1 }
    const rows = await identity.history(ask.account.id, search)
    const items = rows.slice(0, size).map(recordOf)
    return { items, next: rows.length > size ? items[size - 1]!.id : null }
  })

  api.accountFile(identityRoutes.historyCsv, filterOnly, async (ask, sent) => {
    const range = rangeOf(sent, { usual: 31, most: 366 })
    const search = { ...searchOf(sent), start: range.start, end: range.end, limit: 1_000 }
    const { language } = ask
    async function* pages() {
      let before: number | undefined
      for (;;) {
        const rows = await identity.history(ask.account.id, { ...search, before })
        yield rows.map((row) => [
          row.id,
          csvTime(row.at),
          row.name_mask,
          row.number_mask,
          outcomeNames[outcomeOfVerdict[row.verdict]][language],
          row.gateway,
          row.charged,
          row.given_back,
          row.request_id,
        ])
        if (rows.length < 1_000) return
        before = rows.at(-1)!.id
      }
    }
    const heading =
      language === 'zh'
        ? ['编号', '时间', '姓名', '身份证号', '结果', '网关', '扣费', '退回', '请求编号']
        : ['id', 'time', 'name', 'idcard', 'outcome', 'gateway', 'charged', 'given back', 'request id']
    return { name: `identity-${range.from}-${range.to}.csv`, content: csvStream(heading, pages()) }
  })
}

/** The interface tells "no record" from a failure by its words alone. */
function outcomeOf({ success, matched, message }: Told): IdentityOutcome {
  if (success) return matched ? 'matched' : 'mismatched'
  const { zh, en } = identityMessages.noRecord
  return message === zh || message === en ? 'no_record' : 'failed'
}

function recordOf(row: KeptRecord): IdentityRecord {
  return {
    id: row.id,
    at: row.at,
    name: row.name_mask,
    idcard: row.number_mask,
    outcome: outcomeOfVerdict[row.verdict],
    gateway: row.gateway,
    charged: row.charged,
    given_back: row.given_back,
    request_id: row.request_id,
  }
}

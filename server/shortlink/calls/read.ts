// The operations that read links: `get`, `list` and `stats`.
import { defaultPageSize } from '../../../contract/paging.ts'
import { maxStatDays, statParts, type StatPart } from '../../../contract/link-analytics.ts'
import { linkStates, type LinkState, shortlink } from '../../../contract/shortlink.ts'
import { dayMs, endOfDay, formatDay, startOfDay } from '../../../contract/time.ts'
import { type Caller, requireNotSuspended } from '../../accounts/authenticate.ts'
import { createAccountTurns } from '../../accounts/batch-turns.ts'
import { type Call, readCallParameters } from '../../http/call.ts'
import { createCursors, limitProblem } from '../../http/cursor.ts'
import type { InvalidParameter } from '../../http/parameters.ts'
import { longerThan, notADay } from '../../http/value-problems.ts'
import { type ApiResponse, shortlinkSuccess } from '../../http/responses.ts'
import type { Services } from '../../services.ts'
import type { Clicks } from '../clicks/clicks.ts'
import { findClickTotals } from '../clicks/store.ts'
import type { Codes } from '../codes/store.ts'
import { linkNotFound, type Links } from '../links.ts'
import { findRecordPage } from '../listing/records.ts'
import { readStats } from '../listing/stats.ts'
import { listTotals } from '../listing/store.ts'
import { choiceProblem, missingError, requireValid } from './input.ts'
import { findNamedLink, namesLink, type RequireLink } from './which-link.ts'

/** A search may read a hundred thousand links, and all accounts share the connections of reports: they take turns. */
const searches = { maxRunning: 2, maxWaiting: 500 }

export interface ReadCalls {
  get(call: Call, caller: Caller): Promise<ApiResponse>
  list(call: Call, caller: Caller): Promise<ApiResponse>
  stats(call: Call, caller: Caller): Promise<ApiResponse>
}

const { list: listOperation, stats: statsOperation } = shortlink.operations

export function createReadCalls(
  { db, secretFor }: Pick<Services, 'db' | 'secretFor'>,
  {
    links,
    clicks,
    codes,
    requireLink,
  }: { links: Links; clicks: Clicks; codes: Codes; requireLink: RequireLink },
): ReadCalls {
  const cursors = createCursors(secretFor('link cursors'))
  const inTurn = createAccountTurns(searches)

  /** Includes the visits that this process has not counted yet. When that fails, the counts are a little older. */
  const flush = (linkId?: number) => clicks.flush(linkId).catch(() => undefined)

  return {
    async get(call, caller) {
      const link = await requireLink(call, caller, 'get', ({ account }) => requireNotSuspended(account))
      await flush(link.id)
      const totals = await findClickTotals(db, link.id)
      const data = {
        ...links.describe(link),
        clicks: totals.person,
        bot_clicks: totals.bot,
        preview_clicks: totals.preview,
      }
      return { status: 200, body: { success: true, status: 'success', data } }
    },

    async list(call, caller) {
      const result = readCallParameters(call, listOperation.parameters)
      const { cursor, limit = defaultPageSize, tag, state, q } = result.values
      const wrongLimit = limitProblem(result.values.limit)
      const invalid = [
        ...result.invalid,
        ...choiceProblem('state', state, linkStates),
        ...longProblem(q),
        ...(wrongLimit ? [wrongLimit] : []),
      ]
      requireValid({ ...result, invalid }, 'list')
      requireNotSuspended(caller.account)
      const accountId = caller.account.id
      const query = [accountId, 'shortlink.list', tag, state, q]
      const [before = Number.MAX_SAFE_INTEGER] = cursors.read(query, cursor) ?? []
      const filter = { tag, state: state as LinkState | undefined, text: q }
      const page = await inTurn(accountId, () =>
        findRecordPage(db.reports, accountId, filter, { before, limit }),
      )
      await flush()
      const ids = page.links.map(({ id }) => id)
      const totals = new Map((await listTotals(db.reports, ids)).map((row) => [row.link_id, row]))
      return shortlinkSuccess({
        links: page.links.map((link) => ({
          ...links.describe(link),
          clicks: totals.get(link.id)?.clicks ?? 0,
          bot_clicks: totals.get(link.id)?.bots ?? 0,
          preview_clicks: totals.get(link.id)?.previews ?? 0,
        })),
        next_cursor: page.next === undefined ? null : cursors.write(query, [page.next]),
      })
    },

    async stats(call, caller) {
      const result = readCallParameters(call, statsOperation.parameters)
      const { values } = result
      const hasLink = namesLink(values)
      const by = (values.by ?? statsOperation.parameters.by.default) as StatPart
      const range = readRange(
        values.start_date,
        values.end_date,
        by === 'hour' ? maxStatDays.hour : maxStatDays.other,
      )
      const invalid = [...result.invalid, ...choiceProblem('by', values.by, statParts), ...range.problems]
      if (hasLink && values.tag !== undefined) invalid.push(linkAndTag)
      if (!hasLink && values.tag === undefined && !result.invalid.some(({ name }) => name === 'link_id'))
        throw missingError('stats', ['link_id', 'tag'], invalid)
      requireValid({ ...result, invalid }, 'stats')
      requireNotSuspended(caller.account)
      const accountId = caller.account.id
      const { start, end } = range
      if (values.tag !== undefined) {
        await flush()
        const tagged = { accountId, tag: values.tag }
        const query = { links: tagged, start, end, by }
        return shortlinkSuccess(await inTurn(accountId, () => readStats(db.reports, query)))
      }
      const link = await findNamedLink(db, codes, accountId, values)
      if (!link) throw linkNotFound()
      await flush(link.id)
      const query = { links: { id: link.id }, start, end, by }
      return shortlinkSuccess(await inTurn(accountId, () => readStats(db.reports, query)))
    },
  }
}

const linkAndTag: InvalidParameter = {
  name: 'tag',
  text: { zh: '与短链接只能传入其一', en: 'cannot be combined with a link' },
}

function longProblem(q: string | undefined): InvalidParameter[] {
  const { maxLength } = listOperation.parameters.q
  if (q === undefined || q.length <= maxLength) return []
  return [{ name: 'q', text: longerThan(maxLength) }]
}

/** The last 30 days unless the call says otherwise; days are inclusive. */
const defaultDays = 30

function readRange(
  first: string | undefined,
  last: string | undefined,
  maxDays: number,
): { readonly start: number; readonly end: number; readonly problems: InvalidParameter[] } {
  const problems: InvalidParameter[] = []
  const end = last === undefined ? endOfDay(formatDay(Date.now())) : endOfDay(last)
  const start = first === undefined ? (end ?? 0) - defaultDays * dayMs : startOfDay(first)
  if (start === undefined) problems.push({ name: 'start_date', text: notADay })
  if (end === undefined) problems.push({ name: 'end_date', text: notADay })
  if (start !== undefined && end !== undefined) {
    if (start >= end) problems.push({ name: 'start_date', text: afterEnd })
    else if (end - start > maxDays * dayMs) {
      const text = {
        zh: `与 end_date 最多相隔 ${maxDays} 天`,
        en: `and end_date span at most ${maxDays} days`,
      }
      problems.push({ name: 'start_date', text })
    }
  }
  return { start: start ?? 0, end: end ?? 0, problems }
}

const afterEnd = { zh: '不能晚于 end_date', en: 'must not be after end_date' }

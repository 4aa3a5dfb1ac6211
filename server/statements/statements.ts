// Monthly statements: frozen in the month after, chained and signed; the current month is provisional.
import { setTimeout as sleep } from 'node:timers/promises'
import { type ApiType, apiTypes } from '../../contract/credits.ts'
import { dayMs, formatDay, hourMs, minuteMs, startOfDay } from '../../contract/time.ts'
import type { Database, Queries } from '../db/database.ts'
import { findNow } from '../events/store.ts'
import { AppError, invalidField } from '../http/errors.ts'
import type { Jobs } from '../jobs.ts'
import { formatContent, readRows, type SignedStatement, signContent, type StatementRow } from './file.ts'
import { deriveStatementKey, type StatementKey } from './key.ts'
import {
  beginning,
  findAccountsWithout,
  findLatestBefore,
  findPositionOf,
  findPositions,
  findStatement,
  insertStatement,
  type LedgerPosition,
  listStatements,
  type StoredStatement,
  sumLedger,
} from './store.ts'

export interface Statements {
  readonly key: StatementKey
  /** The frozen statement, or a provisional one of the current month. */
  make(account: StatementAccount, month: string): Promise<MadeStatement>
  /** Freezes what is due for all accounts. */
  freezeAll(signal: AbortSignal): Promise<void>
  start(jobs: Jobs): void
}

export interface StatementAccount {
  readonly id: number
  readonly username: string
  readonly created_at: number
}

export interface MadeStatement extends SignedStatement {
  readonly month: string
  readonly isFinal: boolean
  readonly rows: readonly StatementRow[]
}

/** Transactions of the last moments of a month have ended by then. */
const freezeAfterMs = 10 * minuteMs
const accountsPerRead = 100
/** Other work runs between two accounts. */
const pauseMs = 5

export function createStatements({
  db,
  secretKey,
}: {
  readonly db: Database
  readonly secretKey: string
}): Statements {
  const key = deriveStatementKey(secretKey)

  async function compose(
    account: StatementAccount,
    month: string,
    before: StoredStatement | undefined,
    until: number,
    isFinal: boolean,
  ): Promise<MadeStatement> {
    const from = startOfMonth(month)!
    // As a report: it reads all entries of the month, and paid calls would wait.
    const rows = await composeRows(db.reports, account.id, { from, until }, before)
    const content = formatContent({
      account: account.username,
      month,
      from,
      until,
      isFinal,
      previous: before?.digest ?? '',
      rows,
    })
    return { ...signContent(content, key), month, isFinal, rows }
  }

  /** Each month follows the one before, so that the chain has no gap. */
  async function freeze(account: StatementAccount, month: string): Promise<StoredStatement> {
    let latest = await findLatestBefore(db, account.id, addMonth(month))
    const first = latest ? addMonth(latest.month) : monthOf(account.created_at)
    for (let next = first; next <= month; next = addMonth(next)) {
      const made = await compose(account, next, latest, startOfMonth(addMonth(next))!, true)
      const { content, digest, signature } = made
      await db.write((tx) =>
        insertStatement(tx, { account_id: account.id, month: next, content, digest, signature }),
      )
      // Another process may have been first, and the next month is chained to what is stored.
      latest = await findStatement(db, account.id, next)
    }
    if (latest?.month !== month) throw new Error('the statement was not stored')
    return latest
  }

  const statements: Statements = {
    key,

    async make(account, month) {
      const from = startOfMonth(month)
      if (from === undefined) throw invalidMonth()
      // Also while the clock is set back to a time in the month.
      const stored = await findStatement(db, account.id, month)
      if (stored) return madeOf(stored)
      const now = await findNow(db)
      const end = startOfMonth(addMonth(month))!
      if (from > now || end <= startOfMonth(monthOf(account.created_at))!) throw noSuchMonth()
      if (now < end + freezeAfterMs) {
        // Or the digest of the month before would be that of an older one, until the job has frozen it.
        const isFirst = monthOf(account.created_at) >= month
        if (!isFirst && now >= from + freezeAfterMs) await freeze(account, monthBefore(month))
        const before = await findLatestBefore(db, account.id, month)
        return compose(account, month, before, Math.min(now, end), false)
      }
      return madeOf(await freeze(account, month))
    },

    async freezeAll(signal) {
      const now = await findNow(db)
      const month = monthOf(now - freezeAfterMs)
      const last = monthBefore(month)
      let afterId = 0
      for (;;) {
        const search = { month: last, until: startOfMonth(month)!, afterId, limit: accountsPerRead }
        const accounts = await findAccountsWithout(db, search)
        for (const account of accounts) {
          if (signal.aborted) return
          await freeze(account, last)
          await sleep(pauseMs, undefined, { ref: false })
        }
        if (accounts.length < accountsPerRead) return
        afterId = accounts.at(-1)!.id
      }
    },

    start(jobs) {
      jobs.every(hourMs, 'freeze_statements', (signal) => statements.freezeAll(signal))
    },
  }
  return statements
}

/**
 * A statement begins at the entry where the one before ended, and ends after the last entry before `until`. An entry that is
 * written after the statement of its month was frozen is in the next one, whatever the clock did. The exception: such entries
 * that together leave the balance unchanged are in none.
 */
async function composeRows(
  queries: Queries,
  accountId: number,
  { from, until }: { readonly from: number; readonly until: number },
  before: StoredStatement | undefined,
): Promise<StatementRow[]> {
  const endBefore = before && startOfMonth(addMonth(before.month))!
  const atFrom = await findPositions(queries, accountId, from)
  const atUntil = await findPositions(queries, accountId, until)
  const atEndBefore =
    endBefore === undefined || endBefore === from
      ? atFrom
      : await findPositions(queries, accountId, endBefore)
  const closings = before && new Map(readRows(before.content).map((row) => [row.api_type, row.closing]))
  const composeRow = async (apiType: ApiType): Promise<StatementRow> => {
    let opening = closings?.get(apiType) ?? 0
    let start = closings ? atEndBefore.get(apiType)! : beginning
    if (start.balance !== opening) {
      const bought = await boughtUntil(queries, accountId, apiType, before?.month ?? '')
      const end = { last: start, balance: opening, bought }
      const counted = await findPositionOf(queries, accountId, apiType, end)
      start = counted ?? (opening === 0 && bought === 0 ? beginning : start)
    }
    if (endBefore !== from) {
      // The months between have no statement yet.
      start = laterOf(start, atFrom.get(apiType)!)
      opening = start.balance
    }
    const end = laterOf(start, atUntil.get(apiType)!)
    const { bought, used, refunded } = await sumLedger(queries, accountId, apiType, { start, end })
    const closing = end.balance
    // A statement of version 1.0 may have ended at a balance that the ledger never had: the difference counts here, too.
    const adjusted = closing - opening - bought + used - refunded
    return { api_type: apiType, opening, bought, used, refunded, adjusted, closing }
  }
  return Promise.all(apiTypes.map(composeRow))
}

/** The sum of `bought` in the statements up to a month: the ledger may have had the same balance at several positions. */
async function boughtUntil(
  queries: Queries,
  accountId: number,
  apiType: ApiType,
  month: string,
): Promise<number> {
  const stored = (await listStatements(queries, accountId)).filter((one) => one.month <= month)
  const rows = stored.flatMap(({ content }) => readRows(content))
  return rows.reduce((sum, row) => sum + (row.api_type === apiType ? row.bought : 0), 0)
}

function laterOf(one: LedgerPosition, other: LedgerPosition): LedgerPosition {
  return one.id < other.id ? other : one
}

function madeOf({ month, content, digest, signature }: StoredStatement): MadeStatement {
  return { month, content, digest, signature, isFinal: true, rows: readRows(content) }
}

export function monthOf(ms: number): string {
  return formatDay(ms).slice(0, 7)
}

function addMonth(month: string): string {
  const [year, number] = month.split('-').map(Number) as [number, number]
  return number === 12 ? `${year + 1}-01` : `${year}-${String(number + 1).padStart(2, '0')}`
}

function monthBefore(month: string): string {
  return monthOf(startOfMonth(month)! - dayMs)
}

/** Undefined when there is no such month. */
function startOfMonth(month: string): number | undefined {
  return /^20\d{2}-\d{2}$/.test(month) ? startOfDay(`${month}-01`) : undefined
}

function invalidMonth(): AppError {
  return invalidField('month', { zh: '月份必须是 YYYY-MM', en: 'the month must be YYYY-MM' })
}

function noSuchMonth(): AppError {
  return new AppError(1002, {
    zh: '该月份尚未开始，或账户当时尚未创建',
    en: 'the month has not begun, or the account did not exist then',
  })
}

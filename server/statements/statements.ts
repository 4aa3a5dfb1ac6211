// Monthly statements: frozen in the month after, chained and signed; the current month is provisional.
import { setTimeout as sleep } from 'node:timers/promises'
import { dayMs, formatDay, hourMs, minuteMs, startOfDay } from '../../contract/time.ts'
import type { Database, Queries } from '../db/database.ts'
import { findNow } from '../events/store.ts'
import { AppError, invalidField } from '../http/errors.ts'
import type { Jobs } from '../jobs.ts'
import { formatContent, readRows, type SignedStatement, signContent, type StatementRow } from './file.ts'
import { deriveStatementKey, type StatementKey } from './key.ts'
import {
  findAccountsWithout,
  findLatestBefore,
  findStatement,
  insertStatement,
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
    queries: Queries,
    account: StatementAccount,
    month: string,
    until: number,
    isFinal: boolean,
  ): Promise<MadeStatement> {
    const from = startOfMonth(month)!
    const before = await findLatestBefore(queries, account.id, month)
    const opening = await openingAt(queries, account.id, from, before)
    const sums = await sumLedger(queries, account.id, { from, until })
    const rows = sums.map((sum) => {
      const start = opening.get(sum.api_type) ?? 0
      const closing = start + sum.bought - sum.used + sum.refunded + sum.adjusted
      return { ...sum, opening: start, closing }
    })
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

  /** Each month follows the one before, so that the chain has no gap. Reads and writes in one transaction. */
  async function freeze(account: StatementAccount, month: string): Promise<StoredStatement> {
    const latest = await findLatestBefore(db, account.id, addMonth(month))
    const first = latest ? addMonth(latest.month) : monthOf(account.created_at)
    for (let next = first; next <= month; next = addMonth(next)) {
      await db.write(async (tx) => {
        const made = await compose(tx, account, next, startOfMonth(addMonth(next))!, true)
        const { content, digest, signature } = made
        await insertStatement(tx, { account_id: account.id, month: next, content, digest, signature })
      })
    }
    const stored = await findStatement(db, account.id, month)
    if (!stored) throw new Error('the statement was not stored')
    return stored
  }

  const statements: Statements = {
    key,

    async make(account, month) {
      const from = startOfMonth(month)
      if (from === undefined) throw invalidMonth()
      const now = await findNow(db)
      const end = startOfMonth(addMonth(month))!
      if (from > now || end <= startOfMonth(monthOf(account.created_at))!) throw noSuchMonth()
      if (now < end + freezeAfterMs) {
        // Or the digest of the month before would be that of an older one, until the job has frozen it.
        const isFirst = monthOf(account.created_at) >= month
        if (!isFirst && now >= from + freezeAfterMs) await freeze(account, monthBefore(month))
        // As a report: it reads all entries of the month, and paid calls would wait.
        return compose(db.reports, account, month, Math.min(now, end), false)
      }
      const { content, digest, signature } = await freeze(account, month)
      return { month, content, digest, signature, isFinal: true, rows: readRows(content) }
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

/** The closing of the statement before, and what the ledger has since: the month before may not be frozen yet. */
async function openingAt(
  queries: Queries,
  accountId: number,
  from: number,
  before: StoredStatement | undefined,
) {
  const closing = closingOf(before ? readRows(before.content) : [])
  const since = before ? startOfMonth(addMonth(before.month))! : 0
  if (since === from) return closing
  const sums = await sumLedger(queries, accountId, { from: since, until: from })
  return new Map(
    sums.map(({ api_type: type, bought, used, refunded, adjusted }) => [
      type,
      (closing.get(type) ?? 0) + bought - used + refunded + adjusted,
    ]),
  )
}

function closingOf(rows: readonly StatementRow[]) {
  return new Map(rows.map((row) => [row.api_type, row.closing]))
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

// The commands `ledger list` and `audit list`.
import { formatTime } from '../contract/time.ts'
import { requireAccount } from '../server/accounts/accounts.ts'
import { listAudit } from '../server/audit/store.ts'
import { listLedger } from '../server/credits/ledger/list-store.ts'
import { type Command, type Flags, table, textFlag, UsageError } from './command.ts'

const defaultRows = 1_000
const maxRows = 100_000
const rowsPerRead = 1_000

function limitOf(flags: Flags): number {
  const given = textFlag(flags, 'limit') ?? String(defaultRows)
  const limit = /^[1-9]\d{0,5}$/.test(given) ? Number(given) : 0
  if (limit >= 1 && limit <= maxRows) return limit
  throw new UsageError(`--limit 必须是 1 至 ${maxRows} / must be from 1 to ${maxRows}`)
}

/** Reads pages until there are `limit` rows or no more. */
async function readAll<R extends { readonly id: number }>(
  limit: number,
  read: (before: number | undefined, size: number) => Promise<readonly R[]>,
): Promise<R[]> {
  const rows: R[] = []
  for (;;) {
    const size = Math.min(rowsPerRead, limit - rows.length)
    const page = size === 0 ? [] : await read(rows.at(-1)?.id, size)
    rows.push(...page)
    if (page.length < size || size === 0) return rows
  }
}

const flags = { limit: { type: 'string' } } as const

export const listCommands: readonly Command[] = [
  {
    name: 'ledger list',
    usage: 'NAME [--limit N]',
    text: {
      zh: `账户的流水，按时间倒序，默认 ${defaultRows} 行`,
      en: `list the ledger entries of an account, newest first, ${defaultRows} by default`,
    },
    minWords: 1,
    maxWords: 1,
    flags,
    async run({ installation: { db }, words, flags: given }) {
      const account = await requireAccount(db, words[0]!)
      const entries = await readAll(limitOf(given), (before, size) =>
        listLedger(db, { accountId: account.id, before }, size),
      )
      const rows = entries.map((entry) => ({
        at: formatTime(entry.at),
        api_type: entry.api_type,
        kind: entry.kind,
        amount: entry.amount,
        balance: entry.balance_after,
        action: entry.action,
        note: entry.note ?? '',
      }))
      return {
        json: { rows },
        text: table(
          ['at', 'api_type', 'kind', 'amount', 'balance', 'note'],
          rows.map((row) => [row.at, row.api_type, row.kind, row.amount, row.balance, row.note]),
        ),
      }
    },
  },
  {
    name: 'audit list',
    usage: '[--limit N]',
    text: {
      zh: `审计日志，按时间倒序，默认 ${defaultRows} 行`,
      en: `list the audit log, newest first, ${defaultRows} rows by default`,
    },
    minWords: 0,
    maxWords: 0,
    flags,
    async run({ installation: { db }, flags: given }) {
      const entries = await readAll(limitOf(given), (before, size) => listAudit(db, { before }, size))
      const rows = entries.map((entry) => ({
        at: formatTime(entry.at),
        actor: entry.actor,
        action: entry.action,
        subject: entry.target,
        note: entry.note,
        details: JSON.parse(entry.details) as unknown,
      }))
      return {
        json: { rows },
        text: table(
          ['at', 'actor', 'action', 'subject', 'note'],
          rows.map((row) => [row.at, row.actor, row.action, row.subject, row.note]),
        ),
      }
    },
  },
]

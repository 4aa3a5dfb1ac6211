// Emits an event when an account is about to expire.
import { dayMs, formatDay } from '../../contract/time.ts'
import type { Database, Tx } from '../db/database.ts'
import { emitEvents } from './emit.ts'

/** An expiry is reported twice: 2 to 7 days before, and on the last two days. */
const reports = [
  { from: 2, to: 7 },
  { from: 0, to: 1 },
] as const

const maxPerTransaction = 200

/** Reports every account once in each period. Only accounts with an endpoint are read. */
export async function reportExpiring(db: Database, signal: AbortSignal): Promise<void> {
  for (const { from, to } of reports) {
    const [first, last] = [from, to].map((days) => formatDay(Date.now() + days * dayMs))
    while (!signal.aborted) {
      const count = await db.write((tx) => reportSome(tx, String(to), first!, last!))
      if (count < maxPerTransaction) break
    }
  }
}

async function reportSome(tx: Tx, report: string, first: string, last: string): Promise<number> {
  const accounts = await tx.all<{ id: number; expires_on: string }>(
    `UPDATE account SET expiry_reported = expires_on || ' ' || CAST(? AS text)
     WHERE id IN (SELECT id FROM account WHERE event_types <> '' AND expires_on >= ? AND expires_on <= ?
         AND expiry_reported <> expires_on || ' ' || CAST(? AS text)
       ORDER BY id LIMIT ${maxPerTransaction})
     RETURNING id, expires_on`,
    [report, first, last, report],
  )
  await emitEvents(
    tx,
    accounts.map(({ id, expires_on: expiresOn }) => ({
      accountId: id,
      type: 'account.expiring' as const,
      data: { expires_on: expiresOn },
    })),
  )
  return accounts.length
}

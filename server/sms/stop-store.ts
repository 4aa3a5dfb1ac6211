// The stop lists: numbers that get no messages of an account with a signature, or with any signature.
import { countRows } from '../db/count-rows.ts'
import type { Queries, Tx } from '../db/database.ts'
import type { Tables } from '../db/schema.ts'

export type StopRow = Tables['sms_stop']

/** Those of the numbers that are on the list, for the signature or for all signatures. */
export async function findStoppedNumbers(
  queries: Queries,
  accountId: number,
  signName: string,
  phones: readonly string[],
): Promise<string[]> {
  if (phones.length === 0) return []
  const rows = await queries.kysely
    .selectFrom('sms_stop')
    .select('phone')
    .where('account_id', '=', accountId)
    .where('phone', 'in', phones)
    .where('sign_name', 'in', [signName, ''])
    .execute()
  return rows.map(({ phone }) => phone)
}

/** Marks the account first, so that sends that start after the commit query the list. */
export async function insertStop(
  tx: Tx,
  stop: Pick<StopRow, 'account_id' | 'phone' | 'sign_name' | 'source' | 'reply_id'>,
): Promise<boolean> {
  await tx.run('UPDATE account SET has_stops = 1 WHERE id = ? AND has_stops = 0', [stop.account_id])
  const changed = await tx.run(
    `INSERT INTO sms_stop (account_id, phone, sign_name, source, reply_id, created_at)
     VALUES (?, ?, ?, ?, ?, ${tx.now}) ON CONFLICT DO NOTHING`,
    [stop.account_id, stop.phone, stop.sign_name, stop.source, stop.reply_id],
  )
  return changed === 1
}

/** Returns how many entries were removed: a number may be listed for several signatures. */
export function removeStops(
  tx: Tx,
  accountId: number,
  { phone, signName }: { readonly phone: string; readonly signName: string | undefined },
): Promise<number> {
  return signName === undefined
    ? tx.run('DELETE FROM sms_stop WHERE account_id = ? AND phone = ?', [accountId, phone])
    : tx.run('DELETE FROM sms_stop WHERE account_id = ? AND phone = ? AND sign_name = ?', [
        accountId,
        phone,
        signName,
      ])
}

export function findStop(queries: Queries, accountId: number, id: number): Promise<StopRow | undefined> {
  return queries.one<StopRow>('SELECT * FROM sms_stop WHERE id = ? AND account_id = ?', [id, accountId])
}

export function countStops(queries: Queries, accountId: number): Promise<number> {
  return countRows(queries, 'sms_stop WHERE account_id = ?', [accountId])
}

/** Newest first. `before` is the last id of the previous page. */
export function findStops(
  queries: Queries,
  accountId: number,
  filter: {
    readonly phone?: string | undefined
    readonly before?: number | undefined
    readonly limit: number
  },
): Promise<StopRow[]> {
  let query = queries.kysely
    .selectFrom('sms_stop')
    .selectAll()
    .where('account_id', '=', accountId)
    .orderBy('id', 'desc')
    .limit(filter.limit)
  if (filter.phone !== undefined) query = query.where('phone', '=', filter.phone)
  if (filter.before !== undefined) query = query.where('id', '<', filter.before)
  return query.execute()
}

// The list of sign-ins: from where, with which device and how. It decides whether a device or place is new.
import { isIPv4 } from 'node:net'
import type { SecondFactorKind, SignInMethod } from '../../contract/console/limits.ts'
import { describeDevice } from '../../contract/device.ts'
import type { Database, Queries, Tx } from '../db/database.ts'
import type { Tables } from '../db/schema.ts'
import { deleteOlderThan } from '../db/time-ordered.ts'
import { siteOf } from '../http/address.ts'

const signInKeepDays = 90

/** Sign-ins of one account: right passwords are not limited. */
const maxSignIns = 10_000

/** Sign-ins that decide whether a device or place is new. */
const comparedSignIns = 1_000

export type SignInRow = Readonly<Tables['sign_in']>

export interface NewSignIn {
  readonly accountId: number
  readonly address: string
  /** `CN-GD`, `US`; empty when unknown. */
  readonly place: string
  readonly agent: string
  readonly method: SignInMethod
  readonly secondFactor: SecondFactorKind
}

/**
 * Returns whether the account signed in before, but never from this device, or neither from this network nor from this place: phones
 * change their network all the time, people their province rarely.
 */
export async function recordSignIn(tx: Tx, signIn: NewSignIn): Promise<boolean> {
  const { accountId, address, place, agent, method, secondFactor } = signIn
  const network = signInNetwork(address)
  const device = describeDevice(agent)
  const known = await tx.one<{ all_rows: number; device: number; near: number }>(
    `SELECT COUNT(*) AS all_rows, COUNT(CASE WHEN device = ? THEN 1 END) AS device,
       COUNT(CASE WHEN network = ? OR (place <> '' AND place = ?) THEN 1 END) AS near
     FROM (SELECT device, network, place FROM sign_in WHERE account_id = ? ORDER BY id DESC LIMIT ${comparedSignIns}) recent`,
    [device, network, place, accountId],
  )
  const isNew = known !== undefined && known.all_rows > 0 && (known.device === 0 || known.near === 0)
  await tx.run(
    `INSERT INTO sign_in (account_id, at, address, network, place, device, agent, method, second_factor, is_new)
     VALUES (?, ${tx.now}, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [accountId, address, network, place, device, agent, method, secondFactor, isNew ? 1 : 0],
  )
  if (known?.all_rows === comparedSignIns) {
    await tx.run(
      `DELETE FROM sign_in WHERE account_id = ? AND id <= (
         SELECT id FROM sign_in WHERE account_id = ? ORDER BY id DESC LIMIT 1 OFFSET ${maxSignIns})`,
      [accountId, accountId],
    )
  }
  return isNew
}

/** Whether one of the last sign-ins of the account came from this IPv4 address or IPv6 /48. */
export async function hasSignedInFrom(
  queries: Queries,
  accountId: number,
  address: string,
): Promise<boolean> {
  const found = await queries.one<{ count: number }>(
    `SELECT COUNT(*) AS count
     FROM (SELECT address, network FROM sign_in WHERE account_id = ? ORDER BY id DESC LIMIT 100) recent
     WHERE ${isIPv4(address) ? 'address' : 'network'} = ?`,
    [accountId, siteOf(address)],
  )
  return found !== undefined && found.count > 0
}

export function listSignIns(
  queries: Queries,
  accountId: number,
  before: number | undefined,
  limit: number,
): Promise<SignInRow[]> {
  let query = queries.kysely
    .selectFrom('sign_in')
    .selectAll()
    .where('account_id', '=', accountId)
    .orderBy('id', 'desc')
    .limit(limit)
  if (before !== undefined) query = query.where('id', '<', before)
  return query.execute()
}

export function deleteOldSignIns(db: Database, signal: AbortSignal): Promise<number> {
  return deleteOlderThan(db, { table: 'sign_in', time: 'at' }, signInKeepDays, signal)
}

/** A provider moves its customers within such a range: IPv4 /24, IPv6 /48. */
function signInNetwork(address: string): string {
  return isIPv4(address) ? address.replace(/\.\d+$/, '.0/24') : siteOf(address)
}

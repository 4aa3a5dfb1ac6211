// The records of verifications, and the seed of their hashes.
import { dayMs } from '../../contract/time.ts'
import { randomBytes } from 'node:crypto'
import type { Queries, Tx } from '../db/database.ts'
import { firstIdFrom } from '../db/id-at-time.ts'
import { findSetting, insertSetting, putSetting } from '../db/setting-store.ts'
import type { Verdict } from './port.ts'
import type { HashSeed } from './privacy.ts'

export interface NewRecord {
  readonly accountId: number
  readonly nameMask: string
  readonly numberMask: string
  readonly personHash: string
  readonly generation: number
  readonly verdict: Verdict | 'failed'
  readonly gateway: string | undefined
  readonly reason: string | undefined
  readonly operationId: number
  readonly requestId: string
}

export async function insertRecord(tx: Tx, record: NewRecord): Promise<void> {
  await tx.run(
    `INSERT INTO identity_record (account_id, name_mask, number_mask, person_hash, generation, verdict, gateway, reason,
       operation_id, request_id, at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ${tx.now})`,
    [
      record.accountId,
      record.nameMask,
      record.numberMask,
      record.personHash,
      record.generation,
      record.verdict,
      record.gateway ?? null,
      record.reason ?? null,
      record.operationId,
      record.requestId,
    ],
  )
}

/** The last word on this person for this account. Failures are no word. */
export async function findLastVerdict(
  queries: Queries,
  wanted: { accountId: number; personHash: string; generation: number; withinMs: number },
): Promise<Verdict | undefined> {
  const row = await queries.one<{ verdict: Verdict }>(
    `SELECT verdict FROM identity_record
     WHERE account_id = ? AND person_hash = ? AND generation = ? AND verdict <> 'failed'
       AND at > ${queries.now} - CAST(? AS bigint)
     ORDER BY id DESC LIMIT 1`,
    [wanted.accountId, wanted.personHash, wanted.generation, wanted.withinMs],
  )
  return row?.verdict
}

export interface IdentityRecord {
  readonly id: number
  readonly name_mask: string
  readonly number_mask: string
  readonly verdict: Verdict | 'failed'
  readonly gateway: string | null
  readonly reason: string | null
  readonly request_id: string
  readonly at: number
  readonly charged: number
  readonly given_back: number
}

export interface RecordSearch {
  readonly verdict?: Verdict | 'failed' | undefined
  /** The first millisecond, and the first one after the last. */
  readonly start?: number | undefined
  readonly end?: number | undefined
  /** The id of the last one already seen. */
  readonly before?: number | undefined
  readonly limit: number
}

/** Ids follow time but for what is written in the same moments. */
const idSlack = 1_000

/** The newest first. Days are turned into ids first, so that a day long past is found without reading what came after. */
export async function findRecords(
  queries: Queries,
  accountId: number,
  search: RecordSearch,
): Promise<IdentityRecord[]> {
  const border = (moment: number) => firstIdFrom(queries, { table: 'identity_record', time: 'at' }, moment)
  const least = search.start === undefined ? 0 : (await border(search.start)) - idSlack
  const most = search.end === undefined ? Number.MAX_SAFE_INTEGER : (await border(search.end)) + idSlack
  const verdict = search.verdict === undefined ? '' : 'AND r.verdict = ?'
  return queries.all<IdentityRecord>(
    `SELECT r.id, r.name_mask, r.number_mask, r.verdict, r.gateway, r.reason, r.request_id, r.at,
       COALESCE(o.cost, 0) AS charged, COALESCE(o.given_back, 0) AS given_back
     FROM identity_record r LEFT JOIN operation o ON o.id = r.operation_id
     WHERE r.account_id = ? AND r.id < ? AND r.id >= ? AND r.at >= ? AND r.at < ? ${verdict}
     ORDER BY r.id DESC LIMIT ?`,
    [
      accountId,
      Math.min(search.before ?? most, most),
      Math.max(0, least),
      search.start ?? 0,
      search.end ?? Number.MAX_SAFE_INTEGER,
      ...(search.verdict === undefined ? [] : [search.verdict]),
      search.limit,
    ],
  )
}

/** Deletes at most so many of the records older than so many days; tells how many there were. */
export function deleteOldRecords(tx: Tx, days: number, limit: number): Promise<number> {
  return tx.run(
    `DELETE FROM identity_record WHERE id IN (
       SELECT id FROM identity_record WHERE at < ${tx.now} - CAST(? AS bigint) ORDER BY at LIMIT ?)`,
    [days * dayMs, limit],
  )
}

const seedName = 'identity_hash_seed'

/** Undefined only until the first start has made it. */
export async function findSeed(queries: Queries): Promise<HashSeed | undefined> {
  const text = await findSetting(queries, seedName)
  const match = /^(\d+):(.+)$/.exec(text ?? '')
  return match ? { generation: Number(match[1]), salt: match[2]! } : undefined
}

export async function findOrMakeSeed(tx: Tx): Promise<HashSeed> {
  const seed = await findSeed(tx)
  if (seed) return seed
  await insertSetting(tx, seedName, freshSeed(1))
  const made = await findSeed(tx)
  if (!made) throw new Error('the seed of the hashes was not kept')
  return made
}

/** From here on new hashes are made with another secret; those made before match nothing any more. */
export async function replaceSeed(tx: Tx): Promise<HashSeed> {
  const { generation } = await findOrMakeSeed(tx)
  await putSetting(tx, seedName, freshSeed(generation + 1))
  return findOrMakeSeed(tx)
}

function freshSeed(generation: number): string {
  return `${generation}:${randomBytes(32).toString('base64url')}`
}

// The masked records of verifications, and the seed of their hashes.
import { randomBytes } from 'node:crypto'
import { type Actor, recordChange } from '../audit/audit.ts'
import type { Database, Queries, Tx } from '../db/database.ts'
import { deleteByTime, firstIdAtOrAfter } from '../db/time-ordered.ts'
import { findSetting, insertSetting, putSetting } from '../db/setting-store.ts'
import type { Verdict } from './port.ts'
import type { HashSeed } from './privacy.ts'

export interface NewIdentityRecord {
  readonly accountId: number
  readonly nameMask: string
  readonly numberMask: string
  readonly personHash: string
  readonly generation: number
  readonly verdict: Verdict | 'failed'
  readonly gateway: string | undefined
  readonly reason?: string | undefined
  readonly operationId: number
  readonly requestId: string
}

export async function insertRecord(tx: Tx, record: NewIdentityRecord): Promise<void> {
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

/** The last verdict on this person for this account. Failures do not count. */
export async function findLastVerdict(
  queries: Queries,
  filter: { accountId: number; personHash: string; generation: number; withinMs: number },
): Promise<Verdict | undefined> {
  const row = await queries.one<{ verdict: Verdict }>(
    `SELECT verdict FROM identity_record
     WHERE account_id = ? AND person_hash = ? AND generation = ? AND verdict <> 'failed'
       AND at > ${queries.now} - CAST(? AS bigint)
     ORDER BY id DESC LIMIT 1`,
    [filter.accountId, filter.personHash, filter.generation, filter.withinMs],
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

export interface RecordFilter {
  readonly verdict?: Verdict | 'failed' | undefined
  /** Unix milliseconds: `start` inclusive, `end` exclusive. */
  readonly start?: number | undefined
  readonly end?: number | undefined
  /** The id of the last record of the previous page. */
  readonly before?: number | undefined
  readonly limit: number
}

/** Ids follow time, except for concurrent inserts. */
const idSlack = 1_000

/** Newest first. Times are turned into ids first, so that an old day is found without reading the newer records. */
export async function findRecords(
  queries: Queries,
  accountId: number,
  filter: RecordFilter,
): Promise<IdentityRecord[]> {
  const firstId = (at: number) => firstIdAtOrAfter(queries, { table: 'identity_record', time: 'at' }, at)
  const minId = filter.start === undefined ? 0 : (await firstId(filter.start)) - idSlack
  const maxId = filter.end === undefined ? Number.MAX_SAFE_INTEGER : (await firstId(filter.end)) + idSlack
  const verdict = filter.verdict === undefined ? '' : 'AND r.verdict = ?'
  return queries.all<IdentityRecord>(
    `SELECT r.id, r.name_mask, r.number_mask, r.verdict, r.gateway, r.reason, r.request_id, r.at,
       COALESCE(o.cost, 0) AS charged, COALESCE(o.given_back, 0) AS given_back
     FROM identity_record r LEFT JOIN operation o ON o.id = r.operation_id
     WHERE r.account_id = ? AND r.id < ? AND r.id >= ? AND r.at >= ? AND r.at < ? ${verdict}
     ORDER BY r.id DESC LIMIT ?`,
    [
      accountId,
      Math.min(filter.before ?? maxId, maxId),
      Math.max(0, minId),
      filter.start ?? 0,
      filter.end ?? Number.MAX_SAFE_INTEGER,
      ...(filter.verdict === undefined ? [] : [filter.verdict]),
      filter.limit,
    ],
  )
}

export function deleteOldRecords(db: Database, days: number, signal: AbortSignal): Promise<number> {
  return deleteByTime(db, 'identity_record', days, signal)
}

const seedSetting = 'identity_hash_seed'

/** Undefined before the first verification. */
export async function findHashSeed(queries: Queries): Promise<HashSeed | undefined> {
  const text = await findSetting(queries, seedSetting)
  const match = /^(\d+):(.+)$/.exec(text ?? '')
  return match ? { generation: Number(match[1]), salt: match[2]! } : undefined
}

export async function ensureHashSeed(tx: Tx): Promise<HashSeed> {
  const seed = await findHashSeed(tx)
  if (seed) return seed
  await insertSetting(tx, seedSetting, createSeed(1))
  const inserted = await findHashSeed(tx)
  if (!inserted) throw new Error('failed to store the hash seed')
  return inserted
}

/** New hashes use a new secret; older hashes match nothing any more. */
export async function replaceHashSeed(tx: Tx, actor: Actor): Promise<HashSeed> {
  const { generation } = await ensureHashSeed(tx)
  await putSetting(tx, seedSetting, createSeed(generation + 1))
  await recordChange(tx, actor, 'identity.rotate_secret', `#${generation + 1}`)
  return ensureHashSeed(tx)
}

function createSeed(generation: number): string {
  return `${generation}:${randomBytes(32).toString('base64url')}`
}

// The masked records of verifications, and the seed of their hashes.
import { randomBytes } from 'node:crypto'
import { type Actor, recordChange } from '../audit/audit.ts'
import type { Database, Queries, Tx } from '../db/database.ts'
import type { StatementPart } from '../credits/batch-writer.ts'
import { bulkInsert, insertRows } from '../db/bulk-insert.ts'
import { unnest } from '../db/dialect.ts'
import { deleteByTime, idRange } from '../db/time-ordered.ts'
import { insertSetting, putSetting } from '../db/setting-store.ts'
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

const newRecordColumns = {
  account_id: 'bigint',
  name_mask: 'text',
  number_mask: 'text',
  person_hash: 'text',
  generation: 'bigint',
  verdict: 'text',
  gateway: 'text',
  reason: 'text',
  operation_id: 'bigint',
  request_id: 'text',
} as const

const recordRows = bulkInsert('identity_record', { ...newRecordColumns, at: 'bigint' })

export async function insertRecords(
  tx: Tx,
  records: readonly NewIdentityRecord[],
  { at }: DatedHashSeed,
): Promise<void> {
  await insertRows(
    tx,
    recordRows,
    records.map((record) => ({ ...rowOf(record), at })),
  )
}

function rowOf(record: NewIdentityRecord) {
  return {
    account_id: record.accountId,
    name_mask: record.nameMask,
    number_mask: record.numberMask,
    person_hash: record.personHash,
    generation: record.generation,
    verdict: record.verdict,
    gateway: record.gateway ?? null,
    reason: record.reason ?? null,
    operation_id: record.operationId,
    request_id: record.requestId,
  }
}

/** Inserts the records in the statement that settles their operations. Another seed than that of the hashes is an error. */
export function recordsPart(
  { now }: Pick<Queries, 'now'>,
  records: readonly NewIdentityRecord[],
  seed: HashSeed,
): StatementPart<unknown, never> {
  const list = unnest(newRecordColumns, records.map(rowOf))
  const names = Object.keys(newRecordColumns).join(', ')
  return {
    ctes: `, records AS (
        INSERT INTO identity_record (${names}, at) SELECT ${names}, ${now} FROM ${list.sql} AS list
      ), seed AS (SELECT 1 FROM setting WHERE name = '${seedSetting}' AND value = ?)`,
    values: [...list.values, textOf(seed)],
    returning: `(SELECT CAST(1 / CASE WHEN count(*) = 1 THEN 1 ELSE 0 END AS text) FROM seed)`,
    read: () => [],
  }
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

export interface VerificationRecord {
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

export interface VerificationFilter {
  readonly verdict?: Verdict | 'failed' | undefined
  /** Unix milliseconds: `start` inclusive, `end` exclusive. */
  readonly start?: number | undefined
  readonly end?: number | undefined
  /** The id of the last record of the previous page. */
  readonly before?: number | undefined
  readonly limit: number
}

/** Newest first. Times are turned into ids first, so that an old day is found without reading the newer records. */
export async function findRecords(
  queries: Queries,
  accountId: number,
  filter: VerificationFilter,
): Promise<VerificationRecord[]> {
  const ids = await idRange(queries, { table: 'identity_record', time: 'at' }, filter)
  const { verdict, start, end, before = ids.end } = filter
  let query = queries.kysely
    .selectFrom('identity_record as r')
    .leftJoin('operation as o', 'o.id', 'r.operation_id')
    .select([
      'r.id',
      'r.name_mask',
      'r.number_mask',
      'r.verdict',
      'r.gateway',
      'r.reason',
      'r.request_id',
      'r.at',
    ])
    .select(({ fn, lit }) => [
      fn.coalesce('o.cost', lit(0)).as('charged'),
      fn.coalesce('o.given_back', lit(0)).as('given_back'),
    ])
    .where('r.account_id', '=', accountId)
    .where('r.id', '<', Math.min(before, ids.end))
    .where('r.id', '>=', ids.first)
    .orderBy('r.id', 'desc')
    .limit(filter.limit)
  if (verdict !== undefined) query = query.where('r.verdict', '=', verdict)
  if (start !== undefined) query = query.where('r.at', '>=', start)
  if (end !== undefined) query = query.where('r.at', '<', end)
  return query.execute()
}

export function deleteOldRecords(db: Database, days: number, signal: AbortSignal): Promise<number> {
  return deleteByTime(db, 'identity_record', days, signal)
}

const seedSetting = 'identity_hash_seed'

/** The seed, and the time when it was read. */
export interface DatedHashSeed extends HashSeed {
  readonly at: number
}

/** Undefined before the first verification. */
export async function findHashSeed(queries: Queries): Promise<DatedHashSeed | undefined> {
  const row = await queries.one<{ value: string; at: number }>(
    `SELECT value, ${queries.now} AS at FROM setting WHERE name = ?`,
    [seedSetting],
  )
  const match = /^(\d+):(.+)$/.exec(row?.value ?? '')
  return row && match ? { generation: Number(match[1]), salt: match[2]!, at: row.at } : undefined
}

export async function ensureHashSeed(tx: Tx): Promise<DatedHashSeed> {
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
  return textOf({ generation, salt: randomBytes(32).toString('base64url') })
}

const textOf = ({ generation, salt }: HashSeed) => `${generation}:${salt}`

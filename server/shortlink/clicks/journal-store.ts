// The click journal: one row for each flush of a process, aggregated into the counters later.
//
// Appending one row is cheap and makes its clicks durable. Aggregating many rows together writes each counter once, sorted by link.
import { hash, randomBytes } from 'node:crypto'
import { hourMs } from '../../../contract/time.ts'
import type { Database, Queries, Tx } from '../../db/database.ts'
import { forUpdate, idList } from '../../db/dialect.ts'
import type { Tables } from '../../db/schema.ts'
import {
  aggregate,
  type ClickCounts,
  fromEntries,
  type JournalEntry,
  type JournalVisits,
  split,
  type VisitProfile,
} from './counts.ts'
import { dayOfHour } from './hours.ts'
import { addClicks } from './store.ts'
import { type Place, unknownPlace } from '../../places/regions.ts'
import { clientOf, type UserAgent } from './user-agents.ts'
import { boundCounts } from './bounds-store.ts'
import type { VisitRow } from './visit-buffer.ts'

/** What a row of the journal contains. A process of an earlier version does not read visits; it leaves them to the others. */
const contents = { entries: 0, counts: 1, visits: 2 } as const

/** Rows that are aggregated together, and counters in one transaction: other writers wait for its end. */
const rowsPerFold = 256
const countersPerTransaction = 1_000

/** Does nothing when the batch was appended before: an append whose commit was not confirmed is repeated with its id. */
export async function appendVisits(
  tx: Tx,
  batchId: string,
  visits: readonly VisitRow[],
  places: readonly Place[] = [],
): Promise<void> {
  const inserted = await tx.run(
    `INSERT INTO link_click_batch (id, at) VALUES (?, ${tx.now}) ON CONFLICT (id) DO NOTHING`,
    [batchId],
  )
  if (inserted === 1) await insertRow(tx, contents.visits, await toJournal(tx, visits, places))
}

/** No process repeats an append after this time. */
const batchLifetimeMs = 24 * hourMs

export async function deleteOldBatches(tx: Tx): Promise<void> {
  await tx.run(
    `DELETE FROM link_click_batch WHERE id IN (SELECT id FROM link_click_batch
       WHERE at < ${tx.now} - ${batchLifetimeMs} ORDER BY at LIMIT 10000)`,
  )
}

/**
 * One step from the journal into the counters. The transaction that counts a row also deletes it, so each click is counted once.
 * Aggregated counts that are too large for one transaction return to the journal in pieces. The first step decides how far to
 * go; it returns this for the next step, and undefined when all is counted.
 */
export async function foldStep(db: Database, upTo?: number): Promise<number | undefined> {
  const lastId = upTo ?? (await findLastId(db))
  if (lastId === undefined) return undefined
  const [piece] = await listRows(db, contents.counts, Number.MAX_SAFE_INTEGER, 1)
  const rows = piece ? [piece] : await listVisits(db, lastId)
  if (rows.length === 0) return undefined
  // Outside the transaction: aggregating takes longer than other writers should wait.
  const pieces = piece
    ? [JSON.parse(piece.clicks) as ClickCounts]
    : [...split(aggregate(rows.values().map(visitsOf)), countersPerTransaction)]
  const [only, ...others] = pieces
  const bounded = only && others.length === 0 ? await boundCounts(db, only) : undefined
  const work = db.write(async (tx) => {
    await deleteRows(tx, rows)
    if (bounded) await addClicks(tx, bounded)
    else for (const counts of pieces) await insertRow(tx, contents.counts, counts)
  })
  await work.catch((error: unknown) => {
    if (!(error instanceof RowsTaken)) throw error
  })
  return lastId
}

export async function isJournalEmpty(queries: Queries): Promise<boolean> {
  return (await findLastId(queries)) === undefined
}

async function findLastId(queries: Queries): Promise<number | undefined> {
  const row = await queries.one<{ id: number | null }>('SELECT MAX(id) AS id FROM link_click_journal')
  return row?.id ?? undefined
}

async function insertRow(
  tx: Tx,
  content: Tables['link_click_journal']['is_aggregated'],
  clicks: JournalVisits | ClickCounts,
): Promise<void> {
  await tx.run('INSERT INTO link_click_journal (is_aggregated, clicks) VALUES (?, ?)', [
    content,
    JSON.stringify(clicks),
  ])
}

type JournalRow = Tables['link_click_journal']

function listRows(
  queries: Queries,
  content: JournalRow['is_aggregated'],
  upTo: number,
  limit: number,
): Promise<JournalRow[]> {
  return queries.all<JournalRow>(
    `SELECT id, is_aggregated, clicks FROM link_click_journal WHERE is_aggregated = ? AND id <= ? ORDER BY id LIMIT ${limit}`,
    [content, upTo],
  )
}

async function listVisits(queries: Queries, upTo: number): Promise<JournalRow[]> {
  const rows = await listRows(queries, contents.visits, upTo, rowsPerFold)
  return rows.length > 0 ? rows : listRows(queries, contents.entries, upTo, rowsPerFold)
}

function visitsOf({ is_aggregated: content, clicks }: JournalRow): JournalVisits {
  const read: unknown = JSON.parse(clicks)
  return content === contents.entries ? fromEntries(read as JournalEntry[]) : (read as JournalVisits)
}

class RowsTaken extends Error {}

/** Fails when another process has counted some of these rows already. Locks them in the order of their ids, against deadlocks. */
async function deleteRows(tx: Tx, rows: readonly JournalRow[]): Promise<void> {
  const ids = idList(
    tx,
    rows.map(({ id }) => id),
  )
  const deleted = await tx.run(
    `DELETE FROM link_click_journal WHERE id IN
       (SELECT id FROM link_click_journal WHERE id IN ${ids.sql} ORDER BY id${forUpdate(tx)})`,
    [ids.value],
  )
  if (deleted < rows.length) throw new RowsTaken()
}

/** Addresses are not stored: the journal has a hash and the place instead. */
async function toJournal(
  tx: Tx,
  visits: readonly VisitRow[],
  places: readonly Place[],
): Promise<JournalVisits> {
  const hashOnDay = new Map<number, VisitorHash>()
  for (const day of new Set(visits.map(({ hour }) => dayOfHour(hour)))) {
    hashOnDay.set(day, createVisitorHash(await requireSalt(tx, day)))
  }
  const profiles: VisitProfile[] = []
  const positions = new Map<UserAgent, Map<string, number>>()
  const numbers: (number | null)[] = []
  for (const [index, visit] of visits.entries()) {
    const { linkId, hour, agent, isPrefetch, referrer, address, clicks } = visit
    const { kind } = clientOf(agent, isPrefetch)
    const place = kind === 'person' ? (places[index] ?? unknownPlace) : unknownPlace
    const name = `${hour} ${isPrefetch} ${place.country} ${place.province} ${referrer}`
    let ofAgent = positions.get(agent)
    if (!ofAgent) positions.set(agent, (ofAgent = new Map<string, number>()))
    let position = ofAgent.get(name)
    if (position === undefined) {
      position = profiles.push(profileOf(visit, place)) - 1
      ofAgent.set(name, position)
    }
    const isCounted = kind === 'person' && address !== ''
    const visitor = isCounted ? hashOnDay.get(dayOfHour(hour))!(address, agent) : null
    numbers.push(linkId, position, clicks, visitor)
  }
  return { profiles, visits: numbers }
}

function profileOf({ hour, agent, isPrefetch, referrer }: VisitRow, place: Place): VisitProfile {
  const { kind, device, browser } = clientOf(agent, isPrefetch)
  const { os, app } = kind === 'person' ? agent : { os: '', app: '' }
  return [hour, kind, device, browser, referrer, os, app, place.country, place.province]
}

type VisitorHash = (address: string, agent: UserAgent) => number

/**
 * Address and browser are stored as a hash with the salt of the day. The salt is deleted after the day, so that visitors cannot be
 * recognised the next day.
 */
function createVisitorHash(salt: string): VisitorHash {
  const cache = new Map<UserAgent, Map<string, number>>()
  return (address, agent) => {
    let ofAgent = cache.get(agent)
    if (!ofAgent) {
      ofAgent = new Map()
      cache.set(agent, ofAgent)
    }
    let visitor = ofAgent.get(address)
    if (visitor === undefined) {
      visitor = hash('sha256', `${salt}\n${address}\n${agent.text}`, 'buffer').readUIntBE(0, 6)
      ofAgent.set(address, visitor)
    }
    return visitor
  }
}

async function requireSalt(tx: Tx, day: number): Promise<string> {
  const find = () =>
    tx.one<Pick<Tables['link_salt'], 'salt'>>('SELECT salt FROM link_salt WHERE day = ?', [day])
  const known = await find()
  if (known) return known.salt
  await tx.run('INSERT INTO link_salt (day, salt) VALUES (?, ?) ON CONFLICT (day) DO NOTHING', [
    day,
    randomBytes(32).toString('base64'),
  ])
  const created = await find()
  if (!created) throw new Error('the salt was not inserted')
  return created.salt
}

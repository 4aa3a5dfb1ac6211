// Clicks in the database: counted by hour, rolled into days, with a number of visitors for each day.
import { createHmac, randomBytes } from 'node:crypto'
import { hoursPerDay, shanghaiOffsetHours } from './hours.ts'
import type { Queries, Tx } from '../../db/database.ts'
import type { AgentClass, VisitKind } from './user-agents.ts'
import { type ClickBatch, listOf } from './batch.ts'

const keyColumns = 'link_id, hour, kind, device, browser, referrer'
const addUp = `ON CONFLICT (${keyColumns}) DO UPDATE SET clicks = link_click.clicks + excluded.clicks`

/** Each counter stands in the batch once, in the order of the links. */
export async function addClicks(tx: Tx, batch: ClickBatch<number>): Promise<void> {
  const agents = Array.from(batch.agents, (place) => batch.agentTable[place]!)
  const referrers = Array.from(batch.referrers, (place) => batch.referrerTable[place]!)
  const visitors = Array.from(batch.visitors, (place) => batch.visitorTable[place]!)
  await addTotals(tx, totalsOf(batch, agents))
  if (tx.engine === 'postgres') {
    await tx.run(
      `INSERT INTO link_click (${keyColumns}, clicks)
       SELECT * FROM unnest(CAST(? AS bigint[]), CAST(? AS integer[]), CAST(? AS text[]), CAST(? AS text[]),
         CAST(? AS text[]), CAST(? AS text[]), CAST(? AS bigint[])) ${addUp}`,
      [
        listOf(batch.linkIds),
        listOf(batch.hours),
        agents.map(({ kind }) => kind),
        agents.map(({ device }) => device),
        agents.map(({ browser }) => browser),
        referrers,
        listOf(batch.clicks),
      ],
    )
    if (visitors.length === 0) return
    await tx.run(
      `INSERT INTO link_visitor (day, link_id, visitor)
       SELECT * FROM unnest(CAST(? AS integer[]), CAST(? AS bigint[]), CAST(? AS bigint[]))
       ON CONFLICT (day, link_id, visitor) DO NOTHING`,
      [listOf(batch.visitorDays), listOf(batch.visitorLinkIds), visitors],
    )
    return
  }
  for (const [index, linkId] of batch.linkIds.entries()) {
    const { kind, device, browser } = agents[index]!
    await tx.run(addOneSql, [
      linkId,
      batch.hours[index]!,
      kind,
      device,
      browser,
      referrers[index]!,
      batch.clicks[index]!,
    ])
  }
  for (const [index, visitor] of visitors.entries()) {
    await tx.run(addVisitorSql, [batch.visitorDays[index]!, batch.visitorLinkIds[index]!, visitor])
  }
}

/** People's visits of each link, in the order of the links: two processes never wait for each other in a ring. */
function totalsOf(
  batch: ClickBatch<number>,
  agents: readonly AgentClass[],
): readonly (readonly [number, number])[] {
  const totals = new Map<number, number>()
  for (const [index, linkId] of batch.linkIds.entries()) {
    if (agents[index]!.kind !== 'person') continue
    totals.set(linkId, (totals.get(linkId) ?? 0) + batch.clicks[index]!)
  }
  return [...totals].sort(([a], [b]) => a - b)
}

async function addTotals(tx: Tx, totals: readonly (readonly [number, number])[]): Promise<void> {
  if (tx.engine === 'sqlite') {
    for (const [linkId, clicks] of totals) {
      const known = await tx.run('UPDATE link_total SET clicks = clicks + ? WHERE link_id = ?', [
        clicks,
        linkId,
      ])
      if (known === 0) await tx.run(firstClicksSql, [clicks, linkId])
    }
  } else if (totals.length > 0) {
    // An insert takes its rows in the order given; an update with a join does not.
    await tx.run(
      `INSERT INTO link_total (link_id, account_id, clicks)
       SELECT l.id, l.account_id, n.clicks FROM unnest(CAST(? AS bigint[]), CAST(? AS bigint[])) AS n (link_id, clicks)
       JOIN link l ON l.id = n.link_id ORDER BY l.id
       ON CONFLICT (link_id) DO UPDATE SET clicks = link_total.clicks + excluded.clicks`,
      [totals.map(([linkId]) => linkId), totals.map(([, clicks]) => clicks)],
    )
  }
}

const firstClicksSql = `INSERT INTO link_total (link_id, account_id, clicks)
  SELECT id, account_id, CAST(? AS bigint) FROM link WHERE id = ?`
const addOneSql = `INSERT INTO link_click (${keyColumns}, clicks) VALUES (?, ?, ?, ?, ?, ?, ?) ${addUp}`
const addVisitorSql = `INSERT INTO link_visitor (day, link_id, visitor) VALUES (?, ?, ?)
  ON CONFLICT (day, link_id, visitor) DO NOTHING`

/**
 * The day's salt makes today's hashes useless for recognising anyone tomorrow; it is deleted after the day. From here on
 * nothing of an address is left.
 */
export async function hashVisitors(tx: Tx, batch: ClickBatch<string>): Promise<ClickBatch<number>> {
  const salts = new Map<number, string>()
  for (const day of new Set(batch.visitorDays)) salts.set(day, await saltOf(tx, day))
  const visitorTable: number[] = []
  const places = new Map<number, Map<number, number>>([...salts.keys()].map((day) => [day, new Map()]))
  const visitors = Array.from(batch.visitors, (textPlace, index) => {
    const day = batch.visitorDays[index]!
    const known = places.get(day)!.get(textPlace)
    if (known !== undefined) return known
    const place = visitorTable.push(hashOf(salts.get(day)!, batch.visitorTable[textPlace]!)) - 1
    places.get(day)!.set(textPlace, place)
    return place
  })
  return { ...batch, visitors, visitorTable }
}

function hashOf(salt: string, text: string): number {
  return createHmac('sha256', salt).update(text).digest().readUIntBE(0, 6)
}

async function saltOf(tx: Tx, day: number): Promise<string> {
  const find = () => tx.one<{ salt: string }>('SELECT salt FROM link_salt WHERE day = ?', [day])
  const known = await find()
  if (known) return known.salt
  await tx.run('INSERT INTO link_salt (day, salt) VALUES (?, ?) ON CONFLICT (day) DO NOTHING', [
    day,
    randomBytes(32).toString('base64'),
  ])
  const made = await find()
  if (!made) throw new Error('the salt was not inserted')
  return made.salt
}

export type ClickTotals = Readonly<Record<VisitKind, number>>

export async function findClickTotals(queries: Queries, linkId: number): Promise<ClickTotals> {
  const rows = await queries.all<{ kind: VisitKind; clicks: number }>(
    'SELECT kind, SUM(clicks) AS clicks FROM link_click WHERE link_id = ? GROUP BY kind',
    [linkId],
  )
  const totals = { person: 0, bot: 0, preview: 0 }
  for (const row of rows) totals[row.kind] = Number(row.clicks)
  return totals
}

/** How many rows one transaction of the roll-up looks at: short enough for everyone else to get in between. */
const rowsPerStep = 5_000

const isHour = `(hour + ${shanghaiOffsetHours}) % ${hoursPerDay} <> 0`
const firstHour = `hour - (hour + ${shanghaiOffsetHours}) % ${hoursPerDay}`

/** Puts hours before `before` together into days, link by link; returns where to go on, undefined at the end. */
export async function rollHours(tx: Tx, before: number, after: number): Promise<number | undefined> {
  const last = await tx.one<{ link_id: number }>(
    `SELECT link_id FROM link_click WHERE link_id > ? ORDER BY link_id LIMIT 1 OFFSET ${rowsPerStep}`,
    [after],
  )
  const until = last?.link_id ?? Number.MAX_SAFE_INTEGER
  const range = [after, until, before]
  const old = `link_id > ? AND link_id <= ? AND hour < ? AND ${isHour}`
  const group = `link_id, ${firstHour}, kind, device, browser, referrer`
  if (tx.engine === 'postgres') {
    // Whoever deletes a row adds it up: two processes cannot count it twice.
    await tx.run(
      `WITH old AS (DELETE FROM link_click WHERE ${old} RETURNING ${keyColumns}, clicks)
       INSERT INTO link_click (${keyColumns}, clicks)
       SELECT ${group}, SUM(clicks) FROM old GROUP BY ${group} ${addUp}`,
      range,
    )
  } else {
    await tx.run(
      `INSERT INTO link_click (${keyColumns}, clicks)
       SELECT ${group}, SUM(clicks) FROM link_click WHERE ${old} GROUP BY ${group} ${addUp}`,
      range,
    )
    await tx.run(`DELETE FROM link_click WHERE ${old}`, range)
  }
  return last?.link_id
}

/** Replaces the hashes of past days by their number, a slice of one day at a time; false when nothing is left. */
export async function foldVisitors(tx: Tx, before: number): Promise<boolean> {
  const first = await tx.one<{ day: number; link_id: number }>(
    'SELECT day, link_id FROM link_visitor WHERE day < ? ORDER BY day, link_id LIMIT 1',
    [before],
  )
  if (!first) {
    await tx.run('DELETE FROM link_salt WHERE day < ?', [before])
    return false
  }
  const last = await tx.one<{ link_id: number }>(
    `SELECT link_id FROM link_visitor WHERE day = ? AND link_id > ? ORDER BY link_id LIMIT 1 OFFSET ${rowsPerStep}`,
    [first.day, first.link_id],
  )
  const slice = [first.day, last?.link_id ?? Number.MAX_SAFE_INTEGER]
  const add =
    'ON CONFLICT (link_id, day) DO UPDATE SET visitors = link_visitor_day.visitors + excluded.visitors'
  if (tx.engine === 'postgres') {
    await tx.run(
      `WITH old AS (DELETE FROM link_visitor WHERE day = ? AND link_id <= ? RETURNING link_id, day)
       INSERT INTO link_visitor_day (link_id, day, visitors)
       SELECT link_id, day, COUNT(*) FROM old GROUP BY link_id, day ${add}`,
      slice,
    )
  } else {
    await tx.run(
      `INSERT INTO link_visitor_day (link_id, day, visitors)
       SELECT link_id, day, COUNT(*) FROM link_visitor WHERE day = ? AND link_id <= ? GROUP BY link_id, day ${add}`,
      slice,
    )
    await tx.run('DELETE FROM link_visitor WHERE day = ? AND link_id <= ?', slice)
  }
  return true
}

// Fills a database as if its account had created links one by one and visitors had opened them: links, codes, clicks, operations,
// ledger entries, logged calls. The number of links is stored with them, so a fill that was stopped continues.
import type { Database } from '../server/db/database.ts'
import { dayOfHour, firstHourOfDay, hourOf } from '../server/shortlink/clicks/hours.ts'
import { encodeSketch } from '../server/shortlink/clicks/visitor-sketch.ts'
import { linksSql, openSeedRunner, type SeedRunner } from './seed.ts'
import type { BenchStorage } from './storage.ts'

const linksPerTransaction = 100_000

/** Clicks of each link, on average. */
export const clicksPerLink = 10

/** One of this many calls is logged: the request log keeps some days only. */
export const linksPerLoggedCall = 10

/** Visited days of the links that statistics are read of. */
const busyDays = 28

/** A tag has the same number of links in a small and in a large database. */
const linksPerTag = 100

/** Of the largest number of visitors. */
const visitorSketch = encodeSketch(
  Array.from({ length: 2 * clicksPerLink - 1 }, (_one, i) => (i + 1) * 2 ** 43),
)

const filledName = 'bench_filled'

export interface FilledLink {
  readonly id: number
  readonly code: string
}

/** Fills up to `size` links, or for at most `minutes`. Returns how many there are. */
export async function fill(
  storage: BenchStorage,
  size: number,
  minutes: number,
  onProgress: (links: number) => void,
): Promise<number> {
  const runner = await openSeedRunner(storage, 'WAL')
  const deadline = performance.now() + minutes * 60_000
  let filled = await runner.number(`SELECT value FROM setting WHERE name = '${filledName}'`)
  const before = filled
  while (filled < size && performance.now() < deadline) {
    const last = Math.min(size, filled + linksPerTransaction)
    await runner.run('BEGIN')
    await fillRange(runner, storage, filled + 1, last)
    await runner.run(`DELETE FROM setting WHERE name = '${filledName}'`)
    await runner.run(`INSERT INTO setting (name, value) VALUES ('${filledName}', '${last}')`)
    await runner.run('COMMIT')
    filled = last
    onProgress(filled)
  }
  await runner.end(filled > before)
  return filled
}

async function fillRange(
  runner: SeedRunner,
  storage: BenchStorage,
  first: number,
  last: number,
): Promise<void> {
  const { id: account } = storage.payer
  const now = Date.now()
  const today = dayOfHour(hourOf(now))
  const before = await runner.number('SELECT MAX(id) FROM link')
  await runner.run(linksSql(storage, first, last, now))
  await runner.indexCodes(before)
  const links = `FROM link WHERE id > ${before} ORDER BY id`
  const day = `(${today} - id % ${busyDays})`
  // 1 to 19.
  const clicks = `(1 + id % ${2 * clicksPerLink - 1})`
  await runner.run(`INSERT INTO link_total (link_id, account_id, clicks, bots, previews)
    SELECT id, account_id, ${clicks}, 0, 0 ${links}`)
  await runner.run(`INSERT INTO link_click (link_id, hour, kind, device, browser, referrer, clicks)
    SELECT id, ${firstHourOfDay(0)} + 24 * ${day}, 'person', 'phone', 'wechat', '', ${clicks} ${links}`)
  await runner.run(`INSERT INTO link_click_part (link_id, part, day, value, clicks)
    SELECT id, 'country', ${day}, 'CN', ${clicks} ${links}`)
  // Each visitor is eight characters of a sketch.
  await runner.run(`INSERT INTO link_visitor_day (link_id, day, visitors, sketch)
    SELECT id, ${day}, ${clicks}, substr('${visitorSketch}', 1, CAST(8 * ${clicks} AS integer)) ${links}`)
  await runner.run(`INSERT INTO link_tag (account_id, tag, link_id)
    SELECT account_id, 'tag ' || (id / ${10 * linksPerTag}), id FROM link WHERE id > ${before} AND id % 10 = 0 ORDER BY id`)
  await runner.run(`INSERT INTO request_log (account_id, request_id, at, endpoint, action, method, status, code, ok, duration_us,
      charged, given_back, replayed, idempotent, address, parameters, answer, steps)
    SELECT account_id, 'bench-' || id, created_at, 'shortlink', 'generate', 'POST', 200, 0, 1, 900, 1, 0, 0, 0, '192.0.2.1',
      '{"action":"generate","title":"' || title || '","target_url":"' || target_url || '"}', '{"success":true}', '[]'
    FROM link WHERE id > ${before} AND id % ${linksPerLoggedCall} = 0 ORDER BY id`)
  await fillLedger(runner, account, before)
}

/** The balance and the chain of entries stay right: `ledger check` has nothing to say. */
async function fillLedger(runner: SeedRunner, account: number, beforeLink: number): Promise<void> {
  const before = await runner.number('SELECT MAX(id) FROM operation')
  const balance = `account_id = ${account} AND api_type = 'short_link'`
  const remaining = await runner.number(`SELECT total - used FROM credit WHERE ${balance}`)
  await runner.run(`INSERT INTO operation (account_id, api_type, action, cost, state, request_id, created_at, ended_at)
    SELECT account_id, 'short_link', 'shortlink.generate', 1, 'settled', 'bench-' || id, created_at, created_at
    FROM link WHERE id > ${beforeLink} ORDER BY id`)
  await runner.run(`INSERT INTO ledger (account_id, api_type, kind, amount, balance_after, operation_id, at)
    SELECT account_id, api_type, 'charge', -1, ${remaining} - ROW_NUMBER() OVER (ORDER BY id), id, created_at
    FROM operation WHERE id > ${before} ORDER BY id`)
  await runner.run(
    `UPDATE credit SET used = used + (SELECT COUNT(*) FROM operation WHERE id > ${before}) WHERE ${balance}`,
  )
}

/** Links evenly spread over all, each with clicks on many days. */
export async function pickLinks(storage: BenchStorage, count: number): Promise<FilledLink[]> {
  const { db, close } = await storage.open()
  try {
    const { payer } = storage
    const last = await db.one<FilledLink>(
      'SELECT id, code FROM link WHERE account_id = ? ORDER BY id DESC LIMIT 1',
      [payer.id],
    )
    const links: FilledLink[] = []
    for (let index = 0; index < count; index += 1) {
      const from = Math.floor((index * (last?.id ?? 0)) / count)
      const found = await db.one<FilledLink>(
        'SELECT id, code FROM link WHERE account_id = ? AND id > ? ORDER BY id LIMIT 1',
        [payer.id, from],
      )
      if (found) links.push(found)
    }
    await addClicks(
      db,
      links.map(({ id }) => id),
    )
    return links
  } finally {
    await close()
  }
}

async function addClicks(db: Database, ids: readonly number[]): Promise<void> {
  const today = dayOfHour(hourOf(Date.now()))
  const days = Array.from({ length: busyDays }, (_one, index) => `SELECT ${today - index} AS day`).join(
    ' UNION ALL ',
  )
  const each = `FROM link CROSS JOIN (${days}) AS visited WHERE id IN (${ids.join(', ')}) ON CONFLICT DO NOTHING`
  await db.write(async (tx) => {
    for (const [counter, clicks] of [
      [`'person', 'phone', 'safari', 'example.com'`, 3],
      [`'person', 'desktop', 'chrome', ''`, 2],
      [`'bot', '', '', ''`, 1],
    ] as const)
      await tx.run(`INSERT INTO link_click (link_id, hour, kind, device, browser, referrer, clicks)
        SELECT id, ${firstHourOfDay(0)} + 24 * day, ${counter}, ${clicks} ${each}`)
    await tx.run(
      `INSERT INTO link_click_part (link_id, part, day, value, clicks) SELECT id, 'country', day, 'US', 2 ${each}`,
    )
  })
}

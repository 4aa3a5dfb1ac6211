// `ledger check`: recounts every credit from the ledger in one snapshot, while the service runs. The service itself counts
// only what is new since the checkpoint.
import type { Database, Snapshot } from '../../db/database.ts'
import {
  type Checkpoint,
  findCheckpoint,
  moveCheckpoint,
  noCheckpoint,
  removeCheckpoint,
} from './checkpoint-store.ts'
import { compactedAction } from './compaction-plan.ts'

export interface LedgerReport {
  readonly ok: boolean
  readonly accounts: number
  readonly operations: number
  readonly entries: number
  /** Operations that are held; not a problem. */
  readonly open: number
  readonly problems: readonly string[]
}

interface Check {
  /** The problem when the query finds rows. */
  readonly problem: string
  readonly sql: string
}

/** Grants and adjustments by their note, which is the number of the order. Both are never compacted. */
const orderEntries = `SELECT account_id, api_type, note, SUM(CASE WHEN kind = 'grant' THEN amount ELSE 0 END) AS granted,
    SUM(CASE WHEN kind = 'grant' THEN 1 ELSE 0 END) AS grants, SUM(CASE WHEN kind = 'adjust' THEN -amount ELSE 0 END) AS taken
  FROM ledger WHERE kind IN ('grant', 'adjust') AND kind <> 'charge' AND note IN (SELECT number FROM payment_order)
  GROUP BY account_id, api_type, note`

/** Each query finds rows that violate a rule; `location` names the row. */
function checks(now: string, overdueMs: number, since: Checkpoint): readonly Check[] {
  const { entryId, operationId } = since
  // Without a checkpoint no row of it matches, and every entry and operation is new.
  const checkpoint = (alias: string) => `ledger_checkpoint p
        ON p.account_id = ${alias}.account_id AND p.api_type = ${alias}.api_type AND p.entry_id <= ${entryId}`
  const changedOperations = `SELECT operation_id FROM ledger WHERE id > ${entryId} AND operation_id IS NOT NULL
          UNION SELECT id FROM operation WHERE id > ${operationId}`
  return [
    {
      problem: 'the balance differs from the sum of the ledger',
      sql: `SELECT 'account ' || c.account_id || ' ' || c.api_type AS location FROM credit c
        LEFT JOIN (SELECT account_id, api_type,
            SUM(CASE WHEN kind IN ('grant', 'adjust') THEN amount ELSE 0 END) AS bought,
            SUM(CASE WHEN kind IN ('charge', 'refund') THEN -amount ELSE 0 END) AS spent
          FROM ledger WHERE id > ${entryId} GROUP BY account_id, api_type) l
        ON l.account_id = c.account_id AND l.api_type = c.api_type
        LEFT JOIN ${checkpoint('c')}
        WHERE c.total <> COALESCE(p.bought, 0) + COALESCE(l.bought, 0)
          OR c.used <> COALESCE(p.spent, 0) + COALESCE(l.spent, 0)`,
    },
    {
      problem: 'the balance is negative',
      sql: `SELECT 'account ' || account_id || ' ' || api_type AS location FROM credit WHERE used < 0 OR used > total`,
    },
    {
      problem: 'the chain of balances breaks',
      sql: `SELECT 'ledger ' || id AS location FROM (SELECT l.id, l.amount, l.balance_after,
          COALESCE(LAG(l.balance_after) OVER (PARTITION BY l.account_id, l.api_type ORDER BY l.id), p.bought - p.spent, 0) AS before
        FROM ledger l LEFT JOIN ${checkpoint('l')} WHERE l.id > ${entryId}) chain WHERE balance_after <> before + amount`,
    },
    {
      problem: 'an entry belongs to no balance',
      sql: `SELECT 'ledger ' || l.id AS location FROM ledger l
        LEFT JOIN credit c ON c.account_id = l.account_id AND c.api_type = l.api_type
        WHERE c.account_id IS NULL AND l.id > ${entryId}`,
    },
    {
      problem: 'an entry has the wrong sign',
      sql: `SELECT 'ledger ' || id AS location FROM ledger WHERE id > ${entryId} AND ((kind IN ('grant', 'refund') AND amount <= 0)
        OR (kind = 'charge' AND amount > 0) OR (kind IN ('charge', 'refund') AND operation_id IS NULL))`,
    },
    {
      problem: 'an operation was not charged exactly once, or its refund is not the one that it says',
      sql: `SELECT 'operation ' || o.id AS location FROM operation o
        LEFT JOIN (SELECT operation_id,
            SUM(CASE WHEN kind = 'charge' THEN 1 ELSE 0 END) AS charges,
            SUM(CASE WHEN kind = 'refund' THEN 1 ELSE 0 END) AS refunds,
            SUM(CASE WHEN kind = 'charge' THEN -amount ELSE 0 END) AS charged,
            SUM(CASE WHEN kind = 'refund' THEN amount ELSE 0 END) AS refunded
          FROM ledger WHERE ${entryId === 0 ? 'operation_id IS NOT NULL' : `operation_id IN (${changedOperations})`}
          GROUP BY operation_id) l ON l.operation_id = o.id
        WHERE ${entryId === 0 ? '' : `o.id IN (${changedOperations}) AND `}(COALESCE(l.charged, 0) <> o.cost
          OR COALESCE(l.refunded, 0) <> o.given_back
          OR (o.action <> '${compactedAction}' AND (COALESCE(l.charges, 0) <> 1 OR l.refunds > 1)))`,
    },
    {
      problem: 'an entry names an operation that does not exist',
      sql: `SELECT 'ledger ' || l.id AS location FROM ledger l LEFT JOIN operation o ON o.id = l.operation_id
        WHERE l.id > ${entryId} AND l.operation_id IS NOT NULL AND o.id IS NULL`,
    },
    {
      problem: 'an operation has no clear end',
      sql: `SELECT 'operation ' || id AS location FROM operation
        WHERE (id > ${operationId} OR state = 'held') AND ((state = 'refunded' AND given_back <> cost)
          OR (state = 'held' AND given_back <> 0)
          OR (state = 'held' AND lease_until IS NULL AND id NOT IN (SELECT operation_id FROM sms_queue))
          OR (state = 'held') <> (ended_at IS NULL))`,
    },
    {
      problem: 'a message waits without a held operation',
      sql: `SELECT 'message ' || q.send_id AS location FROM sms_queue q LEFT JOIN operation o ON o.id = q.operation_id
        WHERE o.id IS NULL OR o.state <> 'held' OR o.lease_until IS NOT NULL OR o.sends > 0`,
    },
    {
      problem: 'an operation is open past its lease',
      sql: `SELECT 'operation ' || id AS location FROM operation
        WHERE state = 'held' AND lease_until + ${overdueMs} < ${now}`,
    },
    {
      problem: 'an order was not granted exactly as it says',
      sql: `SELECT 'order ' || o.number || ' ' || i.api_type AS location FROM payment_order o
        JOIN payment_order_item i ON i.order_id = o.id
        LEFT JOIN (${orderEntries}) l ON l.note = o.number AND l.account_id = o.account_id AND l.api_type = i.api_type
        WHERE (o.granted_at IS NOT NULL AND (COALESCE(l.granted, 0) <> i.amount OR l.grants <> 1 OR COALESCE(l.taken, 0) <> i.taken))
          OR (o.granted_at IS NULL AND (COALESCE(l.granted, 0) <> 0 OR i.taken <> 0))`,
    },
    {
      problem: 'the state of an order contradicts its times',
      sql: `SELECT 'order ' || number AS location FROM payment_order
        WHERE (state IN ('granted', 'partly_refunded') AND granted_at IS NULL) OR (state = 'paid' AND granted_at IS NOT NULL)
          OR (state IN ('pending', 'closed') AND paid_at IS NOT NULL)
          OR (state IN ('granted', 'paid', 'refunded', 'partly_refunded') AND paid_at IS NULL)`,
    },
    {
      problem: 'the refunds of an order differ from what it says',
      sql: `SELECT 'order ' || o.number AS location FROM payment_order o
        LEFT JOIN (SELECT order_id, SUM(CASE WHEN state <> 'failed' THEN amount ELSE 0 END) AS refunded,
            SUM(CASE WHEN state = 'pending' THEN 1 ELSE 0 END) AS open FROM payment_refund GROUP BY order_id) r
          ON r.order_id = o.id
        WHERE o.refunded <> COALESCE(r.refunded, 0) OR r.open > 1 OR (o.state = 'refunded' AND (o.refunded <> o.amount OR r.open > 0))`,
    },
    {
      problem: 'a message may have been sent twice',
      sql: `SELECT 'operation ' || id AS location FROM operation WHERE id > ${operationId} AND api_type = 'sms' AND sends > 1`,
    },
  ]
}

/** `overdueMs` is how long the sweeper may take after a lease has expired. */
export function checkLedger(db: Database, overdueMs: number): Promise<LedgerReport> {
  return db.snapshot(async (snapshot) => {
    const problems = await findLedgerProblems(snapshot, db.now, overdueMs)
    return {
      ok: problems.length === 0,
      accounts: await count(snapshot, 'account'),
      operations: await count(snapshot, 'operation'),
      entries: await count(snapshot, 'ledger'),
      open: await count(snapshot, `operation WHERE state = 'held'`),
      problems,
    }
  })
}

/** The service checks with this, beside paid calls: each rule is one statement, and therefore sees one state of the ledger. */
export async function findLedgerProblems(
  queries: Pick<Snapshot, 'all'>,
  now: string,
  overdueMs: number,
  since = noCheckpoint,
): Promise<string[]> {
  const problems: string[] = []
  for (const check of checks(now, overdueMs, since)) {
    const rows = await queries.all<{ location: string }>(`${check.sql} LIMIT 20`)
    problems.push(...rows.map(({ location }) => `${location}: ${check.problem}`))
  }
  return problems
}

/** After everything was counted: moves the checkpoint to `next`, and begins again if it contradicts the ledger. */
export async function renewCheckpoint(db: Database, next: Checkpoint, overdueMs: number): Promise<void> {
  const since = await findCheckpoint(db)
  const isWrong = (await findLedgerProblems(db.reports, db.now, overdueMs, since)).length > 0
  if (isWrong) await removeCheckpoint(db)
  await moveCheckpoint(db, isWrong ? noCheckpoint : since, next)
}

/** The number of entries after a checkpoint, or a little more: ids are dense. */
export async function estimateEntries(
  queries: Pick<Snapshot, 'all'>,
  { entryId }: Checkpoint,
): Promise<number> {
  const [row] = await queries.all<{ count: number | null }>(
    `SELECT MAX(id) - MIN(id) + 1 AS count FROM ledger WHERE id > ${entryId}`,
  )
  return row?.count ?? 0
}

async function count(snapshot: Snapshot, from: string): Promise<number> {
  const [row] = await snapshot.all<{ count: number }>(`SELECT COUNT(*) AS count FROM ${from}`)
  return row?.count ?? 0
}

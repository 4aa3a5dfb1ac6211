// Ends on PostgreSQL in micro-batches, like charges: most operations are settled as they were charged, and need one statement
// for all of them. What gives credits back, or answers with the balance, runs in a transaction of its own.
import type { Database, Tx } from '../../db/database.ts'
import { createBatcher } from '../../db/batcher.ts'
import type { AfterEnd, EndRequest, EndResult, StoredAnswer } from '../operation.ts'
import type { AnswerSeal } from '../charge/sealed-answer.ts'
import { endOperation } from '../store.ts'

const laneCount = 4
const batchLimit = 256

export interface EndWork {
  readonly request: EndRequest
  readonly alongside: AfterEnd | undefined
}

export type EndOne = (work: EndWork) => Promise<EndResult>

export function openEnds(db: Database, seal: AnswerSeal): EndOne {
  const alone: EndOne = ({ request, alongside }) =>
    db.write(async (tx) => {
      const result = await endOperation(tx, request, seal)
      await runAfter(tx, [{ alongside, result }])
      return result
    })
  // SQLite carries the jobs of a moment with one commit, and its statements cost little.
  if (db.engine === 'sqlite') return alone
  const together = (batch: readonly EndWork[]) => db.write((tx) => settleTogether(tx, batch, seal))
  const lanes = Array.from({ length: laneCount }, () =>
    createBatcher<EndWork, EndResult>({ maxBatch: batchLimit, runBatch: together, runSingle: alone }),
  )
  return (work) => (isPlain(work.request) ? lanes[work.request.operationId % laneCount]!(work) : alone(work))
}

function isPlain({ end, answer }: EndRequest): boolean {
  return end.state === 'settled' && (end.giveBack ?? 0) === 0 && typeof answer !== 'function'
}

async function settleTogether(tx: Tx, batch: readonly EndWork[], seal: AnswerSeal): Promise<EndResult[]> {
  const answers = batch.map(({ request }) => request.answer as StoredAnswer | undefined)
  const rows = await tx.all<{ id: number }>(
    `UPDATE operation o SET state = 'settled', response = COALESCE(t.response, o.response), sends = o.sends + t.sends,
       ended_at = ${tx.now}
     FROM unnest(CAST(? AS bigint[]), CAST(? AS text[]), CAST(? AS integer[])) AS t (id, response, sends)
     WHERE o.id = t.id AND o.state = 'held' RETURNING o.id`,
    [
      batch.map(({ request }) => request.operationId),
      answers.map((answer) => (answer ? seal.seal(answer) : null)),
      batch.map(({ request }) => request.sends ?? 0),
    ],
  )
  const ended = new Set(rows.map(({ id }) => id))
  const results = batch.map(({ request }) => ({
    ended: ended.has(request.operationId),
    givenBack: 0,
    remaining: undefined,
  }))
  await runAfter(
    tx,
    batch.map(({ alongside }, index) => ({ alongside, result: results[index]! })),
  )
  return results
}

interface After {
  readonly alongside: AfterEnd | undefined
  readonly result: EndResult
}

/** The products' own rows: those that share their work together, the others one by one. */
async function runAfter(tx: Tx, ends: readonly After[]): Promise<void> {
  const groups = Map.groupBy(
    ends.flatMap(({ alongside, result }) =>
      alongside && typeof alongside !== 'function' ? [{ work: alongside, result }] : [],
    ),
    ({ work }) => work.run,
  )
  for (const [run, group] of groups) {
    await run(
      tx,
      group.map(({ work, result }) => ({ item: work.item as never, result })),
    )
  }
  for (const { alongside, result } of ends) if (typeof alongside === 'function') await alongside(tx, result)
}

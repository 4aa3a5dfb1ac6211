// Rows of a product that commit together with a charge or an end, written for one operation or for a batch.
import type { Tx, Value } from '../db/database.ts'

/** `C` is the charge or the end, `R` what the write returns. */
export type TransactionWrite<C, R> = ((tx: Tx, result: C) => Promise<R>) | BatchItem<C, R>

/** Writes the rows of all operations of a batch and returns their results in order. */
export type BatchWriter<I, C, R> = (
  tx: Tx,
  items: readonly { readonly item: I; readonly result: C }[],
) => Promise<[R] extends [void] ? void : readonly R[]>

export interface BatchItem<C, R> {
  readonly write: BatchWriter<never, C, R>
  readonly item: unknown
  /** Set for rows that the statement of the charges can write too. PostgreSQL only. */
  readonly statement?: StatementWriter<never, C, R> | undefined
}

/** Builds the part for all charges of a statement, in their order. */
export type StatementWriter<I, C, R> = (items: readonly I[]) => StatementPart<C, R>

export interface StatementPart<C, R> {
  /**
   * Common table expressions, each after a comma. Those of charges may read `charge`, which has a row for each: `position`, `id` and
   * `at`. Those of ends may read `settled`, which has the `id` of each operation.
   */
  readonly ctes: string
  readonly values: readonly Value[]
  /** SQL of a text. */
  readonly returning: string
  /** Returns the results in the order of the charges. */
  read(text: string, charges: readonly C[]): readonly R[]
}

/** A product registers its writer once; items of one batch with the same writer are written together. */
export function registerWriter<I, C, R>(
  write: BatchWriter<I, C, R>,
  statement?: StatementWriter<I, C, R>,
): (item: I) => BatchItem<C, R> {
  return (item) => ({ write, item, statement })
}

/** How a statement writes the rows, or undefined when only a transaction can. */
export function statementWriterOf<C, R>(
  write: TransactionWrite<C, R> | undefined,
): StatementWriter<never, C, R> | undefined {
  return typeof write === 'object' ? write.statement : undefined
}

const noPart: StatementPart<unknown, never> = { ctes: '', values: [], returning: `''`, read: () => [] }

/** Returns the builder of the common part, or undefined when the writes do not share one. */
export function commonStatement<C, R>(
  writes: readonly (TransactionWrite<C, R> | undefined)[],
): (() => StatementPart<C, R>) | undefined {
  const [first] = writes
  if (first === undefined) return writes.every((write) => write === undefined) ? () => noPart : undefined
  if (typeof first !== 'object' || !first.statement) return undefined
  const { statement } = first
  const items: never[] = []
  for (const write of writes) {
    if (typeof write !== 'object' || write.statement !== statement) return undefined
    items.push(write.item as never)
  }
  return () => statement(items)
}

/** Runs the writes of a batch and returns their results in order. */
export async function writeAll<C, R>(
  tx: Tx,
  entries: readonly { readonly write: TransactionWrite<C, R> | undefined; readonly result: C }[],
): Promise<(R | undefined)[]> {
  const results: (R | undefined)[] = []
  const groups = new Map<BatchItem<C, R>['write'], number[]>()
  for (let index = 0; index < entries.length; index += 1) {
    const { write } = entries[index]!
    if (write === undefined || typeof write === 'function') continue
    const group = groups.get(write.write)
    if (group) group.push(index)
    else groups.set(write.write, [index])
  }
  for (const [write, indexes] of groups) {
    const items = indexes.map((index) => {
      const { write: work, result } = entries[index]!
      return { item: (work as BatchItem<C, R>).item as never, result }
    })
    const written = (await write(tx, items)) as readonly R[] | undefined
    if (written) for (const [i, index] of indexes.entries()) results[index] = written[i]
  }
  for (let index = 0; index < entries.length; index += 1) {
    const { write, result } = entries[index]!
    if (typeof write === 'function') results[index] = await write(tx, result)
  }
  return results
}

// Rows of a product that commit together with a charge or an end, written for one operation or for a batch.
import type { Tx } from '../db/database.ts'

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
  /** Set for rows that do not refer to the operation and that one statement writes: they are sent together with the charge. */
  readonly independent?: BatchWriter<never, ChargeTerms, R>
}

/** What is known of a charge before it is written. */
export interface ChargeTerms {
  readonly remaining: number
  readonly at: number
}

/** A product registers its writer once; items of one batch with the same writer are written together. */
export function registerWriter<I, C, R>(write: BatchWriter<I, C, R>): (item: I) => BatchItem<C, R> {
  return (item) => ({ write, item })
}

/** For `BatchItem.independent`. */
export function registerIndependentWriter<I, R>(
  write: BatchWriter<I, ChargeTerms, R>,
): (item: I) => BatchItem<ChargeTerms, R> {
  return (item) => ({ write, item, independent: write })
}

/** The writer of all entries, if it is the same and independent. */
export function commonIndependentWriter<C, R>(
  writes: readonly (TransactionWrite<C, R> | undefined)[],
): BatchWriter<never, ChargeTerms, R> | undefined {
  const [first] = writes
  if (typeof first !== 'object') return undefined
  const { independent } = first
  const isCommon = writes.every((write) => typeof write === 'object' && write.independent === independent)
  return isCommon ? independent : undefined
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

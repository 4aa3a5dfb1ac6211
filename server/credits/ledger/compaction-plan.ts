// Plans which old ledger entries are merged, and which operations are deleted with them. No database access.
//
// Grants and adjustments stay entry by entry. Charges and refunds between two of them become one entry with their net
// amount and the id, time and balance of the last one. So the chain of balances and the sums of what was bought and used
// stay the same.
import type { Tables } from '../../db/schema.ts'

/** The action of the operation that replaces all compacted operations of a chain. */
export const compactedAction = 'ledger.compacted'

export type OldEntry = Readonly<Pick<Tables['ledger'], 'id' | 'kind' | 'amount' | 'operation_id'>> & {
  /** Of the operation: */
  readonly state: string | null
  readonly cost: number | null
  readonly given_back: number | null
}

/** Adjacent entries that are merged into the last of them. */
export interface Run {
  readonly firstId: number
  readonly lastId: number
  readonly net: number
}

export interface Plan {
  readonly runs: readonly Run[]
  /** Operations to delete; all their entries are in the runs. */
  readonly operations: readonly number[]
  /** Where the next step begins: entries that could not be merged yet are behind it. */
  readonly nextId: number
}

/**
 * `entries` are adjacent in one chain, all of them old. An operation that is held, or has an entry outside, stays as it
 * is. `compacted` is the operation of the entries that were merged before.
 */
export function planRuns(entries: readonly OldEntry[], compacted: number | undefined): Plan {
  const complete = completeOperations(entries)
  if (compacted !== undefined) complete.delete(compacted)
  const canMerge = ({ operation_id: id }: OldEntry) => id !== null && (id === compacted || complete.has(id))
  const runs: Run[] = []
  let current: OldEntry[] = []
  let nextId: number | undefined
  const close = () => {
    const [first] = current
    const last = current.at(-1)
    // A single entry that was merged before stays as it is.
    if (first && last && (current.length > 1 || first.operation_id !== compacted)) {
      const net = current.reduce((sum, { amount }) => sum + amount, 0)
      runs.push({ firstId: first.id, lastId: last.id, net })
    }
    current = []
  }
  for (const entry of entries) {
    if (canMerge(entry)) {
      current.push(entry)
      continue
    }
    // An incomplete operation may be complete later, and is then merged with the run before it. A grant stays.
    if (entry.operation_id !== null) nextId ??= current.at(-1)?.id ?? entry.id
    close()
  }
  const lastRun = current.at(-1)?.id
  close()
  return { runs, operations: [...complete], nextId: nextId ?? lastRun ?? (entries.at(-1)?.id ?? 0) + 1 }
}

/** Ended operations whose charge and refund are both among the entries. */
function completeOperations(entries: readonly OldEntry[]): Set<number> {
  const seen = new Map<number, { charged: number; refunded: number; charges: number; entry: OldEntry }>()
  for (const entry of entries) {
    if (entry.operation_id === null || entry.state === null || entry.state === 'held') continue
    const known = seen.get(entry.operation_id) ?? { charged: 0, refunded: 0, charges: 0, entry }
    if (entry.kind === 'charge') {
      known.charged -= entry.amount
      known.charges += 1
    } else known.refunded += entry.amount
    seen.set(entry.operation_id, known)
  }
  const complete = new Set<number>()
  for (const [id, { charged, refunded, charges, entry }] of seen) {
    if (charges === 1 && charged === entry.cost && refunded === entry.given_back) complete.add(id)
  }
  return complete
}

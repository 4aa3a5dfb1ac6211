// Which old ledger entries become one, and which operations go with them. No database here.
//
// What a customer was granted or had taken stays entry by entry; charges and refunds between two of those become one entry
// with their net, the id, the time and the balance of the last of them. So every balance still stands in the chain, and
// what was bought and used adds up as before.

/** Of the one operation of a chain that stands for all that were carried over. */
export const carriedAction = 'ledger.carried'

export const carriedNote = '结转 / carried over'

export interface OldEntry {
  readonly id: number
  readonly kind: string
  readonly amount: number
  readonly operation_id: number | null
  /** Of the operation: */
  readonly state: string | null
  readonly cost: number | null
  readonly given_back: number | null
}

/** Neighbours in the chain that become the last of them. */
export interface Run {
  readonly firstId: number
  readonly lastId: number
  readonly net: number
}

export interface Plan {
  readonly runs: readonly Run[]
  /** Operations that go, all their entries being in the runs. */
  readonly operations: readonly number[]
  /** Where to look next time: what could not be carried yet stands behind it. */
  readonly nextId: number
}

/**
 * `entries` follow one another in one chain, all of them old. An operation with an entry outside stays as it is, and so
 * does one that is open. `carried` is the operation of what was carried before.
 */
export function planRuns(entries: readonly OldEntry[], carried: number | undefined): Plan {
  const whole = wholeOperations(entries)
  if (carried !== undefined) whole.delete(carried)
  const canGo = ({ operation_id: id }: OldEntry) => id !== null && (id === carried || whole.has(id))
  const runs: Run[] = []
  let open: OldEntry[] = []
  let nextId: number | undefined
  const close = () => {
    const [first] = open
    const last = open.at(-1)
    // One entry that was carried before is no news.
    if (first && last && (open.length > 1 || first.operation_id !== carried)) {
      runs.push({
        firstId: first.id,
        lastId: last.id,
        net: open.reduce((sum, { amount }) => sum + amount, 0),
      })
    }
    open = []
  }
  for (const entry of entries) {
    if (canGo(entry)) {
      open.push(entry)
      continue
    }
    // A grant stays for good; an operation that is not whole yet may be so later, and then joins what stands before it.
    if (entry.operation_id !== null) nextId ??= open.at(-1)?.id ?? entry.id
    close()
  }
  const lastRun = open.at(-1)?.id
  close()
  return { runs, operations: [...whole], nextId: nextId ?? lastRun ?? (entries.at(-1)?.id ?? 0) + 1 }
}

/** Ended ones whose charge and refund are both among the entries. */
function wholeOperations(entries: readonly OldEntry[]): Set<number> {
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
  const whole = new Set<number>()
  for (const [id, { charged, refunded, charges, entry }] of seen) {
    if (charges === 1 && charged === entry.cost && refunded === entry.given_back) whole.add(id)
  }
  return whole
}

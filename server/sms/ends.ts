// Writes the send records of messages whose operations end, in the transaction of the end.
import { type BatchItem, registerWriter } from '../credits/batch-writer.ts'
import type { EndResult } from '../credits/operation.ts'
import type { Tx } from '../db/database.ts'
import { emitEvents, type NewEvent } from '../events/emit.ts'
import { countDecided } from './batches/finish.ts'
import { type CodeKey, removeCode } from './code-store.ts'
import { compareKeys } from './codes.ts'
import type { Period } from './number-limit-store.ts'
import { uncountMessages } from './number-limits.ts'
import { acceptedPart, type FailedSend, markAccepted, markFailed } from './store.ts'

interface AcceptedSend {
  readonly id: number
  readonly gatewayId: string | undefined
  /** Undefined if no endpoint of the account receives it. */
  readonly event: NewEvent | undefined
  readonly batch_id: number | null
}

/** Chooses the statement for an end that changes nothing but the record. */
export function markSettled(send: AcceptedSend): BatchItem<EndResult, void> {
  return send.event || send.batch_id !== null ? markWithMore(send) : markPlain(send)
}

const markWithMore = registerWriter<AcceptedSend, EndResult, void>(writeSettled)
const markPlain = registerWriter<AcceptedSend, EndResult, void>(writeSettled, acceptedPart)

async function writeSettled(
  tx: Tx,
  items: readonly { readonly item: AcceptedSend; readonly result: EndResult }[],
): Promise<void> {
  await markAccepted(
    tx,
    items.map(({ item }) => item),
  )
  await emitEvents(
    tx,
    items.flatMap(({ item, result }) => (result.ended && item.event ? [item.event] : [])),
  )
  await countDecided(
    tx,
    items.filter(({ result }) => result.ended).map(({ item }) => item),
  )
}

/** Not an end: the operation stays held. */
export const markUnknown = registerWriter<FailedSend, EndResult, void>((tx, items) =>
  markFailed(
    tx,
    items.filter(({ result }) => result.ended).map(({ item }) => item),
  ),
)

interface RefusedSend {
  readonly failed: FailedSend
  readonly phone: string
  readonly periods: readonly Period[]
  /** The one-time code in the message that was not sent. */
  readonly code: { readonly key: CodeKey; readonly operationId: number } | undefined
  readonly event: NewEvent | undefined
  readonly batch_id: number | null
}

export const markRefused = registerWriter<RefusedSend, EndResult, void>(async (tx, items) => {
  const refused = items.filter(({ result }) => result.ended).map(({ item }) => item)
  await markFailed(
    tx,
    refused.map(({ failed }) => failed),
  )
  await uncountMessages(tx, refused)
  const codes = refused.flatMap(({ code }) => code ?? [])
  for (const { key, operationId } of codes.toSorted((one, other) => compareKeys(one.key, other.key)))
    await removeCode(tx, key, operationId)
  await emitEvents(
    tx,
    refused.flatMap(({ event }) => event ?? []),
  )
  await countDecided(tx, refused)
})

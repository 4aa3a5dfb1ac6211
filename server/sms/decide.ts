// Decides what was left open: by what a receipt or the gateway says of the message, else, at the end of the lease, by a refund.
import { bizIdOf, recordIdOf } from '../../contract/sms-text.ts'
import type { OpenOperation } from '../credits/operation.ts'
import type { Tx } from '../db/database.ts'
import type { Services } from '../services.ts'
import { sendAnswer } from './answer.ts'
import type { GuardedGateway } from './gateways.ts'
import type { Fate } from './port.ts'
import {
  findByOperation,
  findIdByGatewayId,
  lockSend,
  markFailed,
  markFate,
  type SendRecord,
} from './store.ts'

export interface Decisions {
  /** The sweeper's question about an operation whose lease is over. It asks, it never sends. */
  decideOverdue(operation: OpenOperation): Promise<void>
  /** One receipt; tells whether it changed anything. */
  learn(gateway: string, fate: Fate): Promise<boolean>
}

export function openDecisions(services: Services, gateways: readonly GuardedGateway[]): Decisions {
  const { db, credits, log } = services

  function refunded(amount: number): void {
    if (amount > 0) credits.onMoved?.({ kind: 'refund', apiType: 'sms', amount })
  }

  /**
   * Writes down what became of the message and, if its operation is still open, ends it: delivered and accepted cost,
   * undelivered gives back. What was settled before stays spent, what was given back stays given back; the record tells
   * the truth about the message either way. The first final word stands, so that repeats change nothing.
   */
  async function apply(
    tx: Tx,
    record: SendRecord,
    fate: Fate,
  ): Promise<{ changed: boolean; givenBack: number }> {
    if (record.state === 'delivered' || record.state === 'undelivered')
      return { changed: false, givenBack: 0 }
    if (record.state === 'accepted' && fate.state === 'accepted') return { changed: false, givenBack: 0 }
    let charged = record.charged === 1
    let givenBack = 0
    if (charged && (record.state === 'sending' || record.state === 'unknown')) {
      const crashed = record.state === 'sending'
      const lost = fate.state === 'undelivered'
      const result = await credits.end(tx, {
        operationId: record.operation_id,
        end: { state: lost ? 'refunded' : 'settled' },
        // An ambiguous call has been answered. One that died on the way has not: its repeat shall hear that it was sent.
        answer: crashed && !lost ? await sendAnswer(tx, record) : undefined,
        sends: crashed ? 1 : 0,
      })
      if (result.ended) {
        charged = !lost
        givenBack = result.givenBack
      }
    }
    const undelivered = fate.state === 'undelivered'
    await markFate(tx, record.id, {
      state: fate.state,
      gatewayId: fate.gatewayId ?? null,
      charged,
      problem: undelivered ? 'undelivered' : '',
      code: undelivered ? fate.code : '',
    })
    return { changed: true, givenBack }
  }

  /** Undefined when the gateway cannot say, or knows nothing of this message. */
  async function askGateway(record: SendRecord): Promise<Fate | undefined> {
    const gateway = gateways.find(({ name }) => name === record.gateway)?.gateway
    if (!gateway?.ask) return undefined
    const bizId = bizIdOf(record.id)
    const fates = await gateway
      .ask({
        bizId,
        gatewayId: record.gateway_id ?? undefined,
        phone: record.phone,
        sentAt: record.created_at,
      })
      .catch((error: unknown) => {
        log.warn({ err: error, gateway: gateway.name, operation: record.operation_id }, 'asking failed')
        return undefined
      })
    if (!fates) return undefined
    const named = fates.find((fate) => fate.bizId === bizId)
    if (named) return named
    // A vendor that does not carry our number: its message to this recipient that is no other record's is this one's.
    for (const fate of fates) {
      if (fate.bizId !== undefined || fate.gatewayId === undefined) continue
      const owner = await findIdByGatewayId(db, gateway.name, fate.gatewayId)
      if (owner === undefined || owner === record.id) return fate
    }
    return undefined
  }

  async function decideOverdue(operation: OpenOperation): Promise<void> {
    const found = await findByOperation(db, operation.id)
    const fate = found && (await askGateway(found))
    const givenBack = await db.write(async (tx) => {
      const record = found && (await lockSend(tx, found.id))
      if (record && fate) return (await apply(tx, record, fate)).givenBack
      const result = await credits.end(tx, { operationId: operation.id, end: { state: 'refunded' } })
      if (result.ended && record) {
        await markFailed(tx, record.id, {
          state: 'unknown',
          charged: false,
          problem: 'unconfirmed',
          code: record.problem_code,
        })
      }
      return result.givenBack
    })
    refunded(givenBack)
  }

  async function learn(gateway: string, fate: Fate): Promise<boolean> {
    const result = await db.write(async (tx) => {
      const byNumber = fate.bizId === undefined ? undefined : recordIdOf(fate.bizId)
      const id =
        byNumber ??
        (fate.gatewayId === undefined ? undefined : await findIdByGatewayId(tx, gateway, fate.gatewayId))
      const record = id === undefined ? undefined : await lockSend(tx, id)
      // Vendors write the number with or without the country.
      if (!record || record.gateway !== gateway || !fate.phone.endsWith(record.phone)) return undefined
      return apply(tx, record, fate)
    })
    refunded(result?.givenBack ?? 0)
    return result?.changed ?? false
  }

  return { decideOverdue, learn }
}

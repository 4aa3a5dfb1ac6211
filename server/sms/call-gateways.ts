// Calls the gateways for one message: at most one of them does the work.
import { bizIdOf } from '../../contract/sms-text.ts'
import type { Database } from '../db/database.ts'
import { type FailoverResult, tryInOrder } from '../upstream/failover.ts'
import { mayTryNextGateway, type Outcome } from '../upstream/outcome.ts'
import type { ComposedMessage } from './compose.ts'
import type { GuardedSmsGateway } from './gateways.ts'
import type { SentMessage } from './port.ts'
import { updateGateway } from './store.ts'

export interface OutgoingMessage {
  readonly sendId: number
  readonly phone: string
  readonly message: Pick<ComposedMessage, 'template' | 'signName' | 'variables' | 'text'>
  /** By `performance.now()`, not later than the lease of the operation began. */
  readonly leaseStartedAt: number
}

const leaseOver = { kind: 'not_sent', reason: 'lease_over' } as const

/** The attempt that sent the message, or the one that is the reason why none did. The gateway is empty when none was tried. */
export type SendAttempt = Pick<FailoverResult<SentMessage>, 'outcome' | 'gateway'>

export type CallGateways = (outgoing: OutgoingMessage) => Promise<SendAttempt>

export function createGatewayCalls(
  db: Database,
  gateways: readonly GuardedSmsGateway[],
  leaseMs: number,
): CallGateways {
  async function sendThrough(
    guarded: GuardedSmsGateway,
    { sendId, phone, message, leaseStartedAt }: OutgoingMessage,
  ): Promise<Outcome<SentMessage>> {
    // After the lease the sweeper may have refunded the credits.
    const isOver = () => performance.now() - leaseStartedAt >= leaseMs
    if (isOver()) return leaseOver
    // The record names the gateway before the call, so that after a crash the right one is queried.
    if (guarded !== gateways[0]) {
      const updated = await db
        .write((tx) => updateGateway(tx, sendId, guarded.name))
        .then(
          () => true,
          () => false,
        )
      if (!updated) return { kind: 'not_sent', reason: 'database' }
      // The database may have taken that long.
      if (isOver()) return leaseOver
    }
    const { template, signName, variables, text } = message
    return guarded.call((gateway, signal) =>
      gateway.send(
        {
          bizId: bizIdOf(sendId),
          phone,
          signName,
          templateCode: template.code,
          templateId: template.gatewayCodes[guarded.name] ?? template.code,
          variables,
          text,
        },
        signal,
      ),
    )
  }

  return async (outgoing) => {
    const result = await tryInOrder(gateways, (gateway) => sendThrough(gateway, outgoing), mayTryNextGateway)
    return findCause(result)
  }
}

/**
 * When the last gateway has not sent it, an earlier one may: first one that limits us, which works, then one that could not send now.
 * A gateway without the template is the cause only if all are.
 */
function findCause(result: FailoverResult<SentMessage>): SendAttempt {
  const { outcome, attempts } = result
  if (outcome.kind !== 'not_sent') return result
  const limiting = attempts.find(({ outcome: one }) => one.kind === 'throttled')
  if (limiting) return limiting
  if (outcome.onlyThisRequest !== true) return result
  const earlier = attempts.find(
    ({ outcome: one }) => !(one.kind === 'not_sent' && one.onlyThisRequest === true),
  )
  return earlier ?? result
}

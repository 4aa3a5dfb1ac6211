// Accepts a batch: checks every message, charges the valid ones together, and puts them into the queue. Nothing is sent here.
import { batchIdOf, marketingTime } from '../../../contract/sms-text.ts'
import type { Language, Text } from '../../../contract/text.ts'
import { formatTime } from '../../../contract/time.ts'
import type { Caller } from '../../accounts/authenticate.ts'
import { pricesOf } from '../../accounts/prices.ts'
import type { Account } from '../../accounts/store.ts'
import type { Charge, Written } from '../../credits/operation.ts'
import type { Tx } from '../../db/database.ts'
import type { Call } from '../../http/call.ts'
import { AppError } from '../../http/errors.ts'
import { type ApiResponse, envelope, errorResponse } from '../../http/responses.ts'
import type { Services } from '../../services.ts'
import { createFrameLookup } from '../compose.ts'
import type { GuardedSmsGateway } from '../gateways.ts'
import { readClock } from '../number-limit-store.ts'
import { countPlanned, findFullNumbers } from '../number-limits.ts'
import { sendFailed } from '../responses.ts'
import { requireSmsAccount, sendAction, type SendSms } from '../send.ts'
import { findStopped, numberStopped } from '../stop-list.ts'
import { problemText } from '../problems.ts'
import { type BatchInput, checkItems, readBatch, type RejectedMessage, type ValidMessage } from './items.ts'
import { insertMessages } from './message-store.ts'
import { createPricing } from './pricing.ts'
import { countWaiting, insertBatch } from './store.ts'

/** Other calls to the same numbers may use up their limits between the check and the charge, so a batch is tried again. */
const maxAttempts = 5

class NumbersFull extends Error {
  readonly errors: ReadonlyMap<string, AppError>

  constructor(errors: ReadonlyMap<string, AppError>) {
    super('limits of phone numbers are reached')
    this.errors = errors
  }
}

/** No message of the batch can be sent. The console shows why, as for a batch of which only some are rejected. */
export class NothingToSend extends AppError {
  readonly rejected: readonly RejectedMessage[]

  constructor(text: Text, rejected: readonly RejectedMessage[]) {
    super(1002, text)
    this.rejected = rejected
  }
}

/** A batch whose messages are checked. */
interface CheckedBatch {
  readonly account: Account
  readonly input: BatchInput
  readonly frame: Awaited<ReturnType<ReturnType<typeof createFrameLookup>>>
  readonly language: Language
}

/** Messages that are checked and not sent. */
export interface BatchCheck {
  readonly valid: readonly ValidMessage[]
  readonly rejected: readonly RejectedMessage[]
  /** When the messages would be sent. */
  readonly plannedAt: number
}

export interface BatchSending {
  readonly send: SendSms
  /** Checks a batch as `send` does. Charges, stores and sends nothing. */
  check(call: Call, account: Account): Promise<BatchCheck>
}

export function createBatchSending(
  services: Services,
  gateways: readonly GuardedSmsGateway[],
  onAccepted: () => void,
): BatchSending {
  const { config, db, paidCalls } = services
  const limits = config.SMS_NUMBER_LIMITS
  const findFrame = createFrameLookup(services)

  const send: SendSms = async (call, caller) => {
    const now = await readClock(db)
    const input = readBatch(call, now)
    const purchase = {
      action: sendAction,
      values: { ...input.values, batch: true },
      answerIfInterrupted: interruptedResponse(call),
    }
    const replay = await paidCalls.findReplay(call, caller, purchase)
    if (replay) return replay

    const batch = await openBatch(caller.account, input, call.language)
    let { valid, rejected } = await checkMessages(batch, now)
    for (let attempt = 1; ; attempt += 1) {
      if (valid.length === 0) throw nothingToSend(rejected)
      try {
        return await charge(call, caller, purchase, batch, valid, rejected)
      } catch (error) {
        if (!(error instanceof NumbersFull) || attempt === maxAttempts) throw error
        ;({ valid, rejected } = reject({ valid, rejected }, textsOf(error.errors)))
      }
    }
  }

  async function openBatch(account: Account, input: BatchInput, language: Language): Promise<CheckedBatch> {
    if (input.tooLate) throw input.tooLate
    requireSmsAccount(account, gateways)
    return { account, input, frame: await findFrame(account, input), language }
  }

  async function checkMessages(batch: CheckedBatch, now: number): Promise<BatchCheck> {
    const { account, input, frame } = batch
    const price = createPricing(frame, pricesOf(account, config.PRICES).sms_part)
    const checked = checkItems(input.items, price)
    const phonesOf = (messages: readonly ValidMessage[]) => messages.map(({ phone }) => phone)
    const stopped = await findStopped(db, account, frame.signName, phonesOf(checked.valid))
    const reachable = reject(checked, new Map(Array.from(stopped, (phone) => [phone, numberStopped])))
    const plannedAt = plannedTime(batch, now)
    const full = await findFullNumbers(db, limits, phonesOf(reachable.valid), plannedAt)
    return { ...reject(reachable, textsOf(full)), plannedAt }
  }

  async function charge(
    call: Call,
    caller: Caller,
    purchase: Pick<Parameters<typeof paidCalls.charge>[2], 'action' | 'values' | 'answerIfInterrupted'>,
    batch: CheckedBatch,
    valid: readonly ValidMessage[],
    rejected: readonly RejectedMessage[],
  ): Promise<ApiResponse> {
    const costs = valid.map(({ cost }) => cost)
    const paid = await paidCalls.charge<ApiResponse>(call, caller, {
      ...purchase,
      apiType: 'sms',
      costs,
      cost: costs.reduce((sum, cost) => sum + cost, 0),
      waits: true,
      inSameTransaction: (tx, charged) => insertRows(tx, charged, batch, valid, rejected),
    })
    if (paid.replay) return paid.replay
    onAccepted()
    return paid.value
  }

  /** The charge has locked the account, so no other call adds messages of it to the queue. */
  async function insertRows(
    tx: Tx,
    { operationIds = [], at, remaining }: Charge,
    batch: CheckedBatch,
    valid: readonly ValidMessage[],
    rejected: readonly RejectedMessage[],
  ): Promise<Written<ApiResponse>> {
    const { account, input, frame } = batch
    const { template, signName } = frame
    const waiting = await countWaiting(tx, account.id)
    if (waiting + valid.length > config.SMS_QUEUE_LIMIT) throw tooManyWaiting(config.SMS_QUEUE_LIMIT)
    const plannedAt = plannedTime(batch, at)
    const full = await countPlanned(
      tx,
      limits,
      valid.map(({ phone }) => phone),
      plannedAt,
    )
    if (full.size > 0) throw new NumbersFull(full)
    const batchId = await insertBatch(tx, {
      account_id: account.id,
      template_code: template.code,
      content: template.content,
      sign_name: signName,
      marketing: template.type === 'marketing' ? 1 : 0,
      send_at: input.sendAt ?? null,
      total: valid.length,
      created_at: at,
      next_at: plannedAt,
    })
    await insertMessages(
      tx,
      {
        batchId,
        accountId: account.id,
        templateCode: template.code,
        signName,
        gateway: gateways[0]!.name,
        createdAt: at,
        plannedAt,
      },
      valid.map(({ phone, params, parts }, i) => ({ operationId: operationIds[i]!, phone, params, parts })),
    )
    const response = envelope({
      batch_id: batchIdOf(batchId),
      accepted: valid.length,
      rejected: rejected.map(({ index, phone, reason }) => ({
        index,
        phone_number: phone,
        error_message: reason[batch.language],
      })),
      send_at: input.sendAt === undefined ? '' : formatTime(input.sendAt),
      remaining_credits: remaining,
    })
    return { value: response, response }
  }

  /** Never sent in practice: the response is stored with the charge. */
  function interruptedResponse(call: Call): ApiResponse {
    return errorResponse(
      call.endpoint.shape,
      sendFailed(problemText('unconfirmed')),
      call.language,
      services.http,
    )
  }

  return {
    send,
    async check(call, account) {
      const now = await readClock(db)
      return checkMessages(await openBatch(account, readBatch(call, now), call.language), now)
    },
  }
}

interface CheckedMessages {
  readonly valid: readonly ValidMessage[]
  readonly rejected: readonly RejectedMessage[]
}

/** Moves the messages to these numbers to the rejected ones. */
function reject({ valid, rejected }: CheckedMessages, reasons: ReadonlyMap<string, Text>): CheckedMessages {
  if (reasons.size === 0) return { valid, rejected }
  const added = valid.flatMap(({ index, phone }) => {
    const reason = reasons.get(phone)
    return reason ? [{ index, phone, reason }] : []
  })
  return {
    valid: valid.filter(({ phone }) => !reasons.has(phone)),
    rejected: [...rejected, ...added].toSorted((one, other) => one.index - other.index),
  }
}

function plannedTime({ input, frame }: Pick<CheckedBatch, 'input' | 'frame'>, now: number): number {
  const at = Math.max(input.sendAt ?? now, now)
  return frame.template.type === 'marketing' ? marketingTime(at) : at
}

function textsOf(errors: ReadonlyMap<string, AppError>): Map<string, Text> {
  return new Map(Array.from(errors, ([phone, { text }]) => [phone, text]))
}

const maxNamed = 20

function nothingToSend(rejected: readonly RejectedMessage[]): NothingToSend {
  const named = rejected.slice(0, maxNamed)
  const more = rejected.length > maxNamed ? ['…'] : []
  const zh = [...named.map(({ index, reason }) => `[${index}] ${reason.zh}`), ...more].join('；')
  const en = [...named.map(({ index, reason }) => `[${index}] ${reason.en}`), ...more].join('; ')
  return new NothingToSend({ zh: `没有可发送的短信：${zh}`, en: `No message can be sent: ${en}` }, rejected)
}

function tooManyWaiting(limit: number): AppError {
  return new AppError(
    1002,
    {
      zh: `等待发送的短信过多，每个账户最多 ${limit} 条`,
      en: `too many messages wait, an account has ${limit} at most`,
    },
    { status: 429, retryAfter: 60 },
  )
}

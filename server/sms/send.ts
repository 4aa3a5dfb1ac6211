// Sends one message: parameters, replay, account, template, limits, charge, gateways, end, response.
import { sms } from '../../contract/sms.ts'
import type { Language } from '../../contract/text.ts'
import { type Caller, requireNotExpired, requireNotSuspended, smsDisabled } from '../accounts/authenticate.ts'
import type { Account } from '../accounts/store.ts'
import { registerWriter, type StatementPart } from '../credits/batch-writer.ts'
import type { Purchase } from '../credits/charge/paid-call.ts'
import type { Charge, Written } from '../credits/operation.ts'
import type { Tx } from '../db/database.ts'
import { type Call, markStep } from '../http/call.ts'
import { type ApiResponse, errorResponse } from '../http/responses.ts'
import type { Services } from '../services.ts'
import type { Failure } from '../upstream/outcome.ts'
import { randomDigits } from '../random.ts'
import { createGatewayCalls } from './call-gateways.ts'
import {
  codeVariables,
  type HashCode,
  hiddenCode,
  type NewCode,
  readSendCode,
  requirePause,
  storeCodes,
} from './codes.ts'
import type { ComposedMessage, ComposeMessage, MessageInput } from './compose.ts'
import { markRefused, markSettled, markUnknown } from './ends.ts'
import { eventOfPaid, eventOfRefunded, type EventSend } from './events.ts'
import type { GuardedSmsGateway } from './gateways.ts'
import type { Period } from './number-limit-store.ts'
import { countMessages, requireBelowLimits } from './number-limits.ts'
import { createKnownTemplates } from './known-templates.ts'
import type { SentMessage } from './port.ts'
import { findProblem, type Problem, problemText } from './problems.ts'
import { sendFailed, type SuccessfulSend, successResponse } from './responses.ts'
import { readSend, requireSendingHour } from './send-parameters.ts'
import { requireNotStopped } from './stop-list.ts'
import {
  type FailedSend,
  findByOperation,
  insertSends,
  type NewSend,
  type SendPosition,
  type SendRecord,
  sendsPart,
} from './store.ts'

export const sendAction = 'sms.send'

const noValues: ReadonlyMap<string, string> = new Map()

/** How long an ambiguous send waits for a receipt. */
export const ambiguousLeaseMs = 900_000

type SendInput = Omit<NewSend, 'operationId' | 'createdAt'> & { readonly code: NewCode | undefined }

/** What the charge inserted: the record, and the periods in which the message counts. */
interface ChargedSend {
  readonly record: SendPosition & { readonly phone: string }
  readonly periods: readonly Period[]
}

/** A send between its charge and its end. */
interface OpenSend extends ChargedSend {
  readonly call: Call
  readonly account: Account
  readonly operationId: number
  readonly remaining: number
  readonly message: ComposedMessage
  readonly code: NewCode | undefined
  readonly respond: SendRequest['respond']
  /** Returns the stored response of this call, if any. */
  readonly replay: () => Promise<ApiResponse | undefined>
}

export type SendSms = (call: Call, caller: Caller) => Promise<ApiResponse>

/** One message to send, with parameters that have been read. */
interface SendRequest {
  /** The parameters that a call with the same `Idempotency-Key` must repeat. */
  readonly values: Readonly<Record<string, unknown>>
  readonly defaults: Readonly<Record<string, unknown>> | undefined
  readonly phone: string
  readonly message: MessageInput
  readonly code: NewCode | undefined
  respond(record: SuccessfulSend, remaining: number): ApiResponse
}

export function createSend(
  services: Services,
  gateways: readonly GuardedSmsGateway[],
  compose: ComposeMessage,
  hashCode: HashCode,
): { readonly send: SendSms; readonly sendCode: SendSms } {
  const { config, db, paidCalls } = services
  const leaseMs = config.OPERATION_LEASE_S * 1000
  const limits = config.SMS_NUMBER_LIMITS
  // Every call needs it as an argument and few return it. Created once, because creating an error is expensive.
  const unconfirmed = { zh: failureResponse('unconfirmed', 'zh'), en: failureResponse('unconfirmed', 'en') }

  const insertRecord = registerWriter(insertRecords)
  // Limits and one-time codes may refuse the message, which needs a transaction.
  const insertPlainRecord =
    limits.length > 0
      ? insertRecord
      : registerWriter<SendInput, Charge, Written<ChargedSend>>(insertRecords, plainRecordsPart)
  const callGateways = createGatewayCalls(db, gateways, leaseMs)
  const knownTemplates = db.writeStatement && createKnownTemplates()

  const sendSms: SendSms = async (call, caller) => {
    const values = readSend(call)
    return sendMessage(call, caller, {
      values,
      defaults: undefined,
      phone: values.phone_number,
      message: {
        templateCode: values.template_code,
        signName: values.sign_name,
        templateParams: values.template_params ?? noValues,
      },
      code: undefined,
      respond: successResponse,
    })
  }

  const sendCode: SendSms = async (call, caller) => {
    const values = readSendCode(call)
    const { length: digits, ttl_s: ttl } = sms.operations.sendCode.parameters
    const { phone_number: phone, purpose = '', length = digits.default, ttl_s: ttlS = ttl.default } = values
    const code = randomDigits(length)
    const ttlMs = ttlS * 1000
    return sendMessage(call, caller, {
      // Other than those of a send without variables.
      values: { ...values, operation: 'send_code' },
      defaults: { length: digits.default, ttl_s: ttl.default },
      phone,
      message: {
        templateCode: values.template_code,
        signName: values.sign_name,
        templateParams: (template) => codeVariables(template, code, ttlS),
      },
      code: { purpose, ttlMs, hash: hashCode({ account_id: caller.account.id, phone, purpose }, code) },
      respond: (record, remaining) => successResponse(record, remaining, record.created_at + ttlMs),
    })
  }

  async function sendMessage(call: Call, caller: Caller, request: SendRequest): Promise<ApiResponse> {
    const { values, defaults } = request
    const purchase = {
      action: sendAction,
      values,
      defaults,
      answerIfInterrupted: unconfirmed[call.language],
    }
    return paidCalls.once(call, caller, purchase, () => sendOnce(call, caller, request, purchase))
  }

  async function sendOnce(
    call: Call,
    caller: Caller,
    { message: input, phone, code, respond }: SendRequest,
    purchase: Pick<Purchase<ChargedSend>, 'action' | 'values' | 'defaults' | 'answerIfInterrupted'>,
  ): Promise<ApiResponse> {
    requireSmsAccount(caller.account, gateways)
    const knownTemplate = knownTemplates?.find(call, caller, input.templateCode)
    const message = await compose(caller.account, input, knownTemplate)
    if (!knownTemplate) knownTemplates?.remember(call, caller, message.template)
    requireSendingHour(message.template, services.now())
    await requireNotStopped(db, caller.account, message.signName, phone)
    if (code) await requirePause(db, { account_id: caller.account.id, phone, purpose: code.purpose })
    await requireBelowLimits(db, limits, phone)

    const chargedAt = performance.now()
    const paid = await paidCalls.charge<ChargedSend>(call, caller, {
      ...purchase,
      apiType: 'sms',
      cost: message.cost,
      leaseMs,
      inSameTransaction: (code ? insertRecord : insertPlainRecord)({
        accountId: caller.account.id,
        phone,
        templateCode: message.template.code,
        templateParams: JSON.stringify(
          Object.fromEntries(
            message.variables.map(({ name, value }) => [name, code && name === 'code' ? hiddenCode : value]),
          ),
        ),
        signName: message.signName,
        parts: message.parts,
        gateway: gateways[0]!.name,
        code,
      }),
    })
    if (paid.replay) return paid.replay
    const open: OpenSend = {
      ...paid.value,
      call,
      account: caller.account,
      operationId: paid.operationId,
      remaining: paid.remaining,
      message,
      code,
      respond,
      replay: () => paidCalls.findReplay(call, caller, purchase),
    }

    const { outcome, gateway = gateways[0]!.name } = await callGateways({
      sendId: open.record.id,
      phone,
      message,
      leaseStartedAt: chargedAt,
    })
    call.trace.gateway = gateway
    markStep(call, 'gateway')

    if (outcome.kind === 'accepted') return settle(open, outcome.value)
    if (outcome.kind === 'ambiguous') return hold(open, outcome)
    return refund(open, outcome, gateway)
  }

  async function insertRecords(
    tx: Tx,
    items: readonly { readonly item: SendInput; readonly result: Charge }[],
  ): Promise<Written<ChargedSend>[]> {
    const phones = items.map(({ item }) => item.phone)
    const periods = await countMessages(tx, limits, phones)
    const records = await insertSends(
      tx,
      items.map(({ item, result }) => ({
        ...item,
        operationId: result.operationId,
        createdAt: result.at,
      })),
    )
    await storeCodes(tx, items)
    return items.map(({ item }, i) => ({
      value: { record: { ...records[i]!, phone: item.phone }, periods },
    }))
  }

  function plainRecordsPart(items: readonly SendInput[]): StatementPart<Charge, Written<ChargedSend>> {
    const part = sendsPart(items)
    return {
      ...part,
      read: (text, charges) =>
        part.read(text, charges).map((position, i) => ({
          value: { record: { ...position, phone: items[i]!.phone }, periods: [] },
        })),
    }
  }

  async function settle(send: OpenSend, { gatewayId }: SentMessage): Promise<ApiResponse> {
    const { call, operationId, record } = send
    const response = send.respond(record, send.remaining)
    const { ended } = await paidCalls.end(call, {
      accountId: send.account.id,
      operationId,
      end: { state: 'settled' },
      response,
      sends: 1,
      inSameTransaction: markSettled({
        id: record.id,
        gatewayId,
        event: eventOfPaid(send.account, eventSendOf(send)),
        batch_id: null,
      }),
    })
    return ended ? response : respondToDecided(send, await findByOperation(db, operationId))
  }

  async function hold(send: OpenSend, outcome: Failure): Promise<ApiResponse> {
    const { call, operationId, record } = send
    const { problem, code } = findProblem(outcome)
    const response = failureResponse(problem, call.language)
    const { ended: isHeld } = await paidCalls.end(call, {
      accountId: send.account.id,
      operationId,
      end: { state: 'held', leaseMs: ambiguousLeaseMs },
      response,
      sends: 1,
      inSameTransaction: markUnknown({ id: record.id, state: 'unknown', charged: true, problem, code }),
    })
    return isHeld ? response : respondToDecided(send, await findByOperation(db, operationId))
  }

  async function refund(send: OpenSend, outcome: Failure, gateway: string): Promise<ApiResponse> {
    const { call, operationId, record, periods } = send
    const { problem, code } = findProblem(outcome)
    const response = failureResponse(problem, call.language)
    const failed: FailedSend = { id: record.id, state: 'refused', charged: false, problem, code, gateway }
    const { ended } = await paidCalls.end(call, {
      accountId: send.account.id,
      operationId,
      end: { state: 'refunded' },
      response,
      inSameTransaction: markRefused({
        failed,
        phone: record.phone,
        periods,
        code: send.code && {
          key: { account_id: send.account.id, phone: record.phone, purpose: send.code.purpose },
          operationId,
        },
        event: eventOfRefunded(send.account, eventSendOf(send), problem),
        batch_id: null,
      }),
    })
    if (ended) return response
    const decided = await findByOperation(db, operationId)
    return decided?.charged === 1 ? respondToDecided(send, decided) : response
  }

  /**
   * Another process ended the operation first. If a receipt or a status query settled it, the message was sent and paid
   * for, and the response stored then is returned. If the sweeper refunded it, the call failed, even if the message was
   * sent: the record shows that.
   */
  async function respondToDecided(send: OpenSend, decided: SendRecord | undefined): Promise<ApiResponse> {
    if (decided?.charged !== 1) return unconfirmed[send.call.language]
    const stored = await send.replay()
    return stored ? { status: stored.status, body: stored.body } : send.respond(send.record, send.remaining)
  }

  return { send: sendSms, sendCode }

  function failureResponse(problem: Problem, language: Language): ApiResponse {
    return errorResponse(sms.shape, sendFailed(problemText(problem)), language, services.http)
  }
}

function eventSendOf({ account, record, message }: OpenSend): EventSend {
  return {
    id: record.id,
    account_id: account.id,
    phone: record.phone,
    template_code: message.template.code,
    sign_name: message.signName,
    created_at: record.created_at,
  }
}

export function requireSmsAccount(account: Account, gateways: readonly GuardedSmsGateway[]): void {
  requireNotSuspended(account)
  requireNotExpired(account, 403)
  if (account.sms_enabled !== 1 || gateways.length === 0) throw smsDisabled()
}

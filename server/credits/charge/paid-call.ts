// A paid API call: replays, the charge and the end, with the documented errors.
import type { ApiType, CapPeriod } from '../../../contract/credits.ts'
import { isRecord } from '../../../contract/values.ts'
import {
  accountExpired,
  accountSuspended,
  type Caller,
  type KnownAccounts,
  smsDisabled,
  wrongCredentials,
} from '../../accounts/authenticate.ts'
import { requireKeyAllows } from '../../accounts/key-limits.ts'
import { isUnavailable } from '../../accounts/known-accounts.ts'
import { type Call, markStep } from '../../http/call.ts'
import { AppError } from '../../http/errors.ts'
import type { ApiResponse } from '../../http/responses.ts'
import type { TransactionWrite } from '../batch-writer.ts'
import type { Credits } from '../credits.ts'
import type { Sweeper } from '../end/sweeper.ts'
import type {
  Charge,
  ChargeRequest,
  EndRequest,
  EndResult,
  Idempotency,
  NotAllowed,
  PreviousCall,
  Written,
} from '../operation.ts'

export interface Purchase<T> {
  readonly apiType: ApiType
  /** For example `sms.send`; the sweeper finds its decider by it. */
  readonly action: string
  readonly cost: number
  /** The parameters that a call with the same `Idempotency-Key` must repeat. */
  readonly values: Readonly<Record<string, unknown>>
  /** What parameters mean that are not given, also in the items of a list: to spell it out is the same call. */
  readonly defaults?: Readonly<Record<string, unknown>> | undefined
  readonly leaseMs?: number
  readonly waits?: boolean
  readonly costs?: readonly number[]
  readonly inSameTransaction?: TransactionWrite<Charge, Written<T>>
  /** The endpoint's error for too few credits, if it has its own. */
  readonly insufficient?: AppError
  /** Sent when the first call with the same key was interrupted and refunded. */
  readonly answerIfInterrupted: ApiResponse
}

export type Paid<T> =
  | { readonly replay: ApiResponse }
  | {
      readonly replay: undefined
      readonly operationId: number
      readonly remaining: number
      readonly value: T
    }

/** What finds an earlier call, and answers a repeated one. */
type Repeatable = Pick<Purchase<unknown>, 'action' | 'values' | 'defaults' | 'answerIfInterrupted'>

export interface PaidCalls {
  /**
   * Runs a call that ends with a charge or an error, or returns the stored response when its `Idempotency-Key` was used before.
   * Used right after the parameters are read, because an earlier call comes before every other problem.
   *
   * Few keys were used before, and the charge finds those, so an earlier call is looked for only when the call fails before its
   * charge, or when the account has repeated a call recently.
   */
  once(
    call: Call,
    caller: Caller,
    purchase: Repeatable,
    run: () => Promise<ApiResponse>,
  ): Promise<ApiResponse>
  /** Returns the stored response when this `Idempotency-Key` was used before. */
  findReplay(call: Call, caller: Caller, purchase: Repeatable): Promise<ApiResponse | undefined>
  charge<T = undefined>(call: Call, caller: Caller, purchase: Purchase<T>): Promise<Paid<T>>
  /** Settles or refunds the operation, in one transaction with the product's rows. */
  end(call: Call, request: EndRequest): Promise<EndResult>
}

export function createPaidCalls(
  credits: Credits,
  sweeper: Sweeper,
  knownAccounts: KnownAccounts | undefined,
): PaidCalls {
  /** Of calls in progress: it is needed to look for an earlier call, and again for the charge. */
  const known = new WeakMap<Call, Pick<Purchase<unknown>, 'action' | 'values'> & Idempotency>()
  /** Calls whose charge was sent. */
  const sent = new WeakSet<Call>()

  function readIdempotency(
    call: Call,
    { action, values, defaults }: Pick<Purchase<unknown>, 'action' | 'values' | 'defaults'>,
  ): Idempotency | undefined {
    if (call.idempotencyKey === undefined) return undefined
    const last = known.get(call)
    if (last?.action === action && last.values === values) return last
    // Keys often contain order numbers or personal data, so only a keyed hash is stored.
    const key = credits.fingerprint('idempotency key', { key: call.idempotencyKey })
    const read = {
      action,
      values,
      key,
      fingerprint: credits.fingerprint(action, defaults ? withoutDefaults(values, defaults) : values),
      olderFingerprint: () => credits.olderFingerprint(action, values),
    }
    known.set(call, read)
    return read
  }

  /** Undefined when the earlier call was overdue; it is decided when this returns. */
  async function replay(
    call: Call,
    previous: PreviousCall,
    answerIfInterrupted: ApiResponse,
  ): Promise<ApiResponse | undefined> {
    // The call will run again with a look-up of its account, so nothing is answered or decided now.
    if (call.knownAccount === 'used') throw new Error('the account of this call is not confirmed yet')
    switch (previous.kind) {
      case 'replay':
        call.trace.replayed = true
        return { ...previous.response, headers: { 'idempotent-replayed': 'true' } }
      case 'interrupted':
        call.trace.replayed = true
        return {
          ...answerIfInterrupted,
          headers: { ...answerIfInterrupted.headers, 'idempotent-replayed': 'true' },
        }
      case 'other_parameters':
        throw new AppError(
          1002,
          { zh: '同一 Idempotency-Key 的参数不同', en: 'This Idempotency-Key came with other parameters' },
          { status: 422 },
        )
      case 'running':
        throw new AppError(
          1005,
          {
            zh: '同一 Idempotency-Key 的请求仍在处理',
            en: 'A call with this Idempotency-Key is still running',
          },
          { status: 409, retryAfter: Math.max(1, Math.ceil(previous.retryAfterMs / 1000)) },
        )
      case 'overdue':
        await sweeper.decide(previous.operationId)
        return undefined
    }
  }

  return {
    async once(call, caller, purchase, run) {
      if (call.idempotencyKey === undefined) return run()
      const find = async () => {
        const answer = await this.findReplay(call, caller, purchase)
        if (answer) credits.repeats.add(caller.account.id)
        return answer
      }
      const earlier = credits.repeats.has(caller.account.id) ? await find() : undefined
      if (earlier) return earlier
      // Set by an earlier run, see known-accounts.ts.
      sent.delete(call)
      try {
        return await run()
      } catch (error) {
        // A call that used a known account runs again.
        if (sent.has(call) || call.knownAccount === 'used' || isUnavailable(error)) throw error
        // The earlier call itself may be the reason: what it has written is in the way of this one.
        const answer = await find()
        if (answer) return answer
        throw error
      }
    },

    async findReplay(call, caller, purchase) {
      const idempotency = readIdempotency(call, purchase)
      if (!idempotency) return undefined
      const found = await credits.findPreviousCall(caller.account.id, idempotency)
      if (!found) return undefined
      const answer = await replay(call, found, purchase.answerIfInterrupted)
      if (answer) return answer
      const decided = await credits.findPreviousCall(caller.account.id, idempotency)
      return decided && replay(call, decided, purchase.answerIfInterrupted)
    },

    async charge<T>(call: Call, caller: Caller, purchase: Purchase<T>): Promise<Paid<T>> {
      const isKnown = call.knownAccount === 'used' || call.knownAccount === 'sent'
      const request: ChargeRequest<T> = {
        accountId: caller.account.id,
        apiType: purchase.apiType,
        action: purchase.action,
        cost: purchase.cost,
        requestId: call.requestId,
        keyHash: caller.keyHash,
        accountVersion: isKnown ? caller.version : undefined,
        keyLimits: caller.keyHash === undefined ? undefined : caller.account,
        idempotency: readIdempotency(call, purchase),
        leaseMs: purchase.leaseMs,
        waits: purchase.waits,
        costs: purchase.costs,
        inSameTransaction: purchase.inSameTransaction,
      }
      // Until there is a result, the charge may have been committed.
      if (isKnown) call.knownAccount = 'sent'
      sent.add(call)
      let result = await credits.charge<T>(request)
      while (result.kind === 'key_limits_changed') {
        const { keyLimits } = result
        requireKeyAllows(keyLimits, call.endpoint.operations[call.trace.action ?? '']?.scope, call.address)
        result = await credits.charge<T>({ ...request, keyLimits })
      }
      if (result.kind === 'charged') {
        if (!isKnown) knownAccounts?.remember(caller)
      } else if (isKnown) call.knownAccount = 'used'
      switch (result.kind) {
        case 'charged':
          call.trace.charged = purchase.cost
          markStep(call, 'charged')
          return { replay: undefined, ...result }
        case 'account_changed':
        case 'key_invalid':
          throw wrongCredentials()
        case 'not_allowed':
          throw notAllowed(call, result.reason)
        case 'insufficient':
          throw purchase.insufficient ?? insufficientCredits()
        case 'capped':
          throw capExceeded(purchase.insufficient ?? insufficientCredits(), result.period)
        default:
          return {
            replay:
              (await replay(call, result, purchase.answerIfInterrupted)) ??
              // The earlier call was overdue and has just been decided.
              (await this.findReplay(call, caller, purchase)) ??
              purchase.answerIfInterrupted,
          }
      }
    },

    async end(call, request) {
      const response = call.idempotencyKey === undefined ? undefined : request.response
      const result = await credits.end({ ...request, response })
      if (result.refunded > 0) call.trace.refunded = result.refunded
      markStep(call, 'settled')
      return result
    },
  }
}

function withoutDefaults(
  values: Readonly<Record<string, unknown>>,
  defaults: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const withoutThem = (item: unknown) => (isRecord(item) ? withoutDefaults(item, defaults) : item)
  return Object.fromEntries(
    Object.entries(values)
      .filter(([name, value]) => value !== defaults[name])
      .map(([name, value]) => [name, Array.isArray(value) ? value.map(withoutThem) : value]),
  )
}

function notAllowed({ endpoint }: Call, reason: NotAllowed): AppError {
  switch (reason) {
    case 'suspended':
      return accountSuspended()
    case 'expired':
      return accountExpired(endpoint.shape === 'shortlink' ? 400 : 403)
    case 'sms_disabled':
      return smsDisabled()
  }
}

/** Like too few credits, with its own text. */
function capExceeded({ code, status }: AppError, period: CapPeriod): AppError {
  const text =
    period === 'day'
      ? { zh: '超过每日用量上限', en: 'The daily cap is exceeded' }
      : { zh: '超过每月用量上限', en: 'The monthly cap is exceeded' }
  return new AppError(code, text, { status })
}

function insufficientCredits(): AppError {
  return new AppError(1004, { zh: '调用次数不足', en: 'Insufficient call count' })
}

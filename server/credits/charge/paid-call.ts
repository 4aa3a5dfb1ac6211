// A paid API call and its ledger: repeats, the charge, and the end, told to the caller in the documented words.
import type { ApiType } from '../../../contract/credits.ts'
import { type Caller, wrongCredentials } from '../../accounts/authenticate.ts'
import { type Call, markStep } from '../../http/call.ts'
import { AppError } from '../../http/errors.ts'
import type { ApiResponse } from '../../http/responses.ts'
import type { Credits } from '../credits.ts'
import type {
  AfterEnd,
  AlongsideWork,
  AnswerAfterEnd,
  EndResult,
  OperationEnd,
  Repeat,
} from '../operation.ts'
import type { Sweeper } from '../end/sweeper.ts'

export interface Purchase<T> {
  readonly apiType: ApiType
  /** `sms.send` for instance; what the sweeper's deciders are named by. */
  readonly action: string
  readonly cost: number
  /** The parameters that make this call what it is, for the `Idempotency-Key`. */
  readonly values: Readonly<Record<string, unknown>>
  readonly leaseMs?: number
  readonly alongside?: AlongsideWork<T>
  /** The endpoint's own words for "not enough credits"; the general ones when left out. */
  readonly insufficient?: AppError
  /** What a repeat is told whose first call died on the way and got its credits back. */
  readonly lost: ApiResponse
}

export type Paid<T> =
  | { readonly repeat: ApiResponse }
  | {
      readonly repeat: undefined
      readonly operationId: number
      readonly remaining: number
      readonly value: T
    }

export interface PaidCalls {
  /** The first answer again, when this `Idempotency-Key` came before. Asked right after the parameters. */
  repeat(
    call: Call,
    caller: Caller,
    purchase: Pick<Purchase<unknown>, 'action' | 'values' | 'lost'>,
  ): Promise<ApiResponse | undefined>
  charge<T = undefined>(call: Call, caller: Caller, purchase: Purchase<T>): Promise<Paid<T>>
  /** Decides the operation, in one transaction with the product's own rows. */
  end(
    call: Call,
    operation: { operationId: number; apiType: ApiType },
    request: { end: OperationEnd; answer?: ApiResponse | AnswerAfterEnd | undefined; sends?: number },
    alongside?: AfterEnd,
  ): Promise<EndResult>
}

export function openPaidCalls(credits: Credits, sweeper: Sweeper): PaidCalls {
  function idempotencyOf(call: Call, action: string, values: Readonly<Record<string, unknown>>) {
    if (call.idempotencyKey === undefined) return undefined
    // People put order numbers and worse into this header, so only a keyed hash of it is kept.
    const key = credits.fingerprint('idempotency key', { key: call.idempotencyKey })
    return { key, fingerprint: credits.fingerprint(action, values) }
  }

  async function answerRepeat(
    call: Call,
    repeat: Repeat,
    lost: ApiResponse,
  ): Promise<ApiResponse | undefined> {
    switch (repeat.kind) {
      case 'replay':
        call.trace.replayed = true
        return { ...repeat.answer, headers: { 'idempotent-replayed': 'true' } }
      case 'lost':
        call.trace.replayed = true
        return { ...lost, headers: { ...lost.headers, 'idempotent-replayed': 'true' } }
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
          { status: 409, retryAfter: Math.max(1, Math.ceil(repeat.retryAfterMs / 1000)) },
        )
      case 'overdue':
        await sweeper.decide(repeat.operationId)
        return undefined
    }
  }

  return {
    async repeat(call, caller, purchase) {
      const idempotency = idempotencyOf(call, purchase.action, purchase.values)
      if (!idempotency) return undefined
      const found = await credits.findRepeat(caller.account.id, idempotency)
      if (!found) return undefined
      const answer = await answerRepeat(call, found, purchase.lost)
      if (answer) return answer
      const decided = await credits.findRepeat(caller.account.id, idempotency)
      return decided && answerRepeat(call, decided, purchase.lost)
    },

    async charge<T>(call: Call, caller: Caller, purchase: Purchase<T>): Promise<Paid<T>> {
      const result = await credits.charge<T>({
        accountId: caller.account.id,
        apiType: purchase.apiType,
        action: purchase.action,
        cost: purchase.cost,
        requestId: call.requestId,
        keyHash: caller.keyHash,
        idempotency: idempotencyOf(call, purchase.action, purchase.values),
        leaseMs: purchase.leaseMs,
        alongside: purchase.alongside,
      })
      switch (result.kind) {
        case 'charged':
          call.trace.charged = purchase.cost
          markStep(call, 'charged')
          return { repeat: undefined, ...result }
        case 'key_invalid':
          throw wrongCredentials()
        case 'insufficient':
          throw purchase.insufficient ?? insufficientCredits()
        default:
          return {
            repeat:
              (await answerRepeat(call, result, purchase.lost)) ??
              // It was overdue and has been decided just now: what was kept then is the answer.
              (await this.repeat(call, caller, purchase)) ??
              purchase.lost,
          }
      }
    },

    async end(call, operation, request, alongside) {
      const result = await credits.endSoon({
        request: {
          operationId: operation.operationId,
          end: request.end,
          answer: call.idempotencyKey === undefined ? undefined : request.answer,
          sends: request.sends ?? 0,
        },
        alongside,
      })
      if (result.givenBack > 0) {
        call.trace.refunded = result.givenBack
        credits.onMoved?.({ kind: 'refund', apiType: operation.apiType, amount: result.givenBack })
      }
      markStep(call, 'settled')
      return result
    },
  }
}

function insufficientCredits(): AppError {
  return new AppError(1004, { zh: '调用次数不足', en: 'Insufficient call count' })
}

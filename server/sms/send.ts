// Sending one message: one call reads from top to bottom here.
import { printable } from '../../contract/values.ts'
import { sms } from '../../contract/sms.ts'
import {
  bizIdOf,
  compareVariables,
  countParts,
  fillTemplate,
  isPhoneNumber,
  longestText,
  wholeText,
} from '../../contract/sms-text.ts'
import type { Language } from '../../contract/text.ts'
import { type Caller, requireNotExpired, requireNotSuspended } from '../accounts/authenticate.ts'
import { signNameProblem } from '../accounts/accounts.ts'
import type { Account } from '../accounts/store.ts'
import type { Alongside, SharedItem } from '../credits/operation.ts'
import type { Tx } from '../db/database.ts'
import { type Call, markStep, readCallParameters } from '../http/call.ts'
import { AppError } from '../http/errors.ts'
import { parameterError } from '../http/parameters.ts'
import { type ApiResponse, errorResponse } from '../http/responses.ts'
import type { Services } from '../services.ts'
import { tryInOrder } from '../upstream/failover.ts'
import { mayAskNextGateway, type Outcome } from '../upstream/outcome.ts'
import { sendFailed, successAnswer } from './answer.ts'
import type { GuardedGateway } from './gateways.ts'
import type { Period } from './number-limit-store.ts'
import { giveRoomBack, requireRoom, takeRoom } from './number-limits.ts'
import type { Sent } from './port.ts'
import { type Problem, problemOf, problemText } from './problems.ts'
import {
  findByOperation,
  insertSends,
  lockSend,
  markAllAccepted,
  markFailed,
  nameGateway,
  type NewSend,
  type OpenedSend,
  type SendRecord,
} from './store.ts'
import { noSuchTemplate, type UsableTemplate, usableTemplates } from './templates.ts'

export const sendAction = 'sms.send'

/** How long an ambiguous end waits for a receipt. */
const ambiguousLeaseMs = 900_000

interface Accepted {
  readonly id: number
  readonly gatewayId: string | undefined
}

/** The records of all messages whose operations are settled in one transaction. */
function closeRecords(tx: Tx, items: readonly { readonly item: Accepted }[]): Promise<void> {
  return markAllAccepted(
    tx,
    items.map(({ item }) => item),
  )
}

type SendWish = Omit<NewSend, 'operationId' | 'createdAt'>

interface OpenedRecord {
  readonly record: OpenedSend & { readonly phone: string }
  readonly periods: readonly Period[]
}

export type Send = (call: Call, caller: Caller) => Promise<ApiResponse>

export function openSend(services: Services, gateways: readonly GuardedGateway[]): Send {
  const { config, db, credits, paidCalls } = services
  const findTemplate = usableTemplates(db)
  const leaseMs = config.OPERATION_LEASE_S * 1000
  const limits = config.SMS_NUMBER_LIMITS
  // Every call carries it, hardly one needs it: made once, because making an error is dear.
  const unconfirmed = { zh: failedAnswer('unconfirmed', 'zh'), en: failedAnswer('unconfirmed', 'en') }

  /** The records of all messages that are charged in one transaction. */
  async function openRecords(
    tx: Tx,
    items: readonly SharedItem<SendWish>[],
  ): Promise<Alongside<OpenedRecord>[]> {
    const periods: (readonly Period[])[] = []
    for (const { item } of items) periods.push(await takeRoom(tx, limits, item.phone))
    const records = await insertSends(
      tx,
      items.map(({ item, charged }) => ({
        ...item,
        operationId: charged.operationId,
        createdAt: charged.at,
      })),
    )
    return items.map(({ item }, i) => ({
      value: { record: { ...records[i]!, phone: item.phone }, periods: periods[i]! },
    }))
  }

  return async (call, caller) => {
    const values = readSend(call)
    const { phone_number: phone } = values
    const purchase = { action: sendAction, values, lost: unconfirmed[call.language] }
    const repeat = await paidCalls.repeat(call, caller, purchase)
    if (repeat) return repeat

    requireSmsAccount(caller.account, gateways)
    const template = await findTemplate(caller.account.id, values.template_code)
    if (template?.status !== '审核通过') throw noSuchTemplate()
    const signName = values.sign_name ?? caller.account.sign_name ?? config.SMS_SIGN_NAME
    const { variables, text, parts } = composeText(template, signName, values.template_params ?? new Map())
    await requireRoom(db, limits, phone)

    const chargedAt = performance.now()
    const paid = await paidCalls.charge<OpenedRecord>(call, caller, {
      ...purchase,
      apiType: 'sms',
      cost: parts * config.PRICES.sms_part,
      leaseMs,
      alongside: {
        run: openRecords,
        item: {
          accountId: caller.account.id,
          phone,
          templateCode: template.code,
          templateParams: JSON.stringify(
            Object.fromEntries(variables.map(({ name, value }) => [name, value])),
          ),
          signName,
          parts,
          gateway: gateways[0]!.name,
        } satisfies SendWish,
      },
    })
    if (paid.repeat) return paid.repeat
    const { operationId, remaining } = paid
    const { record, periods } = paid.value
    const { gatewayCodes } = template
    const operation = { operationId, apiType: 'sms' } as const

    const message = {
      bizId: bizIdOf(record.id),
      phone,
      signName,
      templateCode: template.code,
      variables,
      text,
    }
    const { outcome, gateway = gateways[0]!.name } = await tryInOrder(gateways, askOne, mayAskNextGateway)
    call.trace.gateway = gateway
    markStep(call, 'gateway')

    async function askOne(one: GuardedGateway): Promise<Outcome<Sent>> {
      // Past the lease the sweeper may have given the credits back: nothing is sent any more.
      if (performance.now() - chargedAt >= leaseMs) return { kind: 'not_sent', reason: 'lease_over' }
      if (one !== gateways[0]) {
        const named = await db
          .write((tx) => nameGateway(tx, record.id, one.name))
          .then(
            () => true,
            () => false,
          )
        if (!named) return { kind: 'not_sent', reason: 'database' }
      }
      return one.send({ ...message, templateId: gatewayCodes[one.name] ?? message.templateCode })
    }

    if (outcome.kind === 'accepted') {
      const answer = successAnswer(record, remaining)
      const { ended } = await paidCalls.end(
        call,
        operation,
        { end: { state: 'settled' }, answer, sends: 1 },
        { run: closeRecords, item: { id: record.id, gatewayId: outcome.value.gatewayId } satisfies Accepted },
      )
      return ended ? answer : answerOfDecided(await findByOperation(db, operationId))
    }

    /**
     * Somebody decided before us. A receipt or the gateway's own word settled it: it was sent and paid for, and the answer
     * that was kept then is the one a repeat hears. Or the sweeper gave the credits back: whatever went out went out for
     * nothing, which the record shows, and is no paid success.
     */
    async function answerOfDecided(decided: SendRecord | undefined): Promise<ApiResponse> {
      if (decided?.charged !== 1) return unconfirmed[call.language]
      const kept = await paidCalls.repeat(call, caller, purchase)
      return kept ? { status: kept.status, body: kept.body } : successAnswer(record, remaining)
    }

    const { problem, code } = problemOf(outcome)
    const answer = failedAnswer(problem, call.language)
    if (outcome.kind === 'ambiguous') {
      const decided = await db.write(async (tx) => {
        const held = await credits.hold(tx, {
          operationId,
          leaseMs: ambiguousLeaseMs,
          sends: 1,
          ...(call.idempotencyKey === undefined ? {} : { answer }),
        })
        if (!held) return { record: await lockSend(tx, record.id) }
        await markFailed(tx, record.id, { state: 'unknown', charged: true, problem, code })
        return undefined
      })
      return decided ? answerOfDecided(decided.record) : answer
    }
    await paidCalls.end(call, operation, { end: { state: 'refunded' }, answer }, async (tx, { ended }) => {
      if (!ended) return
      await markFailed(tx, record.id, { state: 'refused', charged: false, problem, code })
      await giveRoomBack(tx, phone, periods)
    })
    return answer
  }

  function failedAnswer(problem: Problem, language: Language): ApiResponse {
    return errorResponse(sms.shape, sendFailed(problemText(problem)), language, services.http)
  }
}

/** The parameters, and everything that is wrong with them in one message. */
function readSend(call: Call) {
  const { values, missing, invalid } = readCallParameters(call, sms.operations.send.parameters)
  const problems = [...invalid]
  // Absent where it is missing or no text at all, which is said already.
  const { phone_number: phone, sign_name: signName } = values as Partial<typeof values>
  if (phone !== undefined && !isPhoneNumber(phone)) {
    problems.push({
      name: 'phone_number',
      text: { zh: '必须是11位手机号', en: 'must be a mainland mobile number of 11 digits' },
    })
  }
  const signProblem = signName === undefined ? undefined : signNameProblem(signName)
  if (signProblem) {
    problems.push({
      name: 'sign_name',
      text: { zh: `无效：${signProblem.zh}`, en: `is wrong: ${signProblem.en}` },
    })
  }
  if (missing.length > 0 || problems.length > 0) throw parameterError(missing, problems)
  return values
}

export interface Draft {
  readonly templateCode: string
  readonly signName: string | undefined
  readonly templateParams: ReadonlyMap<string, string>
}

export interface Priced {
  readonly text: string
  readonly parts: number
  readonly cost: number
}

/** What a message would be and cost. Nothing is charged, counted or sent. */
export type Price = (account: Account, draft: Draft) => Promise<Priced>

export function openPrice({ db, config }: Pick<Services, 'db' | 'config'>): Price {
  const findTemplate = usableTemplates(db)
  return async (account, draft) => {
    const template = await findTemplate(account.id, draft.templateCode)
    if (template?.status !== '审核通过') throw noSuchTemplate()
    const signName = draft.signName ?? account.sign_name ?? config.SMS_SIGN_NAME
    const { text, parts } = composeText(template, signName, draft.templateParams)
    return { text, parts, cost: parts * config.PRICES.sms_part }
  }
}

function requireSmsAccount(account: Account, gateways: readonly GuardedGateway[]): void {
  requireNotSuspended(account)
  requireNotExpired(account, 403)
  if (account.sms_enabled !== 1 || gateways.length === 0) {
    throw new AppError(1006, { zh: '短信服务未开通', en: 'SMS service not enabled' })
  }
}

/** The text with its values, or one error that names every variable without a value, every value without a variable, and the length. */
function composeText(template: UsableTemplate, signName: string, given: ReadonlyMap<string, string>) {
  const { missing, surplus } = compareVariables(template.variables, given)
  const zh: string[] = []
  const en: string[] = []
  if (missing.length > 0) {
    zh.push(`template_params 缺少变量 ${missing.join('、')}`)
    en.push(`template_params lacks ${missing.join(', ')}`)
  }
  if (surplus.length > 0) {
    const names = surplus.slice(0, 20).map(printable)
    zh.push(`template_params 有多余变量 ${names.join('、')}`)
    en.push(`template_params has no variable ${names.join(', ')} in the template`)
  }
  const text = wholeText(signName, fillTemplate(template.content, given))
  if (text.length > longestText) {
    zh.push(`短信内容 ${text.length} 个字符，超过 ${longestText}`)
    en.push(`the text has ${text.length} characters, more than ${longestText}`)
  }
  if (zh.length > 0) {
    const problem = { zh: zh.join('；'), en: en.join('; ') }
    throw new AppError(1002, problem, { fields: { template_params: problem } })
  }
  const variables = template.variables.map((name) => ({ name, value: given.get(name) ?? '' }))
  return { variables, text, parts: countParts(text.length) }
}

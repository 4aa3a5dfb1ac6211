// The SMS endpoint: one request reads from top to bottom here; sending goes on in send.ts.
import { Counter } from 'prom-client'
import { apiTypeNames, isApiType } from '../../contract/credits.ts'
import { sms } from '../../contract/sms.ts'
import { type Caller, requireNotSuspended } from '../accounts/authenticate.ts'
import type { Balance } from '../credits/store.ts'
import { type Call, requireParameters } from '../http/call.ts'
import { AppError } from '../http/errors.ts'
import { type ApiResponse, envelope } from '../http/responses.ts'
import { findOperation } from '../http/operation.ts'
import type { Product, Services } from '../services.ts'
import { describeRecord } from './answer.ts'
import { openDecisions } from './decide.ts'
import { type GuardedGateway, openGateways } from './gateways.ts'
import { forgetPast } from './number-limit-store.ts'
import { deleteOldSends } from './retention-store.ts'
import { registerReceipts } from './receipts.ts'
import { readFilter } from './records.ts'
import { openPrice, openSend, type Price, type Send, sendAction } from './send.ts'
import { findSends } from './store.ts'
import { listTemplates } from './templates.ts'

const mostRecords = 20

/** Counters of past minutes and days are of no use to anyone. */
const forgetEveryMs = 600_000
const recordsEveryMs = 3_600_000

export interface SmsProduct extends Product {
  /** The same send for a caller who did not come with a key. */
  readonly send: Send
  readonly price: Price
  /** In the configured order, with the state of each guard. */
  readonly gateways: readonly GuardedGateway[]
}

export function openSms(services: Services): SmsProduct {
  const { db, deciders, log } = services
  const outcomes = new Counter({
    name: 'tollgate_sms_gateway_calls_total',
    help: 'Messages given to an SMS gateway, by how it ended',
    labelNames: ['gateway', 'outcome'],
    registers: [services.metrics],
  })
  const gateways = openGateways(services.config, (gateway, outcome) => outcomes.inc({ gateway, outcome }))
  const decisions = openDecisions(services, gateways)
  const send = openSend(services, gateways)
  deciders.set(sendAction, decisions.decideOverdue)

  async function handle(call: Call): Promise<ApiResponse> {
    const { caller, values } = await services.authenticate(call, sms.common)
    const operation = findOperation(call, sms.operations, values.action)
    switch (operation) {
      case 'send':
        return send(call, caller)
      case 'templates':
        return showTemplates(caller)
      case 'credits':
        return showCredits(call, caller)
      case 'logs':
        return showRecords(call, caller)
    }
  }

  async function showTemplates({ account }: Caller): Promise<ApiResponse> {
    requireNotSuspended(account)
    const templates = await listTemplates(db, { kind: 'account', accountId: account.id })
    return envelope(
      templates.map(({ code, name, content, status }) => ({
        template_code: code,
        template_name: name,
        template_content: content,
        status,
      })),
    )
  }

  async function showCredits(call: Call, { account }: Caller): Promise<ApiResponse> {
    const { api_type: apiType = 'sms' } = requireParameters(call, sms.operations.credits.parameters)
    if (!isApiType(apiType)) {
      throw new AppError(1002, { zh: 'api_type 不存在', en: 'api_type is unknown' })
    }
    requireNotSuspended(account)
    return envelope(describeBalance(await services.credits.balance(account.id, apiType), call))
  }

  async function showRecords(call: Call, { account }: Caller): Promise<ApiResponse> {
    const filter = readFilter(call)
    requireNotSuspended(account)
    const records = await findSends(db, { ...filter, accountId: account.id }, mostRecords)
    return envelope(records.map((record) => describeRecord(record, call.language)))
  }

  const stopping = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let recordTimer: NodeJS.Timeout | undefined
  function forget(): void {
    db.write(forgetPast).catch((error: unknown) => log.warn({ err: error }, 'old number counts stay'))
  }

  function forgetRecords(): void {
    deleteOldSends(db, services.config.SMS_RECORD_DAYS, stopping.signal).catch((error: unknown) =>
      log.warn({ err: error }, 'old records of messages stay'),
    )
  }

  return {
    send,
    price: openPrice(services),
    gateways,
    served: { endpoint: sms, handle },
    routes: (api) => registerReceipts(api, services, decisions),
    start() {
      if (services.config.SMS_NUMBER_LIMITS.length > 0) timer = setInterval(forget, forgetEveryMs)
      if (services.config.SMS_RECORD_DAYS > 0)
        recordTimer = setInterval(forgetRecords, recordsEveryMs).unref()
    },
    async stop() {
      clearInterval(timer)
      clearInterval(recordTimer)
      stopping.abort()
    },
  }
}

function describeBalance(balance: Balance, call: Call) {
  const { api_type: apiType, total, used, remaining } = balance
  return {
    api_type: apiType,
    api_type_name: apiTypeNames[apiType][call.language],
    total,
    used,
    remaining,
    percentage_used: total === 0 ? 0 : Math.round((used / total) * 10_000) / 100,
  }
}

// The SMS endpoint: send, templates, credits and send records.
import { Counter } from 'prom-client'
import { apiTypeNames, isApiType } from '../../contract/credits.ts'
import { sms } from '../../contract/sms.ts'
import { hourMs, minuteMs } from '../../contract/time.ts'
import { type Caller, requireNotSuspended } from '../accounts/authenticate.ts'
import type { CreditBalance } from '../credits/store.ts'
import { type Call, requireParameters, findOperation } from '../http/call.ts'
import { createBatchTurns } from '../accounts/batch-turns.ts'
import { createCursors } from '../http/cursor.ts'
import { AppError } from '../http/errors.ts'
import { type ApiResponse, envelope } from '../http/responses.ts'
import type { Product, Services } from '../services.ts'
import { countOutcomes } from '../upstream/gateways.ts'
import { deleteExpiredCodes } from './code-store.ts'
import { createCodeCheck, createCodeHash } from './codes.ts'
import { type ComposeMessage, createComposer } from './compose.ts'
import { type BatchSending, createBatchSending } from './batches/accept.ts'
import { type BatchHandlers, createBatchHandlers } from './batches/api.ts'
import { pullInBatches, repairBatches } from './batches/finish.ts'
import { registerQueueMetrics } from './batches/metrics.ts'
import { deleteOldBatches } from './batches/store.ts'
import { createBatchWorker } from './batches/worker.ts'
import { createSendDecisions } from './decide.ts'
import { deleteOldEarlyReceipts } from './early-receipt-store.ts'
import { createEarlyReceipts } from './early-receipts.ts'
import { createSmsGateways, type GuardedSmsGateway } from './gateways.ts'
import { deletePastCounters } from './number-limit-store.ts'
import { registerReceipts } from './receipts.ts'
import { showRecords } from './records.ts'
import { showReplies } from './replies.ts'
import { deleteOldReplies } from './reply-store.ts'
import { createVendorReviewJob, type VendorReviewJob } from './reviews/reviews.ts'
import { createSend, sendAction, type SendSms } from './send.ts'
import { findSignatures } from './signature-store.ts'
import { deleteOldSends } from './store.ts'
import { listTemplates } from './templates.ts'

const tenMinutesMs = 10 * minuteMs

/** How long a message that another process accepted waits at most before this one looks for it. */
const pollMs = 500

const vendorPollMs = 5_000

const earlyReceiptsMs = 2_000

export interface SmsProduct extends Product {
  /** For the console: sends for a signed-in account holder. */
  readonly send: SendSms
  /** Text, parts and price of a message that is not sent yet. */
  readonly price: ComposeMessage
  readonly batchSending: BatchSending
  readonly batches: BatchHandlers
  readonly vendorReviews: VendorReviewJob
  /** In order of preference. */
  readonly gateways: readonly GuardedSmsGateway[]
}

/** A batch of a thousand messages takes 20 ms and more. */
const batchTurns = { maxRunning: 4, maxRunningOfShare: 2, maxWaiting: 1_000 }

const chargedOnce = [sms.operations.send, sms.operations.sendCode]

export function createSms(services: Services): SmsProduct {
  const { config, db, jobs } = services
  const gateways = createSmsGateways(config)
  new Counter({
    name: 'tollgate_sms_gateway_calls_total',
    help: 'Calls to SMS gateways by outcome',
    labelNames: ['gateway', 'outcome'],
    registers: [services.metrics],
    collect() {
      this.reset()
      for (const { count, ...labels } of countOutcomes(gateways)) this.inc(labels, count)
    },
  })
  const cursors = createCursors(services.secretFor('cursors'))
  const price = createComposer(services)
  const hashCode = createCodeHash(services.secretFor)
  const { send, sendCode } = createSend(services, gateways, price, hashCode)
  const checkCode = createCodeCheck(services, hashCode)
  const decisions = createSendDecisions(services, gateways)
  const earlyReceipts = createEarlyReceipts(services, decisions)
  services.deciders.set(sendAction, decisions.decideExpired)
  registerQueueMetrics(services.metrics, db)
  const worker = createBatchWorker(services, gateways)
  const accepting = createBatchSending(services, gateways, worker.wake)
  const batches = createBatchHandlers(services)
  const runBatch = createBatchTurns(batchTurns)
  /** Those of the console take the same turns. */
  const batchSending: BatchSending = {
    send: (call, caller) => runBatch(caller.account.id, () => accepting.send(call, caller)),
    check: (call, account) => runBatch(account.id, () => accepting.check(call, account)),
  }
  const vendorReviews = createVendorReviewJob(services)

  async function handle(call: Call): Promise<ApiResponse> {
    const { caller, values } = await services.authenticate(call, sms.common, chargedOnce)
    const operation = findOperation(call, sms.operations, values.action)
    switch (operation) {
      case 'send':
        return send(call, caller)
      case 'sendCode':
        return sendCode(call, caller)
      case 'checkCode':
        return checkCode(call, caller)
      case 'templates':
        return showTemplates(caller)
      case 'signatures':
        return showSignatures(caller)
      case 'credits':
        return showCredits(call, caller)
      case 'logs':
        return showRecords(db, cursors, call, caller)
      case 'replies':
        return showReplies(db, cursors, call, caller)
      case 'send_batch':
        return batchSending.send(call, caller)
      case 'get_batch':
        return batches.show(call, caller)
      case 'cancel_batch':
        return batches.cancel(call, caller)
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

  async function showSignatures({ account }: Caller): Promise<ApiResponse> {
    requireNotSuspended(account)
    const signatures = await findSignatures(db, account.id)
    return envelope(
      signatures.map(({ sign_name: signName, status }) => ({
        sign_name: signName,
        state: status,
        is_default: signName === account.sign_name,
      })),
    )
  }

  async function showCredits(call: Call, { account }: Caller): Promise<ApiResponse> {
    const { parameters } = sms.operations.credits
    const { api_type: apiType = parameters.api_type.default } = requireParameters(call, parameters)
    if (!isApiType(apiType)) {
      throw new AppError(1002, { zh: 'api_type 不存在', en: 'api_type is unknown' })
    }
    requireNotSuspended(account)
    return envelope(describeBalance(await services.credits.balance(account.id, apiType), call))
  }

  return {
    send,
    price,
    batchSending,
    batches,
    vendorReviews,
    gateways,
    served: { endpoint: sms, handle },
    routes: (api) => registerReceipts(api, services, { decisions, earlyReceipts }),
    start() {
      jobs.every(pollMs, 'sms_queue', async () => worker.wake())
      jobs.every(earlyReceiptsMs, 'apply_early_sms_receipts', (signal) => earlyReceipts.apply(signal))
      jobs.every(minuteMs, 'prune_early_sms_receipts', (signal) => deleteOldEarlyReceipts(db, signal))
      jobs.every(minuteMs, 'repair_sms_batches', () => repairBatches(db))
      jobs.every(minuteMs, 'pull_in_sms_batches', () => pullInBatches(db))
      if (vendorReviews.vendors.size > 0)
        jobs.every(vendorPollMs, 'sms_vendor_reviews', (signal) => vendorReviews.run(signal))
      // Also when no limit is set: one may have been set before, and its counters are left.
      jobs.every(tenMinutesMs, 'prune_sms_number_counters', (signal) => deletePastCounters(db, signal))
      jobs.every(tenMinutesMs, 'prune_sms_codes', (signal) => deleteExpiredCodes(db, signal))
      if (config.SMS_RECORD_DAYS > 0)
        jobs.every(hourMs, 'prune_sms_records', async (signal) => {
          await deleteOldBatches(db, config.SMS_RECORD_DAYS, signal)
          await deleteOldSends(db, config.SMS_RECORD_DAYS, signal)
          await deleteOldReplies(db, config.SMS_RECORD_DAYS, signal)
        })
    },
    stop: () => worker.stop(),
  }
}

function describeBalance(balance: CreditBalance, call: Call) {
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

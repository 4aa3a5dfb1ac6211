// Checks the five invariants of docs/faults.md with the public API, the console, `ledger check` and the providers' records.
import { setTimeout as sleep } from 'node:timers/promises'
import { type ApiType, apiTypes } from '../../contract/credits.ts'
import { creditRoutes } from '../../contract/console/credits.ts'
import type { LedgerEntry } from '../../contract/console/responses/credits.ts'
import { shortlink } from '../../contract/shortlink.ts'
import { sms } from '../../contract/sms.ts'
import { createBrowser } from '../support/console.ts'
import { post } from '../support/service.ts'
import { type Customer, outcomeOf } from './calls.ts'
import type { JournalEntry } from './journal.ts'
import { sendCall } from './load.ts'
import { inParallel, settle } from './settle.ts'
import type { TestSystem } from './test-system.ts'

export interface InvariantReport {
  readonly acknowledged: number
  /** Acknowledged calls that the service has lost, with the reason. */
  readonly lost: readonly string[]
  /** All other violations. */
  readonly problems: readonly string[]
}

const waitMs = 30_000

type LedgerOperation = NonNullable<LedgerEntry['operation']> & { readonly apiType: ApiType }

export async function checkInvariants(system: TestSystem): Promise<InvariantReport> {
  const check = await settle(system)
  const problems = [...system.problems]
  // Only the first reason is recorded, so that each call counts once.
  const lost = new Map<JournalEntry, string>()
  const markLost = (entry: JournalEntry, reason: string): void => {
    if (!lost.has(entry)) lost.set(entry, `${entry.call.apiType} ${entry.call.subject}: ${reason}`)
  }

  await inParallel(system.journal.entries, async (entry) => {
    const reason = (await missingResult(system, entry)) ?? (await replayProblem(system, entry))
    if (reason === undefined) return
    if (entry.outcome === 'success') markLost(entry, reason)
    else problems.push(`${entry.call.apiType} ${entry.call.subject}, reported as failed: ${reason}`)
  })
  for (const customer of system.customers) {
    const entries = await readLedger(system, customer)
    const operations = operationsOf(entries, problems)
    for (const entry of system.journal.entries) {
      if (entry.customer === customer) matchOperation(entry, operations, markLost, problems)
    }
    for (const apiType of apiTypes) {
      problems.push(...(await balanceProblems(system, customer, apiType, entries, lost)))
    }
  }
  problems.push(...sendProblems(system))
  if (!check.ok) problems.push(...check.problems.map((problem) => `ledger check: ${problem}`))
  if (check.open > 0) problems.push(`${check.open} operations are still held`)
  return { acknowledged: system.journal.acknowledged().length, lost: [...lost.values()], problems }
}

/** (2) The result of a successful call exists: the link redirects to its target, the message is on record. */
async function missingResult(system: TestSystem, entry: JournalEntry): Promise<string | undefined> {
  if (entry.outcome !== 'success') return undefined
  const { customer, call, response } = entry
  const { url } = system.slots[entry.number % system.slots.length]!
  const credentials = { username: customer.username, api_key: customer.key }
  if (call.apiType === 'short_link') {
    const { link_id, short_code } = response?.body.data ?? {}
    const shown = await post(`${url}${shortlink.path}`, { ...credentials, action: 'get', link_id })
    if (shown.body.data?.short_code !== short_code) return 'the link does not exist'
    const visit = await fetch(`${url}/${short_code}`, { redirect: 'manual' })
    await visit.body?.cancel()
    if (visit.headers.get('location') !== call.subject)
      return `the link does not redirect to its target (${visit.status})`
  }
  if (call.apiType === 'sms') {
    const { biz_id } = response?.body.data ?? {}
    const found = await post(`${url}${sms.path}`, { ...credentials, action: 'get_status', biz_id })
    const record = found.body.data?.[0]
    if (record?.phone_number !== call.subject) return 'the message is not on record'
    if (record.success !== true) return 'the message is on record as failed'
    if (!system.providers.messages.get(call.subject)?.bizIds.includes(biz_id))
      return 'the message was never sent'
  }
  return undefined
}

/** (2) A repeated call with an idempotency key gets the first response again and has no second effect. */
async function replayProblem(system: TestSystem, entry: JournalEntry): Promise<string | undefined> {
  if (entry.idempotencyKey === undefined || system.epoch() > 0) return undefined
  if (entry.outcome !== 'success' && entry.outcome !== 'failed') return undefined
  const { url } = system.slots[entry.number % system.slots.length]!
  const reply = await sendCall(entry, url, waitMs, entry.customer.key)
  if (typeof reply === 'string') return 'the repeated call got no response'
  if (reply.headers.get('idempotent-replayed') === null) return 'the repeated call was handled as a new call'
  if (outcomeOf(entry.call, reply) !== entry.outcome)
    return `the repeated call had another outcome (${reply.status})`
  const same = JSON.stringify(reply.body) === JSON.stringify(entry.response?.body)
  return entry.outcome === 'success' && !same ? 'the repeated call got another response' : undefined
}

async function readLedger(system: TestSystem, customer: Customer): Promise<LedgerEntry[]> {
  const browser = createBrowser(system.slots[0]!)
  await browser.signIn(customer.username, customer.password)
  // A service that responds before its commit may not find the new session yet.
  await sleep(100)
  const entries: LedgerEntry[] = []
  let before: number | null = null
  do {
    const sent: Record<string, number> = before === null ? { size: 200 } : { size: 200, before }
    const { status, body } = await browser.call(creditRoutes.ledger, { sent })
    if (status !== 200) throw new Error(`the console returned ${status}`)
    entries.push(...(body.items as LedgerEntry[]))
    before = body.next as number | null
  } while (before !== null)
  return entries
}

/** (3) Every operation has one charge, one end and at most one refund. Returns the operations by request id. */
function operationsOf(entries: readonly LedgerEntry[], problems: string[]): Map<string, LedgerOperation> {
  const operations = new Map<string, LedgerOperation>()
  const charged = new Set<number>()
  const refunded = new Set<number>()
  for (const { kind, operation, api_type: apiType } of entries) {
    if (operation === null) continue
    const seen = kind === 'charge' ? charged : refunded
    if (seen.has(operation.id)) problems.push(`operation ${operation.id} has two entries of kind ${kind}`)
    seen.add(operation.id)
    operations.set(operation.request_id, { ...operation, apiType })
  }
  for (const operation of operations.values()) {
    if (operation.state === 'held') problems.push(`operation ${operation.id} is still held`)
    if (!charged.has(operation.id)) problems.push(`operation ${operation.id} was never charged`)
    if (operation.given_back > 0 !== refunded.has(operation.id)) {
      problems.push(`operation ${operation.id} has a refund of ${operation.given_back}, the ledger disagrees`)
    }
  }
  return operations
}

/** (2) The response agrees with the ledger's operation of the same request id. */
function matchOperation(
  entry: JournalEntry,
  operations: ReadonlyMap<string, LedgerOperation>,
  markLost: (entry: JournalEntry, reason: string) => void,
  problems: string[],
): void {
  if (entry.requestId === undefined) return
  const operation = operations.get(entry.requestId)
  if (entry.outcome === 'success') {
    if (!operation) markLost(entry, 'no charge in the ledger')
    else if (operation.cost - operation.given_back !== entry.spent)
      markLost(entry, 'the ledger has another cost')
  } else if (entry.outcome === 'refused' && operation) {
    problems.push(`${entry.call.subject}: refused but charged`)
  } else if (entry.outcome === 'failed' && operation?.state === 'settled' && entry.call.apiType !== 'sms') {
    problems.push(`${entry.call.subject}: failed but not refunded`)
  }
}

/** (1) Grants − charges + refunds = remaining ≥ 0, and the credits used lie between the certain and the possible cost. */
async function balanceProblems(
  system: TestSystem,
  customer: Customer,
  apiType: ApiType,
  ledger: readonly LedgerEntry[],
  lost: ReadonlyMap<JournalEntry, string>,
): Promise<string[]> {
  const { body } = await post(`${system.slots[0]!.url}${sms.path}`, {
    username: customer.username,
    api_key: customer.key,
    action: 'get_credits',
    api_type: apiType,
  })
  const { used, remaining } = body.data as { used: number; remaining: number }
  const where = `${customer.username} ${apiType}`
  const problems: string[] = []
  const sum = ledger.filter((one) => one.api_type === apiType).reduce((all, one) => all + one.amount, 0)
  if (sum !== remaining)
    problems.push(`${where}: the sum of the ledger is ${sum}, the balance is ${remaining}`)
  if (remaining < 0) problems.push(`${where}: the balance is negative`)

  let min = 0
  let max = 0
  for (const entry of system.journal.entries) {
    if (entry.customer !== customer || entry.call.apiType !== apiType) continue
    // The repeated call of a lost one may have been charged as a new call.
    if (lost.has(entry)) max += entry.call.cost
    else if (entry.outcome === 'success') [min, max] = [min + entry.spent, max + entry.spent]
    else if (entry.outcome === 'unknown') max += entry.call.cost
    // The outcome was ambiguous, and the receipt reported a delivery later.
    else if (entry.outcome === 'failed' && system.providers.messages.get(entry.call.subject)?.accepted)
      max += 1
  }
  if (used < min || used > max) problems.push(`${where}: ${used} used, expected ${min} to ${max}`)
  return problems
}

/** (5) No message, person or address was sent to a provider twice, and no `biz_id` was used twice. */
function sendProblems({ providers }: TestSystem): string[] {
  const problems: string[] = []
  const numbers = new Set<string>()
  for (const { phone, bizIds } of providers.messages.values()) {
    if (bizIds.length > 1) problems.push(`${phone} was sent ${bizIds.length} messages for one call`)
    for (const bizId of bizIds) {
      if (numbers.has(bizId)) problems.push(`biz_id ${bizId} was sent twice`)
      numbers.add(bizId)
    }
  }
  for (const [name, count] of [...providers.persons, ...providers.addresses]) {
    if (count > 1) problems.push(`${name} was checked ${count} times for one call`)
  }
  return problems
}

// The five invariants, looked at from outside: the public API, the console's ledger, `ledger check`, and the vendors' own books.
import { setTimeout as sleep } from 'node:timers/promises'
import { type ApiType, apiTypes } from '../../contract/credits.ts'
import { creditRoutes, type LedgerEntry } from '../../contract/console/credits.ts'
import { shortlink } from '../../contract/shortlink.ts'
import { sms } from '../../contract/sms.ts'
import { openBrowser } from '../support/console.ts'
import { post } from '../support/service.ts'
import { type Customer, meaningOf } from './calls.ts'
import type { Entry } from './journal.ts'
import { sendCall } from './load.ts'
import { inParallel, settle } from './settle.ts'
import type { World } from './world.ts'

export interface Verdict {
  readonly acknowledged: number
  /** Acknowledged calls that the service no longer knows of, with the reason. */
  readonly lost: readonly string[]
  /** Everything else that must not be. */
  readonly problems: readonly string[]
}

const waitMs = 30_000

type Operation = NonNullable<LedgerEntry['operation']> & { readonly apiType: ApiType }

export async function checkInvariants(world: World): Promise<Verdict> {
  const check = await settle(world)
  const problems = [...world.problems]
  // One reason is enough: a call is lost once.
  const lost = new Map<Entry, string>()
  const lose = (entry: Entry, reason: string): void => {
    if (!lost.has(entry)) lost.set(entry, `${entry.wish.apiType} ${entry.wish.subject}: ${reason}`)
  }

  await inParallel(world.journal.entries, async (entry) => {
    const reason = (await missingThing(world, entry)) ?? (await forgottenRepeat(world, entry))
    if (reason === undefined) return
    if (entry.fate === 'success') lose(entry, reason)
    else problems.push(`${entry.wish.apiType} ${entry.wish.subject}, answered as failed: ${reason}`)
  })
  for (const customer of world.customers) {
    const entries = await readLedger(world, customer)
    const operations = operationsOf(entries, problems)
    for (const entry of world.journal.entries) {
      if (entry.customer === customer) matchOperation(entry, operations, lose, problems)
    }
    for (const apiType of apiTypes) {
      problems.push(...(await balanceProblems(world, customer, apiType, entries, lost)))
    }
  }
  problems.push(...sendProblems(world))
  if (!check.ok) problems.push(...check.problems.map((problem) => `ledger check: ${problem}`))
  if (check.open > 0) problems.push(`${check.open} operations stay open`)
  return { acknowledged: world.journal.acknowledged().length, lost: [...lost.values()], problems }
}

/** (2) What was sold exists: the link leads where it should, the message is on record. */
async function missingThing(world: World, entry: Entry): Promise<string | undefined> {
  if (entry.fate !== 'success') return undefined
  const { customer, wish, answer } = entry
  const { url } = world.slots[entry.number % world.slots.length]!
  const credentials = { username: customer.username, api_key: customer.key }
  if (wish.apiType === 'short_link') {
    const { link_id, short_code } = answer?.body.data ?? {}
    const shown = await post(`${url}${shortlink.path}`, { ...credentials, action: 'get', link_id })
    if (shown.body.data?.short_code !== short_code) return 'the link does not exist'
    const visit = await fetch(`${url}/${short_code}`, { redirect: 'manual' })
    await visit.body?.cancel()
    if (visit.headers.get('location') !== wish.subject) return `the link leads nowhere (${visit.status})`
  }
  if (wish.apiType === 'sms') {
    const { biz_id } = answer?.body.data ?? {}
    const found = await post(`${url}${sms.path}`, { ...credentials, action: 'get_status', biz_id })
    const record = found.body.data?.[0]
    if (record?.phone_number !== wish.subject) return 'the message is not on record'
    if (record.success !== true) return 'the message is on record as failed'
    if (!world.gateways.messages.get(wish.subject)?.bizIds.includes(biz_id))
      return 'the message was never sent'
  }
  return undefined
}

/** (2) A call with a key is answered again as it was answered first, and nothing happens a second time. */
async function forgottenRepeat(world: World, entry: Entry): Promise<string | undefined> {
  if (entry.idempotencyKey === undefined || world.epoch() > 0) return undefined
  if (entry.fate !== 'success' && entry.fate !== 'failed') return undefined
  const { url } = world.slots[entry.number % world.slots.length]!
  const reply = await sendCall(entry, url, waitMs, entry.customer.key)
  if (typeof reply === 'string') return 'the repeat got no answer'
  if (reply.headers.get('idempotent-replayed') === null) return 'the repeat was taken for a new call'
  if (meaningOf(entry.wish, reply) !== entry.fate) return `the repeat was told otherwise (${reply.status})`
  const same = JSON.stringify(reply.body) === JSON.stringify(entry.answer?.body)
  return entry.fate === 'success' && !same ? 'the repeat got another answer' : undefined
}

async function readLedger(world: World, customer: Customer): Promise<LedgerEntry[]> {
  const browser = openBrowser(world.slots[0]!)
  await browser.signIn(customer.username, customer.password)
  // A service that answers before its commit does not know its own session yet.
  await sleep(100)
  const entries: LedgerEntry[] = []
  let before: number | null = null
  do {
    const sent: Record<string, number> = before === null ? { size: 200 } : { size: 200, before }
    const { status, body } = await browser.call(creditRoutes.ledger, { sent })
    if (status !== 200) throw new Error(`the console answered ${status}`)
    entries.push(...(body.items as LedgerEntry[]))
    before = body.next as number | null
  } while (before !== null)
  return entries
}

/** (3) Every operation has one charge, one end, and at most one giving back. By request id. */
function operationsOf(entries: readonly LedgerEntry[], problems: string[]): Map<string, Operation> {
  const operations = new Map<string, Operation>()
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
    if (operation.state === 'held') problems.push(`operation ${operation.id} has no end`)
    if (!charged.has(operation.id)) problems.push(`operation ${operation.id} was never charged`)
    if (operation.given_back > 0 !== refunded.has(operation.id)) {
      problems.push(
        `operation ${operation.id} says it gave ${operation.given_back} back, the ledger does not`,
      )
    }
  }
  return operations
}

/** (2) What was answered is what the ledger says of that very request. */
function matchOperation(
  entry: Entry,
  operations: ReadonlyMap<string, Operation>,
  lose: (entry: Entry, reason: string) => void,
  problems: string[],
): void {
  if (entry.requestId === undefined) return
  const operation = operations.get(entry.requestId)
  if (entry.fate === 'success') {
    if (!operation) lose(entry, 'no charge in the ledger')
    else if (operation.cost - operation.given_back !== entry.spent)
      lose(entry, 'the ledger has another price')
  } else if (entry.fate === 'refused' && operation) {
    problems.push(`${entry.wish.subject}: refused, and charged all the same`)
  } else if (entry.fate === 'failed' && operation?.state === 'settled' && entry.wish.apiType !== 'sms') {
    problems.push(`${entry.wish.subject}: failed, and not given back`)
  }
}

/** (1) Grants − charges + refunds = remaining ≥ 0, and what was spent lies between what is known and what may be. */
async function balanceProblems(
  world: World,
  customer: Customer,
  apiType: ApiType,
  ledger: readonly LedgerEntry[],
  lost: ReadonlyMap<Entry, string>,
): Promise<string[]> {
  const { body } = await post(`${world.slots[0]!.url}${sms.path}`, {
    username: customer.username,
    api_key: customer.key,
    action: 'get_credits',
    api_type: apiType,
  })
  const { used, remaining } = body.data as { used: number; remaining: number }
  const where = `${customer.username} ${apiType}`
  const problems: string[] = []
  const sum = ledger.filter((one) => one.api_type === apiType).reduce((all, one) => all + one.amount, 0)
  if (sum !== remaining) problems.push(`${where}: the ledger comes to ${sum}, the balance is ${remaining}`)
  if (remaining < 0) problems.push(`${where}: the balance is negative`)

  let least = 0
  let most = 0
  for (const entry of world.journal.entries) {
    if (entry.customer !== customer || entry.wish.apiType !== apiType) continue
    // A lost call whose repeat was taken for a new one has been paid after all.
    if (lost.has(entry)) most += entry.wish.cost
    else if (entry.fate === 'success') [least, most] = [least + entry.spent, most + entry.spent]
    else if (entry.fate === 'unknown') most += entry.wish.cost
    // Held as ambiguous, and then the receipt said that it did arrive.
    else if (entry.fate === 'failed' && world.gateways.messages.get(entry.wish.subject)?.accepted) most += 1
  }
  if (used < least || used > most) problems.push(`${where}: ${used} spent, not within ${least} and ${most}`)
  return problems
}

/** (5) No message, person or address went out twice; no serial number was used for two. */
function sendProblems({ gateways }: World): string[] {
  const problems: string[] = []
  const numbers = new Set<string>()
  for (const { phone, bizIds } of gateways.messages.values()) {
    if (bizIds.length > 1) problems.push(`${phone} was sent ${bizIds.length} messages for one call`)
    for (const bizId of bizIds) {
      if (numbers.has(bizId)) problems.push(`serial number ${bizId} was sent twice`)
      numbers.add(bizId)
    }
  }
  for (const [name, asked] of [...gateways.persons, ...gateways.addresses]) {
    if (asked > 1) problems.push(`${name} was asked about ${asked} times for one call`)
  }
  return problems
}

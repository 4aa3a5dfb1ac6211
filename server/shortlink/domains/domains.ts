// The domain pools: which addresses a link gets, and changes of the pools.
import { maxHostLength } from '../../../contract/link-domains.ts'
import { type Actor, recordChange } from '../../audit/audit.ts'
import type { Database, Tx } from '../../db/database.ts'
import { AppError, invalidField } from '../../http/errors.ts'
import type { Lookup } from '../redirect/lookup-store.ts'
import type { Hosts, DomainPool } from '../store.ts'
import { listVerifiedHosts, markOwnDomainBlocked } from '../own-domains/store.ts'
import { emitEvents } from '../../events/emit.ts'
import { insertDomain, markDomainBlocked, type PoolDomainRow, recordProbe, removeDomain } from './store.ts'

export function isPool(text: string): text is DomainPool {
  return text === 'a' || text === 'b'
}

/** Assigns the domains of both pools in rotation. */
export interface DomainRotation {
  /** For a new link. */
  next(domains: readonly PoolDomainRow[]): Hosts
  /** For a refresh: the domains that follow the current ones. */
  after(domains: readonly PoolDomainRow[], current: Hosts): Hosts
}

export function createDomainRotation(start: number = Math.floor(Math.random() * 1_000_000)): DomainRotation {
  let turn = start
  return {
    next(domains) {
      turn += 1
      return { a: pick(usableHosts(domains, 'a'), turn), b: pick(usableHosts(domains, 'b'), turn) }
    },
    after: (domains, current) => ({
      a: following(usableHosts(domains, 'a'), current.a),
      b: following(usableHosts(domains, 'b'), current.b),
    }),
  }
}

function usableHosts(domains: readonly PoolDomainRow[], pool: DomainPool): string[] {
  return domains
    .filter((domain) => domain.pool === pool && domain.removed === 0 && domain.blocked === 0)
    .map((domain) => domain.host)
}

/** Returns an empty host for an empty pool: the address is then on PUBLIC_URL. */
function pick(hosts: readonly string[], turn: number): string {
  return hosts.length === 0 ? '' : hosts[turn % hosts.length]!
}

function following(hosts: readonly string[], current: string): string {
  return hosts.find((host) => host > current) ?? hosts[0] ?? ''
}

export function formatAddresses(
  publicUrl: string,
  code: string,
  hosts: Hosts,
): { a_url: string; b_url: string } {
  const scheme = publicUrl.slice(0, publicUrl.indexOf('://'))
  return {
    a_url: hosts.a === '' ? `${publicUrl}/${code}` : `${scheme}://${hosts.a}/${code}`,
    b_url: hosts.b === '' ? `${publicUrl}/b/${code}` : `${scheme}://${hosts.b}/${code}`,
  }
}

/** The form of a Host header: lower case, ASCII, with a port only when it is not the default one. */
export function normalizeHost(input: string): string | undefined {
  if (input.length > maxHostLength || !/^[\p{L}\p{N}.-]+(:\d{1,5})?$/u.test(input)) return undefined
  const host = URL.parse(`http://${input}`)?.host.replace(/\.$/, '')
  return host === '' ? undefined : host
}

/** Processes that serve links may use the change a moment later. */
export async function addPoolDomain(
  db: Database,
  actor: Actor,
  pool: DomainPool,
  input: string,
): Promise<string> {
  const host = requireHost(input)
  const result = await db.write(async (tx) => {
    const inserted = await insertDomain(tx, pool, host)
    if (inserted === 'added') await recordChange(tx, actor, 'domain.add', host, { pool })
    return inserted
  })
  if (result === 'other_pool') {
    throw invalidHost(
      `${host} 属于另一个域名池，已有链接的含义不能改变`,
      `${host} belongs to the other pool for good: links in use depend on it`,
    )
  }
  return host
}

export async function removePoolDomain(
  db: Database,
  actor: Actor,
  pool: DomainPool,
  input: string,
): Promise<string> {
  const host = requireHost(input)
  const isRemoved = await db.write(async (tx) => {
    const removed = await removeDomain(tx, pool, host)
    if (removed) await recordChange(tx, actor, 'domain.remove', host, { pool })
    return removed
  })
  if (!isRemoved) {
    throw new AppError(1002, { zh: `${host} 不在域名池 ${pool} 中`, en: `${host} is not in pool ${pool}` })
  }
  return host
}

function requireHost(input: string): string {
  const host = normalizeHost(input)
  if (host === undefined) {
    throw invalidHost(
      `${input} 不是域名，请写成 s.example.com`,
      `${input} is not a host name; write s.example.com`,
    )
  }
  return host
}

export function invalidHost(zh: string, en: string): AppError {
  return invalidField('host', { zh, en })
}

/** The interface to the console and the domain check. A change holds for every process when its method resolves. */
export interface WatchedDomains {
  add(actor: Actor, pool: DomainPool, input: string): Promise<string>
  remove(actor: Actor, pool: DomainPool, input: string): Promise<void>
  /** Every domain that still serves links. */
  hosts(): Promise<string[]>
  recordVerdict(actor: Actor, host: string, isBlocked: boolean): Promise<void>
  /** Records a check without a verdict. */
  probeFailed(actor: Actor, host: string): Promise<void>
}

export function createWatchedDomains(
  db: Database,
  lookup: Lookup,
  log: { warn(facts: object, text: string): void; info(facts: object, text: string): void },
): WatchedDomains {
  return {
    async add(actor, pool, input) {
      const host = await addPoolDomain(db, actor, pool, input)
      await lookup.publishChanges()
      return host
    },
    async remove(actor, pool, input) {
      await removePoolDomain(db, actor, pool, input)
      await lookup.publishChanges()
    },
    async hosts() {
      const [{ domains }, own] = await Promise.all([lookup.pools(), listVerifiedHosts(db)])
      return [...domains.map((domain) => domain.host), ...own]
    },
    async recordVerdict(actor, host, isBlocked) {
      const isChanged = await db.write(async (tx) => {
        await recordChange(tx, actor, 'domain.probe', host, { result: isBlocked ? 'blocked' : 'ok' })
        await recordProbe(tx, host, false)
        await recordOwnVerdict(tx, host, isBlocked)
        return markDomainBlocked(tx, host, isBlocked)
      })
      if (!isChanged) return
      await lookup.publishChanges()
      if (isBlocked) log.warn({ domain: host }, 'link domain is blocked and gets no new links')
      else log.info({ domain: host }, 'link domain is no longer blocked')
    },
    probeFailed: (actor, host) =>
      db.write(async (tx) => {
        await recordChange(tx, actor, 'domain.probe', host, { result: 'failed' })
        await recordProbe(tx, host, true)
      }),
  }
}

/** The account of an own domain learns of a change by an event. */
async function recordOwnVerdict(tx: Tx, host: string, isBlocked: boolean): Promise<void> {
  const accountId = await markOwnDomainBlocked(tx, host, isBlocked)
  if (accountId === undefined) return
  const type = isBlocked ? 'domain.blocked' : 'domain.unblocked'
  // Not on its watch list, so there is no id.
  await emitEvents(tx, [{ accountId, type, data: { watch_id: null, url: `http://${host}/`, host } }])
}

// The domain pools: which addresses a link gets, and what is done when a domain turns out to be blocked.
import { type Actor, recordChange } from '../../audit/audit.ts'
import type { Database } from '../../db/database.ts'
import { AppError } from '../../http/errors.ts'
import { addDomain, markDomainBlocked, noteProbe, type PoolDomain, removeDomain } from './store.ts'
import type { Lookup } from '../redirect/lookup-store.ts'
import type { Hosts, Pool } from '../store.ts'

export function isPool(word: string): word is Pool {
  return word === 'a' || word === 'b'
}

/** Deals the domains of both pools out in turn. */
export interface Dealer {
  /** For a new link. */
  next(domains: readonly PoolDomain[]): Hosts
  /** For a refresh: the domains after those the link has. */
  after(domains: readonly PoolDomain[], present: Hosts): Hosts
}

export function openDealer(start: number = Math.floor(Math.random() * 1_000_000)): Dealer {
  let turn = start
  return {
    next(domains) {
      turn += 1
      return { a: pick(usable(domains, 'a'), turn), b: pick(usable(domains, 'b'), turn) }
    },
    after: (domains, present) => ({
      a: following(usable(domains, 'a'), present.a),
      b: following(usable(domains, 'b'), present.b),
    }),
  }
}

function usable(domains: readonly PoolDomain[], pool: Pool): string[] {
  return domains
    .filter((domain) => domain.pool === pool && domain.removed === 0 && domain.blocked === 0)
    .map((domain) => domain.host)
}

/** An empty pool gives an empty host: the address stands on PUBLIC_URL. */
function pick(hosts: readonly string[], turn: number): string {
  return hosts.length === 0 ? '' : hosts[turn % hosts.length]!
}

function following(hosts: readonly string[], present: string): string {
  return hosts.find((host) => host > present) ?? hosts[0] ?? ''
}

export function addressesOf(publicUrl: string, code: string, hosts: Hosts): { a_url: string; b_url: string } {
  const scheme = publicUrl.slice(0, publicUrl.indexOf('://'))
  return {
    a_url: hosts.a === '' ? `${publicUrl}/${code}` : `${scheme}://${hosts.a}/${code}`,
    b_url: hosts.b === '' ? `${publicUrl}/b/${code}` : `${scheme}://${hosts.b}/${code}`,
  }
}

/** Host names as they come in a Host header: lower case, ASCII, a port only when it is not the usual one. */
function normalHost(given: string): string | undefined {
  if (given.length > 253 || !/^[\p{L}\p{N}.-]+(:\d{1,5})?$/u.test(given)) return undefined
  if (!URL.canParse(`http://${given}`)) return undefined
  const host = new URL(`http://${given}`).host
  const plain = host.endsWith('.') ? host.slice(0, -1) : host
  return plain === '' ? undefined : plain
}

export async function addPoolDomain(db: Database, actor: Actor, pool: Pool, given: string): Promise<string> {
  const host = requireHost(given)
  const added = await db.write(async (tx) => {
    const result = await addDomain(tx, pool, host)
    if (result === 'added') await recordChange(tx, actor, 'domain.add', host, { pool })
    return result
  })
  if (added === 'other_pool') {
    throw wrongHost(
      `${host} 属于另一个域名池，已有链接的含义不能改变`,
      `${host} belongs to the other pool for good: links in use depend on it`,
    )
  }
  return host
}

export async function removePoolDomain(
  db: Database,
  actor: Actor,
  pool: Pool,
  given: string,
): Promise<string> {
  const host = requireHost(given)
  const removed = await db.write(async (tx) => {
    const wasThere = await removeDomain(tx, pool, host)
    if (wasThere) await recordChange(tx, actor, 'domain.remove', host, { pool })
    return wasThere
  })
  if (!removed) {
    throw new AppError(1002, { zh: `${host} 不在域名池 ${pool} 中`, en: `${host} is not in pool ${pool}` })
  }
  return host
}

function requireHost(given: string): string {
  const host = normalHost(given)
  if (host === undefined) {
    throw wrongHost(
      `${given} 不是域名，请写成 s.example.com`,
      `${given} is no host name; write s.example.com`,
    )
  }
  return host
}

function wrongHost(zh: string, en: string): AppError {
  return new AppError(1002, { zh, en }, { fields: { host: { zh, en } } })
}

/** What the domain block check needs to know and to tell. */
export interface WatchedDomains {
  /** Every domain that still serves links. */
  hosts(): Promise<string[]>
  found(host: string, blocked: boolean): Promise<void>
  /** Somebody looked and learnt nothing. */
  notFoundOut(host: string): Promise<void>
}

export function watchedDomains(
  db: Database,
  lookup: Lookup,
  log: { warn(facts: object, text: string): void; info(facts: object, text: string): void },
): WatchedDomains {
  return {
    hosts: async () => (await lookup.poolsNow()).domains.map((domain) => domain.host),
    async found(host, blocked) {
      const isNews = await db.write(async (tx) => {
        await noteProbe(tx, host, false)
        return markDomainBlocked(tx, host, blocked)
      })
      if (!isNews) return
      if (blocked) log.warn({ domain: host }, 'link domain is blocked: it gets no new links')
      else log.info({ domain: host }, 'link domain is no longer blocked')
    },
    notFoundOut: (host) => db.write((tx) => noteProbe(tx, host, true)),
  }
}

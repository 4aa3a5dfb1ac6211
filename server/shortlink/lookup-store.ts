// Where a code leads: the one question every visitor asks.
import type { RedirectType } from '../../contract/shortlink.ts'
import { coalesce } from '../db/coalesce.ts'
import type { Database, DirectReads, Queries } from '../db/database.ts'
import type { PoolDomain } from './domain-store.ts'
import type { Pool } from './store.ts'

export interface Destination {
  readonly id: number
  readonly type: RedirectType
  readonly locationA: string
  readonly locationB: string
  /** Until when the code works, in milliseconds; undefined for a code that was not refreshed. */
  readonly liveUntil: number | undefined
  /** Links of suspended accounts lead nowhere. */
  readonly suspended: boolean
}

interface Row {
  readonly code: string
  readonly id: number
  readonly redirect_type: RedirectType
  readonly location_a: string
  readonly location_b: string
  readonly live_until: number | null
  readonly suspended: number
}

const rowSql = `SELECT c.code, l.id, l.redirect_type, l.location_a, l.location_b, c.live_until, a.suspended
  FROM link_code c JOIN link l ON l.id = c.link_id JOIN account a ON a.id = l.account_id WHERE c.code`
const oneRowSql = `${rowSql} = ?`
const manyRowsSql = `${rowSql} = ANY(?)`

const domainSql =
  'SELECT host, pool, removed, blocked, blocked_at, added_at FROM link_domain ORDER BY pool, host'

/** On SQLite every answer comes at once, on PostgreSQL as a promise. */
export interface Lookup {
  find(code: string): Destination | undefined | Promise<Destination | undefined>
  pools(): Pools | Promise<Pools>
}

export interface Pools {
  readonly domains: readonly PoolDomain[]
  /** The pool of every host that is or was in one. */
  readonly byHost: ReadonlyMap<string, Pool>
}

export function openLookup(db: Database): Lookup {
  return db.direct ? directLookup(db.direct) : batchedLookup(db)
}

/** How many links a process remembers between requests: a few megabytes, whatever the number of links. */
const rememberedLinks = 20_000

/**
 * SQLite: in the same turn, from memory or from the file. Once in each turn of the event loop the file is asked whether
 * anyone has committed since, and if so, whether that touched links (`link_change`); memory is empty after that.
 */
function directLookup(direct: DirectReads): Lookup {
  const links = twoGenerations<Destination>(rememberedLinks / 2)
  let pools: Pools | undefined
  let isFresh = false
  let dataVersion = -1
  let linkVersion = -1

  const nextTurn = () => void (isFresh = false)

  function refresh(): void {
    const version = direct.dataVersion()
    if (version !== dataVersion) {
      const change = direct.one<{ version: number }>('SELECT version FROM link_change WHERE id = 1')
      if (change?.version !== linkVersion) {
        linkVersion = change?.version ?? -1
        links.clear()
        pools = undefined
      }
      dataVersion = version
    }
    isFresh = true
    setImmediate(nextTurn)
  }

  return {
    find(code) {
      if (!isFresh) refresh()
      const known = links.get(code)
      if (known !== undefined) return known
      const row = direct.one<Row>(oneRowSql, [code])
      if (!row) return undefined
      const found = destinationOf(row)
      links.set(code, found)
      return found
    },
    pools() {
      if (!isFresh) refresh()
      pools ??= poolsOf(direct.all<PoolDomain>(domainSql))
      return pools
    },
  }
}

/** PostgreSQL: one question for all visitors of a turn. Nothing is remembered, so nothing can be stale. */
function batchedLookup(db: Database): Lookup {
  const findPools = coalesce(async () => new Map([['', poolsOf(await listPoolDomains(db))]]))
  return {
    find: coalesce(async (codes) => {
      const rows = await db.all<Row>(manyRowsSql, [codes])
      return new Map(rows.map((row) => [row.code, destinationOf(row)]))
    }),
    pools: async () => (await findPools('')) ?? poolsOf([]),
  }
}

export function listPoolDomains(queries: Queries): Promise<PoolDomain[]> {
  return queries.all<PoolDomain>(domainSql)
}

function poolsOf(domains: readonly PoolDomain[]): Pools {
  return { domains, byHost: new Map(domains.map(({ host, pool }) => [host, pool])) }
}

function destinationOf(row: Row): Destination {
  return {
    id: row.id,
    type: row.redirect_type,
    locationA: row.location_a,
    locationB: row.location_b,
    liveUntil: row.live_until ?? undefined,
    suspended: row.suspended === 1,
  }
}

/**
 * Remembers the latest, and drops the oldest half at once when it is full. Deleting one by one from the front of a Map
 * leaves holes that every next look at the front has to step over.
 */
function twoGenerations<V>(half: number) {
  let young = new Map<string, V>()
  let old = new Map<string, V>()
  function set(key: string, value: V): void {
    if (young.size >= half) {
      old = young
      young = new Map()
    }
    young.set(key, value)
  }
  return {
    set,
    get(key: string): V | undefined {
      const value = young.get(key)
      if (value !== undefined) return value
      const older = old.get(key)
      if (older !== undefined) set(key, older)
      return older
    },
    clear() {
      young = new Map()
      old = new Map()
    },
  }
}

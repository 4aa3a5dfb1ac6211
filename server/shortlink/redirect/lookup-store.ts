// Finds the destination of a code, from the cache or the database.
import { coalesce } from '../../db/coalesce.ts'
import type { Channel, Database, DirectReads, Queries } from '../../db/database.ts'
import { freshMs } from '../../db/notifications.ts'
import { isUnreachable } from '../../db/postgres-errors.ts'
import type { Tables } from '../../db/schema.ts'
import type { BannedHosts } from '../bans/banned-hosts.ts'
import { leadsToBanned } from '../bans/destinations.ts'
import type { Codes } from '../codes/store.ts'
import type { PoolDomainRow } from '../domains/store.ts'
import { readRules, type StateSource, type StoredRule } from '../options/record.ts'
import type { DomainPool } from '../store.ts'
import { createChangeBroadcast, linkChannel } from './change-broadcast-store.ts'
import { createClockCache } from './clock-cache.ts'
import { createLinkCache } from './link-cache.ts'

export interface Destination {
  readonly id: number
  readonly accountId: number
  readonly type: Tables['link']['redirect_type']
  readonly locationA: string
  readonly locationB: string
  /** Of a link with an interstitial page; empty for others. */
  readonly title: string
  /** When a retired code stops working, in milliseconds; undefined for a current code. */
  readonly liveUntil: number | undefined
  /** Whether the account is suspended. */
  readonly suspended: boolean
  /** Undefined for an ordinary link, so that its visits cost nothing more. */
  readonly conditions: LinkConditions | undefined
}

/** What a visit depends on besides the link. */
export interface LinkConditions extends Omit<StateSource, 'used_clicks'> {
  /** Empty: the link answers 410 when it is over. */
  readonly expiredLocation: string
  readonly passwordHash: string | null
  readonly rules: readonly StoredRule[]
}

type DestinationRow = Pick<Tables['link_code'], 'position' | 'live_until'> & {
  readonly chosen: string | null
  readonly title: string | null
} & Pick<
    Tables['link'],
    | 'id'
    | 'account_id'
    | 'redirect_type'
    | 'location_a'
    | 'location_b'
    | 'paused'
    | 'banned'
    | 'expires_at'
    | 'expired_location'
    | 'max_clicks'
    | 'password_hash'
    | 'rules'
  > &
  Pick<Tables['account'], 'suspended'>

// Deleted links have the account's id with a minus.
const rowSql = `SELECT c.position, c.code AS chosen, l.id, l.account_id, l.redirect_type, l.location_a, l.location_b,
    c.live_until, a.suspended, l.paused, l.banned, l.expires_at, l.expired_location, l.max_clicks, l.password_hash, l.rules,
    CASE WHEN l.redirect_type = 'page' THEN l.title END AS title
  FROM link_code c JOIN link l ON l.id = c.link_id JOIN account a ON a.id = abs(l.account_id) WHERE c.position`
const oneRowSql = `${rowSql} = ?`
const manyRowsSql = `${rowSql} = ANY(?)`

const domainColumns = 'SELECT host, pool, removed, blocked, blocked_at, added_at'
const domainSql = `${domainColumns} FROM link_domain ORDER BY pool, host`

/** One query for everything that depends on a host name. */
const hostSql = `${domainColumns}, 0 AS account_id FROM link_domain
  UNION ALL SELECT host, 'own', 0, 0, NULL, 0, account_id FROM link_own_domain WHERE verified_at IS NOT NULL
  UNION ALL SELECT host, 'banned', 0, 0, NULL, 0, 0 FROM link_ban WHERE host IS NOT NULL
  ORDER BY 2, 1`

type HostRow =
  | PoolDomainRow
  | { readonly pool: 'own'; readonly host: string; readonly account_id: number }
  | { readonly pool: 'banned'; readonly host: string }

/** On SQLite `find` and `cachedPools` are always synchronous; on PostgreSQL only for what is cached. */
export interface Lookup {
  find(code: string): Destination | undefined | Promise<Destination | undefined>
  /** The cached pools; undefined when they must be read. */
  cachedPools(): Pools | undefined
  pools(): Promise<Pools>
  /** To be awaited after a change of bans or of domains was committed. */
  publishChanges(): Promise<void> | undefined
  /** To be awaited after a change of this link was committed: then every process uses the change. */
  publishChange(id: number): Promise<void> | undefined
  /** Starts caching. */
  start(): void
  stop(): void
  readonly stats: LookupStats
}

export interface LookupStats {
  fromCache: number
  fromDatabase: number
  /** From the cache because the database was unreachable. */
  remembered: number
  isCaching(): boolean
}

export interface Pools {
  readonly domains: readonly PoolDomainRow[]
  /** The pool of every host that is or was in one. */
  readonly byHost: ReadonlyMap<string, DomainPool>
  /** The account of every verified own domain: only its links answer there. */
  readonly owners: ReadonlyMap<string, number>
  readonly bannedHosts: BannedHosts
}

export function createLookup(db: Database, codes: Codes, now = () => performance.now()): Lookup {
  return db.direct ? createDirectLookup(db.direct, codes) : createListeningLookup(db, codes, now)
}

/** About 32 MB: a hundred thousand links of usual length. */
const maxCacheWeight = 32_000_000
const weightOf = ({ locationA, locationB, conditions }: Destination) =>
  250 + locationA.length + (locationA === locationB ? 0 : locationB.length) + conditionWeight(conditions)

function conditionWeight(conditions: LinkConditions | undefined): number {
  if (conditions === undefined) return 0
  return conditions.rules.reduce(
    (sum, { when, location }) => sum + 500 + 2 * location.length + 24 * Object.values(when).flat().length,
    500,
  )
}

/**
 * SQLite: synchronous, from the cache or the file. Once in each turn of the event loop it checks whether the file has changed, and
 * then whether links have (`link_change`); if so, it clears the cache.
 */
function createDirectLookup(direct: DirectReads, codes: Codes): Lookup {
  const links = createClockCache(maxCacheWeight, weightOf)
  let pools: Pools | undefined
  let isFresh = false
  let dataVersion = -1
  let linkVersion = -1

  const onNextTurn = () => void (isFresh = false)

  function refresh(): void {
    const version = direct.dataVersion()
    if (version !== dataVersion) {
      const change = direct.one<Pick<Tables['link_change'], 'version'>>(
        'SELECT version FROM link_change WHERE id = 1',
      )
      if (change?.version !== linkVersion) {
        linkVersion = change?.version ?? -1
        links.clear()
        pools = undefined
      }
      dataVersion = version
    }
    isFresh = true
    setImmediate(onNextTurn)
  }

  function findPools(): Pools {
    if (!isFresh) refresh()
    pools ??= poolsOf(direct.all<HostRow>(hostSql))
    return pools
  }

  return {
    find(code) {
      if (!isFresh) refresh()
      const cached = links.get(code)
      if (cached !== undefined) return cached
      const position = codes.positionOf(code)
      const row = position === undefined ? undefined : direct.one<DestinationRow>(oneRowSql, [position])
      // Another code with the same hash.
      if (!row || (row.chosen !== null && row.chosen !== code)) return undefined
      const found = destinationOf(row, findPools().bannedHosts)
      links.set(code, found)
      return found
    },
    cachedPools: findPools,
    pools: async () => findPools(),
    publishChange: () => undefined,
    publishChanges: () => undefined,
    start: () => undefined,
    stop: () => undefined,
    stats: { fromCache: 0, fromDatabase: 0, remembered: 0, isCaching: () => true },
  }
}

/** How long links are remembered without the database. */
const rememberMs = 5 * 60_000

/** A server that stops may answer for a moment after it closed the channel. */
const stoppingMs = freshMs + 1_000

/**
 * PostgreSQL: from the cache while the channel of the changes is alive, else from the database. When the channel and the database are
 * lost together, the cache has what was true at that moment; it is used while the database is unreachable, for five minutes at most.
 * When the database answers and the channel does not work, changes may be missing: then nothing is remembered.
 */
function createListeningLookup(db: Database, codes: Codes, now: () => number): Lookup {
  const queries = createBatchedQueries(db, codes)
  const links = createLinkCache(maxCacheWeight, weightOf)
  const stats = {
    fromCache: 0,
    fromDatabase: 0,
    remembered: 0,
    isCaching: () => channel?.isFresh() ?? false,
  }
  const broadcast = createChangeBroadcast(db)
  let channel: Channel | undefined
  let pools: Pools | undefined
  let poolsVersion = 0
  let isCurrentInTurn: boolean | undefined

  const checkAgain = () => void (isCurrentInTurn = undefined)

  /** Reads the clock once in each turn of the event loop: all requests of a turn had arrived before it began. */
  function isCurrent(): boolean {
    if (isCurrentInTurn === undefined) {
      isCurrentInTurn = stats.isCaching()
      setImmediate(checkAgain)
    }
    return isCurrentInTurn
  }

  function clearPools(): void {
    pools = undefined
    poolsVersion += 1
  }

  function clearAll(): void {
    links.clear()
    clearPools()
  }

  function onMessage(payload: string): void {
    if (broadcast.handleMessage(payload)) return
    if (payload === '*') clearAll()
    else if (payload === 'pools') clearPools()
    else for (const id of payload.split(' ')) links.invalidate(Number(id))
  }

  const msWithoutChannel = () => now() - (channel?.checkedAt() ?? -Infinity)

  const mayRemember = (error: unknown) => isUnreachable(error) && msWithoutChannel() < rememberMs

  async function findInDatabase(code: string): Promise<Destination | undefined> {
    stats.fromDatabase += 1
    const version = links.version()
    const isCaching = stats.isCaching()
    try {
      const [row, { bannedHosts }] = await Promise.all([
        queries.find(code),
        (isCaching ? pools : undefined) ?? readPools(),
      ])
      const found = row && destinationOf(row, bannedHosts)
      if (!isCaching) correct(code, found, version)
      else if (found) links.set(code, found, version)
      return found
    } catch (error) {
      const remembered = mayRemember(error) ? links.get(code) : undefined
      // Passwords and limits of visits are counted in the database.
      const { passwordHash = null, max_clicks = null } = remembered?.conditions ?? {}
      if (remembered === undefined || passwordHash !== null || max_clicks !== null) throw error
      stats.remembered += 1
      return remembered
    }
  }

  /** The database answered while the channel does not work. */
  function correct(code: string, found: Destination | undefined, version: number): void {
    if (msWithoutChannel() > stoppingMs) {
      if (links.size() > 0 || pools) clearAll()
    } else if (found) links.set(code, found, version)
    else {
      const removed = links.get(code)
      if (removed) links.invalidate(removed.id)
    }
  }

  async function readPools(): Promise<Pools> {
    const version = poolsVersion
    const isCaching = stats.isCaching()
    try {
      const found = await queries.pools()
      const isExact = isCaching || msWithoutChannel() < stoppingMs
      if (isExact && version === poolsVersion) pools = found
      return found
    } catch (error) {
      if (pools && mayRemember(error)) return pools
      throw error
    }
  }

  return {
    find(code) {
      const cached = isCurrent() ? links.get(code) : undefined
      if (cached === undefined) return findInDatabase(code)
      stats.fromCache += 1
      return cached
    },
    cachedPools: () => (isCurrent() ? pools : undefined),
    pools: readPools,
    publishChange(id) {
      links.invalidate(id)
      return broadcast.awaitAcks()
    },
    publishChanges() {
      clearAll()
      return broadcast.awaitAcks()
    },
    start() {
      channel ??= db.listen?.(linkChannel, { onMessage, onUp: clearAll, onDown: checkAgain })
    },
    stop() {
      channel?.close()
      channel = undefined
    },
    stats,
  }
}

/** One query for all visitors of a turn of the event loop. */
function createBatchedQueries(db: Database, codes: Codes) {
  const findPools = coalesce(async () => new Map([['', poolsOf(await db.all<HostRow>(hostSql))]]))
  return {
    find: coalesce(async (wanted) => {
      const positions = wanted.map(codes.positionOf).filter((position) => position !== undefined)
      const rows = positions.length === 0 ? [] : await db.all<DestinationRow>(manyRowsSql, [positions])
      return new Map(rows.map((row) => [row.chosen ?? codes.codeAt(row.position), row]))
    }),
    pools: async () => (await findPools('')) ?? poolsOf([]),
  }
}

export function listPoolDomains(queries: Queries): Promise<PoolDomainRow[]> {
  return queries.all<PoolDomainRow>(domainSql)
}

function poolsOf(rows: readonly HostRow[]): Pools {
  const domains = rows.filter((row): row is PoolDomainRow => row.pool === 'a' || row.pool === 'b')
  const byHost = new Map(domains.map(({ host, pool }) => [host, pool]))
  const owners = new Map<string, number>()
  const bannedHosts = new Set<string>()
  for (const row of rows) {
    if (row.pool === 'banned') bannedHosts.add(row.host)
    // Links in use depend on the pools, so a pool comes first.
    else if (row.pool === 'own' && !byHost.has(row.host)) owners.set(row.host, row.account_id)
  }
  return { domains, byHost, owners, bannedHosts }
}

function destinationOf(row: DestinationRow, bannedHosts: BannedHosts): Destination {
  return {
    id: row.id,
    accountId: Math.abs(row.account_id),
    type: row.redirect_type,
    locationA: row.location_a,
    // Usually equal: then the string is stored once.
    locationB: row.location_b === row.location_a ? row.location_a : row.location_b,
    title: row.title ?? '',
    liveUntil: row.live_until ?? undefined,
    suspended: row.suspended === 1,
    conditions: conditionsOf(row, bannedHosts),
  }
}

function conditionsOf(row: DestinationRow, bannedHosts: BannedHosts): LinkConditions | undefined {
  const rules = readRules(row.rules)
  // The other bit is for lists; it may change later than the ban.
  const banned = (row.banned & 1) === 1 || leadsToBanned(row, bannedHosts) ? 1 : 0
  const isOrdinary =
    row.paused === 0 &&
    banned === 0 &&
    row.expires_at === null &&
    row.max_clicks === null &&
    row.password_hash === null &&
    rules.length === 0
  if (isOrdinary) return undefined
  return {
    paused: row.paused,
    banned,
    expires_at: row.expires_at,
    max_clicks: row.max_clicks,
    expiredLocation: row.expired_location,
    passwordHash: row.password_hash,
    rules,
  }
}

// Where a code leads: the one question every visitor asks.
import type { RedirectType } from '../../../contract/shortlink.ts'
import { coalesce } from '../../db/coalesce.ts'
import type { Channel, Database, DirectReads, Queries } from '../../db/database.ts'
import type { Codes } from '../codes/store.ts'
import type { PoolDomain } from '../domains/store.ts'
import { linkCache } from './link-cache.ts'
import type { Pool } from '../store.ts'
import { secondChance } from './clock-cache.ts'
import { linkChannel, openWord } from './change-broadcast-store.ts'

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
  readonly position: number
  readonly id: number
  readonly redirect_type: RedirectType
  readonly location_a: string
  readonly location_b: string
  readonly live_until: number | null
  readonly suspended: number
}

const rowSql = `SELECT c.position, l.id, l.redirect_type, l.location_a, l.location_b, c.live_until, a.suspended
  FROM link_code c JOIN link l ON l.id = c.link_id JOIN account a ON a.id = l.account_id WHERE c.position`
const oneRowSql = `${rowSql} = ?`
const manyRowsSql = `${rowSql} = ANY(?)`

const domainSql =
  'SELECT host, pool, removed, blocked, blocked_at, added_at FROM link_domain ORDER BY pool, host'

/** On SQLite every answer comes at once; on PostgreSQL what is remembered does, and the rest as a promise. */
export interface Lookup {
  find(code: string): Destination | undefined | Promise<Destination | undefined>
  pools(): Pools | Promise<Pools>
  /** As they stand in the database this moment: a new link must get no domain that was just taken away. */
  poolsNow(): Pools | Promise<Pools>
  /** To be awaited after a change of this link was committed: from then on every process goes by it. */
  changed(id: number): Promise<void> | undefined
  /** From now on links are remembered. */
  start(): void
  stop(): void
  readonly stats: LookupStats
}

export interface LookupStats {
  remembered: number
  asked: number
  isRemembering(): boolean
}

export interface Pools {
  readonly domains: readonly PoolDomain[]
  /** The pool of every host that is or was in one. */
  readonly byHost: ReadonlyMap<string, Pool>
}

export function openLookup(db: Database, codes: Codes): Lookup {
  return db.direct ? directLookup(db.direct, codes) : watchedLookup(db, codes)
}

/** What a process remembers at most, in bytes or so: about a hundred thousand links of usual length, however many there are. */
const mostRemembered = 32_000_000
const weightOf = ({ locationA, locationB }: Destination) =>
  250 + locationA.length + (locationA === locationB ? 0 : locationB.length)

/**
 * SQLite: in the same turn, from memory or from the file. Once in each turn of the event loop the file is asked whether
 * anyone has committed since, and if so, whether that touched links (`link_change`); memory is empty after that.
 */
function directLookup(direct: DirectReads, codes: Codes): Lookup {
  const links = secondChance(mostRemembered, weightOf)
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
      const place = codes.placeOf(code)
      const row = place === undefined ? undefined : direct.one<Row>(oneRowSql, [place])
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
    poolsNow() {
      return this.pools()
    },
    changed: () => undefined,
    start: () => undefined,
    stop: () => undefined,
    stats: { remembered: 0, asked: 0, isRemembering: () => true },
  }
}

/**
 * PostgreSQL: from memory while the channel stands on which every change is told, else from the database. When the
 * channel is lost, memory is emptied; when it only hesitates, memory is not asked meanwhile.
 */
function watchedLookup(db: Database, codes: Codes): Lookup {
  const asking = batchedLookup(db, codes)
  const links = linkCache(mostRemembered, weightOf)
  const stats = { remembered: 0, asked: 0, isRemembering: () => channel?.isFresh() ?? false }
  const word = openWord(db)
  let channel: Channel | undefined
  let pools: Pools | undefined
  let poolsMark = 0

  function forgetPools(): void {
    pools = undefined
    poolsMark += 1
  }

  function forgetAll(): void {
    links.clear()
    forgetPools()
  }

  function onMessage(payload: string): void {
    if (word.hear(payload)) return
    if (payload === '*') forgetAll()
    else if (payload === 'pools') forgetPools()
    else for (const id of payload.split(' ')) links.changed(Number(id))
  }

  async function ask(code: string): Promise<Destination | undefined> {
    stats.asked += 1
    const mark = links.mark()
    const isKept = stats.isRemembering()
    const found = await asking.find(code)
    if (isKept && found) links.put(code, found, mark)
    return found
  }

  async function askPools(): Promise<Pools> {
    const mark = poolsMark
    const isKept = stats.isRemembering()
    const found = await asking.pools()
    if (isKept && mark === poolsMark) pools = found
    return found
  }

  return {
    find(code) {
      const known = stats.isRemembering() ? links.get(code) : undefined
      if (known === undefined) return ask(code)
      stats.remembered += 1
      return known
    },
    pools: () => (pools !== undefined && stats.isRemembering() ? pools : askPools()),
    poolsNow: () => asking.pools(),
    changed(id) {
      links.changed(id)
      return word.goRound()
    },
    start() {
      channel ??= db.listen?.(linkChannel, { onMessage, onUp: forgetAll, onDown: forgetAll })
    },
    stop() {
      channel?.close()
      channel = undefined
    },
    stats,
  }
}

interface Asking {
  find(code: string): Promise<Destination | undefined>
  pools(): Promise<Pools>
}

/** One question for all visitors of a turn. */
function batchedLookup(db: Database, codes: Codes): Asking {
  const findPools = coalesce(async () => new Map([['', poolsOf(await listPoolDomains(db))]]))
  return {
    find: coalesce(async (wanted) => {
      const places = wanted.map(codes.placeOf).filter((place) => place !== undefined)
      const rows = places.length === 0 ? [] : await db.all<Row>(manyRowsSql, [places])
      return new Map(rows.map((row) => [codes.codeAt(row.position), destinationOf(row)]))
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
    // Mostly the same: then it is kept once.
    locationB: row.location_b === row.location_a ? row.location_a : row.location_b,
    liveUntil: row.live_until ?? undefined,
    suspended: row.suspended === 1,
  }
}

// Links and their codes.
import type { RedirectType } from '../../contract/shortlink.ts'
import type { StatementPart } from '../credits/batch-writer.ts'
import { bulkInsert, insertRows, insertRowsReturningIds } from '../db/bulk-insert.ts'
import type { Queries, Tx } from '../db/database.ts'
import { byEngine, forUpdate, idList, unnest } from '../db/dialect.ts'
import { isUniqueViolation } from '../db/postgres-errors.ts'
import type { Tables } from '../db/schema.ts'
import { insertChosenCode } from './codes/chosen-store.ts'
import type { Codes } from './codes/store.ts'

export type DomainPool = Tables['link_domain']['pool']

export type Link = Readonly<
  Omit<Tables['link'], 'location_a' | 'location_b' | 'expired_location' | 'deleted_at'>
> & {
  /** Of `max_clicks`; null without a limit. */
  readonly used_clicks: number | null
}

/** Of the table `link l`; for Kysely, and as text for other queries. */
export const storedColumns = [
  'l.id',
  'l.account_id',
  'l.code',
  'l.title',
  'l.target_url',
  'l.redirect_url_a',
  'l.redirect_type',
  'l.host_a',
  'l.host_b',
  'l.created_at',
  'l.updated_at',
  'l.paused',
  'l.banned',
  'l.expires_at',
  'l.expired_url',
  'l.max_clicks',
  'l.password_hash',
  'l.rules',
  'l.tags',
  'l.external_id',
  'l.own_domain',
] as const
export const usedClicks =
  'CASE WHEN l.max_clicks IS NULL THEN NULL ELSE (SELECT u.used FROM link_usage u WHERE u.link_id = l.id) END'
export const linkColumns = `${storedColumns.join(', ')}, ${usedClicks} AS used_clicks`

/** The domain of each address; empty for PUBLIC_URL. */
export interface Hosts {
  readonly a: string
  readonly b: string
}

/** The options of a new link; their absence makes an ordinary one. */
export interface NewLinkOptions {
  /** A chosen code. */
  readonly code: string | undefined
  readonly expiresAt: number | null
  readonly expiredUrl: string
  readonly expiredLocation: string
  readonly maxClicks: number | null
  readonly passwordHash: string | null
  readonly rules: string
  readonly tags: readonly string[]
  readonly externalId: string | null
  readonly ownDomain: string
}

export interface LinkInsert {
  readonly accountId: number
  readonly title: string
  readonly targetUrl: string
  readonly redirectUrlA: string
  readonly redirectType: RedirectType
  readonly locationA: string
  readonly locationB: string
  readonly hosts: Hosts
  readonly createdAt: number
  readonly options?: NewLinkOptions | undefined
}

export interface CreatedLink {
  readonly id: number
  readonly code: string
}

/** There are so many free codes that more conflicts in a row mean an error elsewhere. */
export const maxCodeAttempts = 20

/** One of the new codes is or was in use. Nothing is inserted; the next codes are elsewhere. */
export class CodeTaken extends Error {}

export async function insertLinks(
  tx: Tx,
  links: readonly LinkInsert[],
  codes: Codes,
): Promise<CreatedLink[]> {
  const newCodes = links.map(() => codes.next())
  const rows = links.map((link, index) => rowOf(link, newCodes[index]!.code))
  const positions = newCodes.map(({ position }) => position)
  const insert = byEngine(tx, { sqlite: insertWithTwoStatements, postgres: insertWithOneStatement })
  const ids = await insert(tx, rows, positions)
  if (ids === undefined) {
    codes.jumpToRandomPosition()
    throw new CodeTaken()
  }
  return newCodes.map(({ code }, index) => ({ code, id: ids[index]! }))
}

/** Returns the ids; undefined when a code is taken. */
async function insertWithTwoStatements(
  tx: Tx,
  rows: readonly InsertedLink[],
  positions: readonly number[],
): Promise<readonly number[] | undefined> {
  const ids = await insertRowsReturningIds(tx, linkInsert, rows)
  const newCodes = positions.map((position, index) => ({ position, link_id: ids[index]! }))
  return (await insertRows(tx, codeInsert, newCodes)) === ids.length ? ids : undefined
}

/** One round trip: the charge has locked the balance, and the next charges of the account wait for it. */
async function insertWithOneStatement(
  tx: Tx,
  rows: readonly InsertedLink[],
  positions: readonly number[],
): Promise<readonly number[] | undefined> {
  const list = unnest(
    { ...plainColumnTypes, created_at: 'bigint', position: 'bigint', place: 'bigint' },
    rows.map(({ updated_at: _updated, ...row }, place) => ({ ...row, position: positions[place]!, place })),
  )
  try {
    const inserted = await tx.all<{ id: number }>(
      `WITH ${linkCtes(list.sql, 'created_at')} SELECT id FROM new_link ORDER BY place`,
      list.values,
    )
    return inserted.map(({ id }) => id)
  } catch (error) {
    if (isUniqueViolation(error)) return undefined
    throw error
  }
}

/** Inserts the links in the statement that charges for them. A code that is taken is an error. */
export function linksPart(
  links: readonly Omit<LinkInsert, 'createdAt'>[],
  codes: Codes,
): Pick<StatementPart<never, unknown>, 'ctes' | 'values' | 'returning'> & {
  readonly readLinks: (text: string) => CreatedLink[]
} {
  const newCodes = links.map(() => codes.next())
  const list = unnest(
    { ...plainColumnTypes, position: 'bigint', place: 'bigint' },
    links.map((link, place) => {
      const { code, position } = newCodes[place]!
      return { ...plainRowOf(link, code), position, place }
    }),
  )
  return {
    ctes: `, ${linkCtes(list.sql, '(SELECT MIN(at) FROM charge)')}`,
    values: list.values,
    returning: `(SELECT string_agg(place || ' ' || id, ',') FROM new_link)`,
    readLinks(text) {
      const created: CreatedLink[] = []
      for (const one of text.split(',')) {
        const [place, id] = one.split(' ').map(Number)
        created[place!] = { id: id!, code: newCodes[place!]!.code }
      }
      return created
    },
  }
}

function linkCtes(list: string, at: string): string {
  const names = Object.keys(plainColumnTypes).join(', ')
  return `new_link AS MATERIALIZED (SELECT nextval('link_id_seq') AS id, t.* FROM ${list} AS t),
    links AS (INSERT INTO link (id, ${names}, created_at, updated_at)
      SELECT id, ${names}, ${at}, ${at} FROM new_link),
    codes AS (INSERT INTO link_code (position, link_id) SELECT position, id FROM new_link)`
}

const plainColumnTypes = {
  account_id: 'bigint',
  code: 'text',
  title: 'text',
  target_url: 'text',
  redirect_url_a: 'text',
  redirect_type: 'text',
  location_a: 'text',
  location_b: 'text',
  host_a: 'text',
  host_b: 'text',
} as const

export const linkColumnTypes = { ...plainColumnTypes, created_at: 'bigint', updated_at: 'bigint' } as const

const linkInsert = bulkInsert('link', linkColumnTypes)

export const codeInsert = bulkInsert(
  'link_code',
  { position: 'bigint', link_id: 'bigint' },
  'ON CONFLICT (position) DO NOTHING',
)

type InsertedLink = Pick<Tables['link'], keyof typeof linkColumnTypes>

export function rowOf(link: LinkInsert, code: string): InsertedLink {
  return { ...plainRowOf(link, code), created_at: link.createdAt, updated_at: link.createdAt }
}

function plainRowOf(
  link: Omit<LinkInsert, 'createdAt'>,
  code: string,
): Pick<InsertedLink, keyof typeof plainColumnTypes> {
  return {
    account_id: link.accountId,
    code,
    title: link.title,
    target_url: link.targetUrl,
    redirect_url_a: link.redirectUrlA,
    redirect_type: link.redirectType,
    location_a: link.locationA,
    location_b: link.locationB,
    host_a: link.hosts.a,
    host_b: link.hosts.b,
  }
}

async function insertFreeCode(tx: Tx, linkId: number, codes: Codes): Promise<string> {
  for (let attempt = 0; attempt < maxCodeAttempts; attempt += 1) {
    const { code, position } = codes.next()
    const isFree = (await insertRows(tx, codeInsert, [{ position, link_id: linkId }])) === 1
    if (isFree) return code
    codes.jumpToRandomPosition()
  }
  throw new Error('no free code was found')
}

export function findOwnLink(queries: Queries, accountId: number, id: number): Promise<Link | undefined> {
  return queries.one<Link>(`SELECT ${linkColumns} FROM link l WHERE l.id = ? AND l.account_id = ?`, [
    id,
    accountId,
  ])
}

export function findOwnLinkByExternalId(
  queries: Queries,
  accountId: number,
  externalId: string,
): Promise<Link | undefined> {
  return queries.one<Link>(`SELECT ${linkColumns} FROM link l WHERE l.account_id = ? AND l.external_id = ?`, [
    accountId,
    externalId,
  ])
}

/** By its current code; retired codes do not count. */
export function findOwnLinkByCode(
  queries: Queries,
  accountId: number,
  code: string,
  codes: Codes,
): Promise<Link | undefined> {
  const position = codes.positionOf(code)
  if (position === undefined) return Promise.resolve(undefined)
  return queries.one<Link>(
    `SELECT ${linkColumns} FROM link_code c JOIN link l ON l.id = c.link_id
     WHERE c.position = ? AND c.retired_at IS NULL AND l.account_id = ? AND l.code = ?`,
    [position, accountId, code],
  )
}

/** Omitted fields are not changed. */
export interface LinkUpdate {
  readonly title?: string | undefined
  readonly redirectType?: RedirectType | undefined
  readonly target?: { readonly url: string; readonly location: string } | undefined
  /** Empty: a_url leads to the target again. */
  readonly targetA?: { readonly url: string; readonly location: string } | undefined
}

/** Returns false when the account has no such link. */
export async function updateLink(
  tx: Tx,
  accountId: number,
  id: number,
  change: LinkUpdate,
): Promise<boolean> {
  // Expressions see the old row, so location_a is computed from the new values.
  const changed = await tx.run(
    `UPDATE link SET title = COALESCE(?, title), redirect_type = COALESCE(?, redirect_type),
       target_url = COALESCE(?, target_url), location_b = COALESCE(?, location_b),
       redirect_url_a = COALESCE(?, redirect_url_a),
       location_a = CASE WHEN COALESCE(?, redirect_url_a) = '' THEN COALESCE(?, location_b)
         ELSE COALESCE(?, location_a) END,
       updated_at = ${tx.now}
     WHERE id = ? AND account_id = ?`,
    [
      change.title ?? null,
      change.redirectType ?? null,
      change.target?.url ?? null,
      change.target?.location ?? null,
      change.targetA?.url ?? null,
      change.targetA?.url ?? null,
      change.target?.location ?? null,
      change.targetA?.location ?? null,
      id,
      accountId,
    ],
  )
  return changed === 1
}

export interface Refresh {
  readonly accountId: number
  readonly id: number
  readonly hosts: Hosts
  /** How long the old code continues to work. */
  readonly graceMs: number
  readonly chosenCode?: string | undefined
}

/**
 * Retires the code and returns a new one; undefined when the account has no such link. A link that leaves its own domain
 * no longer has one.
 */
export async function refreshLink(tx: Tx, refresh: Refresh, codes: Codes): Promise<string | undefined> {
  const link = await tx.one<Pick<Tables['link'], 'code'>>(
    `SELECT code FROM link WHERE id = ? AND account_id = ?${forUpdate(tx)}`,
    [refresh.id, refresh.accountId],
  )
  if (!link) return undefined
  const position = codes.positionOf(link.code)
  if (position === undefined) throw new Error(`link ${refresh.id} has an invalid code`)
  const code =
    refresh.chosenCode === undefined
      ? await insertFreeCode(tx, refresh.id, codes)
      : await insertChosenCode(tx, refresh.id, refresh.chosenCode, codes)
  await tx.run(
    // Zero without a grace period: a process whose clock is behind must not serve the old code either.
    `UPDATE link_code SET retired_at = ${tx.now},
       live_until = CASE WHEN ? = 0 THEN 0 ELSE ${tx.now} + CAST(? AS bigint) END WHERE position = ?`,
    [refresh.graceMs, refresh.graceMs, position],
  )
  await tx.run(
    `UPDATE link SET code = ?, host_a = ?, host_b = ?, updated_at = ${tx.now},
       own_domain = CASE WHEN own_domain = ? THEN own_domain ELSE '' END WHERE id = ?`,
    [code, refresh.hosts.a, refresh.hosts.b, refresh.hosts.a, refresh.id],
  )
  return code
}

export interface RetiredCode {
  readonly code: string
  readonly retired_at: number
}

/** The codes that refreshes replaced, the latest first. */
export async function listRetiredCodes(
  queries: Queries,
  linkId: number,
  codes: Codes,
): Promise<RetiredCode[]> {
  const rows = await queries.all<{ position: number; retired_at: number; code: string | null }>(
    `SELECT position, retired_at, code FROM link_code WHERE link_id = ? AND retired_at IS NOT NULL
     ORDER BY retired_at DESC LIMIT 100`,
    [linkId],
  )
  return rows.map(({ position, retired_at, code }) => ({ code: code ?? codes.codeAt(position), retired_at }))
}

/** The current codes of links, by id. */
export async function findShortCodes(
  queries: Queries,
  ids: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  if (ids.length === 0) return new Map()
  const list = idList(queries, ids)
  const rows = await queries.all<Pick<Tables['link'], 'id' | 'code'>>(
    `SELECT id, code FROM link WHERE id IN ${list.sql}`,
    [list.value],
  )
  return new Map(rows.map(({ id, code }) => [id, code]))
}

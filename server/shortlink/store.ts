// The links and their codes.
import type { RedirectType } from '../../contract/shortlink.ts'
import type { Queries, Tx } from '../db/database.ts'
import { bulkInsert, insertRows, insertRowsReturningIds } from '../db/bulk-insert.ts'
import type { Codes } from './codes/store.ts'

export type Pool = 'a' | 'b'

/** A link as its owner sees it. */
export interface Link {
  readonly id: number
  readonly account_id: number
  readonly code: string
  readonly title: string
  readonly target_url: string
  /** Empty when a_url leads to target_url too. */
  readonly redirect_url_a: string
  readonly redirect_type: RedirectType
  /** Empty when the address stands on PUBLIC_URL. */
  readonly host_a: string
  readonly host_b: string
  readonly created_at: number
  readonly updated_at: number
}

export const linkColumns = `l.id, l.account_id, l.code, l.title, l.target_url, l.redirect_url_a, l.redirect_type,
  l.host_a, l.host_b, l.created_at, l.updated_at`

/** The domain of each pool that an address stands on. */
export interface Hosts {
  readonly a: string
  readonly b: string
}

export interface NewLink {
  readonly accountId: number
  readonly title: string
  readonly targetUrl: string
  readonly redirectUrlA: string
  readonly redirectType: RedirectType
  readonly locationA: string
  readonly locationB: string
  readonly hosts: Hosts
  readonly createdAt: number
}

/** After so many codes in a row that are taken, something else is wrong. */
const codeTries = 20

export interface MadeLink {
  readonly id: number
  readonly code: string
}

export async function insertLink(tx: Tx, link: NewLink, codes: Codes): Promise<MadeLink> {
  const { code, place } = codes.make()
  const [id] = await insertRowsReturningIds(tx, linkRows, [rowOf(link, code)])
  if (await claimPlace(tx, place, id!)) return { id: id!, code }
  codes.leap()
  const other = await claimAny(tx, id!, codes)
  await tx.run('UPDATE link SET code = ? WHERE id = ?', [other, id!])
  return { id: id!, code: other }
}

/** A code that is taken: whoever makes many links at once makes them one by one then. */
export class CodeTaken extends Error {}

export async function insertLinks(tx: Tx, links: readonly NewLink[], codes: Codes): Promise<MadeLink[]> {
  const drawn = links.map(() => codes.make())
  const ids = await insertRowsReturningIds(
    tx,
    linkRows,
    links.map((link, index) => rowOf(link, drawn[index]!.code)),
  )
  const claimed = await insertRows(
    tx,
    codeRows,
    drawn.map(({ place }, index) => ({ position: place, link_id: ids[index]! })),
  )
  if (claimed < drawn.length) {
    codes.leap()
    throw new CodeTaken()
  }
  return drawn.map(({ code }, index) => ({ code, id: ids[index]! }))
}

const linkRows = bulkInsert('link', {
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
  created_at: 'bigint',
  updated_at: 'bigint',
})

const codeRows = bulkInsert(
  'link_code',
  { position: 'bigint', link_id: 'bigint' },
  'ON CONFLICT (position) DO NOTHING',
)

function rowOf(link: NewLink, code: string) {
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
    created_at: link.createdAt,
    updated_at: link.createdAt,
  }
}

/** False when the code was given out before, to whomever. */
async function claimPlace(tx: Tx, place: number, linkId: number): Promise<boolean> {
  return (await insertRows(tx, codeRows, [{ position: place, link_id: linkId }])) === 1
}

async function claimAny(tx: Tx, linkId: number, codes: Codes): Promise<string> {
  for (let tries = 0; tries < codeTries; tries += 1) {
    const { code, place } = codes.make()
    if (await claimPlace(tx, place, linkId)) return code
    codes.leap()
  }
  throw new Error('no free code was found')
}

export function findOwnLink(queries: Queries, accountId: number, id: number): Promise<Link | undefined> {
  return queries.one<Link>(`SELECT ${linkColumns} FROM link l WHERE l.id = ? AND l.account_id = ?`, [
    id,
    accountId,
  ])
}

/** By its present code only: a retired one is nobody's any more. */
export function findOwnLinkByCode(
  queries: Queries,
  accountId: number,
  code: string,
  codes: Codes,
): Promise<Link | undefined> {
  const place = codes.placeOf(code)
  if (place === undefined) return Promise.resolve(undefined)
  return queries.one<Link>(
    `SELECT ${linkColumns} FROM link_code c JOIN link l ON l.id = c.link_id
     WHERE c.position = ? AND c.retired_at IS NULL AND l.account_id = ?`,
    [place, accountId],
  )
}

/** What is left out stays as it is. */
export interface LinkChange {
  readonly title?: string | undefined
  readonly redirectType?: RedirectType | undefined
  readonly target?: { readonly url: string; readonly location: string } | undefined
  /** An empty address takes it away: a_url leads to the target again. */
  readonly targetA?: { readonly url: string; readonly location: string } | undefined
}

/** False when there is no such link of this account. */
export async function updateLink(
  tx: Tx,
  accountId: number,
  id: number,
  change: LinkChange,
): Promise<boolean> {
  // Right-hand sides see the row as it was, on both engines; so the a-location is worked out from the new values here.
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
  /** How long the old addresses still work. */
  readonly graceMs: number
}

/** A new code, the old one retired; undefined when there is no such link of this account. */
export async function refreshLink(tx: Tx, refresh: Refresh, codes: Codes): Promise<string | undefined> {
  const lock = tx.engine === 'postgres' ? ' FOR UPDATE' : ''
  const link = await tx.one<{ code: string }>(
    `SELECT code FROM link WHERE id = ? AND account_id = ?${lock}`,
    [refresh.id, refresh.accountId],
  )
  if (!link) return undefined
  const place = codes.placeOf(link.code)
  if (place === undefined) throw new Error('a link has a code that is none')
  const code = await claimAny(tx, refresh.id, codes)
  await tx.run(
    // Zero when there is no grace: no clock that runs behind may keep the old code alive.
    `UPDATE link_code SET retired_at = ${tx.now},
       live_until = CASE WHEN ? = 0 THEN 0 ELSE ${tx.now} + CAST(? AS bigint) END WHERE position = ?`,
    [refresh.graceMs, refresh.graceMs, place],
  )
  await tx.run(`UPDATE link SET code = ?, host_a = ?, host_b = ?, updated_at = ${tx.now} WHERE id = ?`, [
    code,
    refresh.hosts.a,
    refresh.hosts.b,
    refresh.id,
  ])
  return code
}

export interface RetiredCode {
  readonly code: string
  readonly retired_at: number
}

/** The history of a link's refreshes, the latest first. */
export async function findRetiredCodes(
  queries: Queries,
  linkId: number,
  codes: Codes,
): Promise<RetiredCode[]> {
  const rows = await queries.all<{ position: number; retired_at: number }>(
    `SELECT position, retired_at FROM link_code WHERE link_id = ? AND retired_at IS NOT NULL
     ORDER BY retired_at DESC LIMIT 100`,
    [linkId],
  )
  return rows.map(({ position, retired_at }) => ({ code: codes.codeAt(position), retired_at }))
}

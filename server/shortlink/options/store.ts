// The rows of a link's options beside the link itself, changes of the options, pauses and deletions.
import type { ClearableField, RedirectType } from '../../../contract/shortlink.ts'
import { bulkInsert, insertRows } from '../../db/bulk-insert.ts'
import type { Queries, Tx } from '../../db/database.ts'
import { forUpdate, valueTable } from '../../db/dialect.ts'
import type { Tables } from '../../db/schema.ts'
import { emitEvents } from '../../events/emit.ts'
import type { Codes } from '../codes/store.ts'
import { linkColumns, type Link, type LinkUpdate, type NewLinkOptions } from '../store.ts'
import type { OptionChange } from './read.ts'
import { readTags } from './record.ts'

const usageInsert = bulkInsert('link_usage', { link_id: 'bigint', used: 'bigint' })
const expiryInsert = bulkInsert('link_expiry', {
  link_id: 'bigint',
  account_id: 'bigint',
  expires_at: 'bigint',
})
const tagInsert = bulkInsert(
  'link_tag',
  { account_id: 'bigint', tag: 'text', link_id: 'bigint' },
  'ON CONFLICT (account_id, tag, link_id) DO NOTHING',
)

interface OptionRows {
  readonly accountId: number
  readonly linkId: number
  readonly options: Pick<NewLinkOptions, 'maxClicks' | 'expiresAt' | 'tags'> | undefined
}

export async function insertOptionRows(tx: Tx, links: readonly OptionRows[]): Promise<void> {
  await insertRows(
    tx,
    usageInsert,
    links.flatMap(({ linkId, options }) =>
      options === undefined || options.maxClicks === null ? [] : [{ link_id: linkId, used: 0 }],
    ),
  )
  await insertRows(
    tx,
    expiryInsert,
    links.flatMap(({ linkId, accountId, options }) =>
      options === undefined || options.expiresAt === null
        ? []
        : [{ link_id: linkId, account_id: accountId, expires_at: options.expiresAt }],
    ),
  )
  await insertRows(
    tx,
    tagInsert,
    links.flatMap(({ linkId, accountId, options }) =>
      (options?.tags ?? []).map((tag) => ({ account_id: accountId, tag, link_id: linkId })),
    ),
  )
}

/** Which of these IDs other links of the account have. */
export async function findUsedExternalIds(
  queries: Queries,
  accountId: number,
  externalIds: readonly string[],
): Promise<Set<string>> {
  if (externalIds.length === 0) return new Set()
  const list = valueTable(
    queries,
    { wanted: 'text' },
    externalIds.map((wanted) => ({ wanted })),
  )
  const rows = await queries.all<{ external_id: string }>(
    // As a join, SQLite would read all IDs of the account.
    `SELECT external_id FROM link WHERE account_id = ? AND external_id IN (SELECT wanted FROM ${list.sql} AS t)`,
    [accountId, ...list.values],
  )
  return new Set(rows.map((row) => row.external_id))
}

export type ChangeResult = 'changed' | 'not_found' | 'external_id_used' | 'permanent'

export interface OptionUpdate {
  readonly change: LinkUpdate
  readonly options: OptionChange
  readonly passwordHash: string | null | undefined
  readonly clears: ReadonlySet<ClearableField>
}

/**
 * Changes the link and its options together. Nothing is written unless the result is `changed`. The caller has locked the account
 * if there is an `external_id`.
 */
export async function updateLinkOptions(
  tx: Tx,
  accountId: number,
  id: number,
  { change, options, passwordHash, clears }: OptionUpdate,
): Promise<ChangeResult> {
  const link = await findForUpdate(tx, accountId, id)
  if (!link) return 'not_found'
  if (typeof options.externalId === 'string' && options.externalId !== link.external_id) {
    const used = await findUsedExternalIds(tx, accountId, [options.externalId])
    if (used.size > 0) return 'external_id_used'
  }
  const next = merge(link, { change, options, passwordHash, clears })
  const isConditional =
    next.expires_at !== null || next.max_clicks !== null || next.password_hash !== null || next.rules !== ''
  if (next.redirect_type === 'permanent' && isConditional) return 'permanent'
  const names = Object.keys(next) as (keyof typeof next)[]
  await tx.run(
    `UPDATE link SET ${names.map((name) => `${name} = ?`).join(', ')}, updated_at = ${tx.now} WHERE id = ?`,
    [...names.map((name) => next[name]), id],
  )
  await updateOptionRows(tx, link, next, options)
  return 'changed'
}

type LockedLink = Link & Pick<Tables['link'], 'location_a' | 'location_b' | 'expired_location'>

function findForUpdate(tx: Tx, accountId: number, id: number): Promise<LockedLink | undefined> {
  return tx.one<LockedLink>(
    `SELECT ${linkColumns}, l.location_a, l.location_b, l.expired_location FROM link l
     WHERE l.id = ? AND l.account_id = ?${forUpdate(tx, 'FOR UPDATE OF l')}`,
    [id, accountId],
  )
}

function merge(link: LockedLink, { change, options, passwordHash, clears }: OptionUpdate) {
  const targetUrl = change.target?.url ?? link.target_url
  const locationB = change.target?.location ?? link.location_b
  const urlA = clears.has('redirect_url_a') ? '' : (change.targetA?.url ?? link.redirect_url_a)
  const redirectType: RedirectType = change.redirectType ?? link.redirect_type
  return {
    title: change.title ?? link.title,
    redirect_type: redirectType,
    target_url: targetUrl,
    location_b: locationB,
    redirect_url_a: urlA,
    location_a: urlA === '' ? locationB : (change.targetA?.location ?? link.location_a),
    expires_at: options.expiresAt === undefined ? link.expires_at : options.expiresAt,
    expired_url: options.expired?.url ?? link.expired_url,
    expired_location: options.expired?.location ?? link.expired_location,
    max_clicks: options.maxClicks === undefined ? link.max_clicks : options.maxClicks,
    password_hash: passwordHash === undefined ? link.password_hash : passwordHash,
    rules: options.rules === undefined ? link.rules : formatList(options.rules),
    tags: options.tags === undefined ? link.tags : formatList(options.tags),
    external_id: options.externalId === undefined ? link.external_id : options.externalId,
  }
}

export function formatList(list: readonly unknown[]): string {
  return list.length === 0 ? '' : JSON.stringify(list)
}

async function updateOptionRows(
  tx: Tx,
  link: LockedLink,
  next: ReturnType<typeof merge>,
  options: OptionChange,
): Promise<void> {
  const row = { accountId: link.account_id, linkId: link.id }
  const nothing = { maxClicks: null, expiresAt: null, tags: [] }
  if (options.expiresAt !== undefined) {
    await tx.run('DELETE FROM link_expiry WHERE link_id = ?', [link.id])
    await insertOptionRows(tx, [{ ...row, options: { ...nothing, expiresAt: options.expiresAt } }])
  }
  if (options.tags !== undefined) {
    await deleteTags(tx, link)
    await insertOptionRows(tx, [{ ...row, options: { ...nothing, tags: options.tags } }])
  }
  if (options.maxClicks === null) await tx.run('DELETE FROM link_usage WHERE link_id = ?', [link.id])
  else if (options.maxClicks !== undefined) {
    // A new value replaces the limit, not the count.
    if (link.max_clicks === null) {
      await tx.run('DELETE FROM link_usage WHERE link_id = ?', [link.id])
      await insertOptionRows(tx, [{ ...row, options: { ...nothing, maxClicks: options.maxClicks } }])
    } else if ((link.used_clicks ?? 0) < link.max_clicks && (link.used_clicks ?? 0) >= options.maxClicks) {
      await emitEvents(tx, [exhaustedEvent({ ...link, max_clicks: next.max_clicks })])
    }
  }
}

/** There are at most ten, and no index by link. */
async function deleteTags(tx: Tx, link: Link): Promise<void> {
  for (const tag of readTags(link)) {
    await tx.run('DELETE FROM link_tag WHERE account_id = ? AND tag = ? AND link_id = ?', [
      link.account_id,
      tag,
      link.id,
    ])
  }
}

/** The data of `link.exhausted`. */
export function exhaustedEvent(
  link: Pick<Link, 'id' | 'account_id' | 'code' | 'external_id' | 'title' | 'max_clicks'>,
) {
  return {
    accountId: link.account_id,
    type: 'link.exhausted' as const,
    data: { ...eventData(link), max_clicks: link.max_clicks },
    alertKey: `link.exhausted ${link.id}`,
  }
}

/** What every event of a link says about it. */
export function eventData(link: Pick<Link, 'id' | 'code' | 'external_id' | 'title'>) {
  return {
    link_id: link.id,
    short_code: link.code,
    external_id: link.external_id ?? '',
    title: link.title,
  }
}

/** Returns the link with its new state; undefined when the account has no such link. */
export async function setPaused(
  tx: Tx,
  accountId: number,
  id: number,
  paused: boolean,
): Promise<Link | undefined> {
  const link = await findForUpdate(tx, accountId, id)
  if (!link) return undefined
  const flag = paused ? 1 : 0
  if (link.paused !== flag)
    await tx.run(`UPDATE link SET paused = ?, updated_at = ${tx.now} WHERE id = ?`, [flag, id])
  return { ...link, paused: flag }
}

/**
 * The codes answer 410 from now on. The row stays for that, without its contents and outside of the account: a negative
 * `account_id` keeps it from every list and search. The hourly job deletes its clicks later.
 */
export async function deleteLink(tx: Tx, accountId: number, id: number, codes: Codes): Promise<boolean> {
  const link = await findForUpdate(tx, accountId, id)
  if (!link) return false
  await tx.run('UPDATE link_code SET live_until = 0 WHERE link_id = ? AND retired_at IS NOT NULL', [id])
  await tx.run(`UPDATE link_code SET retired_at = ${tx.now}, live_until = 0 WHERE position = ?`, [
    codes.positionOf(link.code) ?? null,
  ])
  await tx.run(
    `UPDATE link SET account_id = -account_id, deleted_at = ${tx.now}, updated_at = ${tx.now}, title = '', target_url = '',
       redirect_url_a = '', location_a = '', location_b = '', expires_at = NULL, expired_url = '', expired_location = '',
       max_clicks = NULL, password_hash = NULL, rules = '', tags = '', external_id = NULL, own_domain = '' WHERE id = ?`,
    [id],
  )
  for (const table of ['link_usage', 'link_expiry', 'link_total'])
    await tx.run(`DELETE FROM ${table} WHERE link_id = ?`, [id])
  await deleteTags(tx, link)
  return true
}

// Creates links of which some have options.
import { bulkInsert, insertRows, insertRowsReturningIds } from '../../db/bulk-insert.ts'
import type { Tx } from '../../db/database.ts'
import { idList } from '../../db/dialect.ts'
import type { Tables } from '../../db/schema.ts'
import { ChosenCodeTaken, chosenCodeInsert, requirePosition } from '../codes/chosen-store.ts'
import type { Codes } from '../codes/store.ts'
import {
  codeInsert,
  CodeTaken,
  type CreatedLink,
  linkColumnTypes,
  type LinkInsert,
  type NewLinkOptions,
  rowOf,
} from '../store.ts'
import { insertOptionRows } from './store.ts'

const optionalLinkInsert = bulkInsert('link', {
  ...linkColumnTypes,
  expires_at: 'bigint',
  expired_url: 'text',
  expired_location: 'text',
  max_clicks: 'bigint',
  password_hash: 'text',
  rules: 'text',
  tags: 'text',
  external_id: 'text',
  own_domain: 'text',
})

/** Like `insertLinks`, for links of which some have options. The account is locked by the charge. */
export async function insertLinksWithOptions(
  tx: Tx,
  links: readonly LinkInsert[],
  codes: Codes,
): Promise<CreatedLink[]> {
  const placed = links.map(({ options }) =>
    options?.code === undefined
      ? { ...codes.next(), isChosen: false }
      : { code: options.code, position: requirePosition(codes, options.code), isChosen: true },
  )
  const ids = await insertRowsReturningIds(
    tx,
    optionalLinkInsert,
    links.map((link, index) => ({ ...rowOf(link, placed[index]!.code), ...optionColumns(link.options) })),
  )
  const rows = placed.map(({ code, position, isChosen }, index) => ({
    position,
    link_id: ids[index]!,
    code: position < 0 ? code : null,
    isChosen,
  }))
  const chosen = rows.filter(({ isChosen }) => isChosen)
  if ((await insertRows(tx, chosenCodeInsert, chosen)) < chosen.length) {
    throw new ChosenCodeTaken(await findTaken(tx, rows))
  }
  const generated = rows.filter(({ isChosen }) => !isChosen)
  if ((await insertRows(tx, codeInsert, generated)) < generated.length) {
    codes.jumpToRandomPosition()
    throw new CodeTaken()
  }
  await insertOptionRows(
    tx,
    links.map(({ accountId, options }, index) => ({ accountId, linkId: ids[index]!, options })),
  )
  return placed.map(({ code }, index) => ({ code, id: ids[index]! }))
}

async function findTaken(
  tx: Tx,
  rows: readonly { position: number; link_id: number; isChosen: boolean }[],
): Promise<number[]> {
  const list = idList(
    tx,
    rows.map(({ position }) => position),
  )
  const stored = await tx.all<Pick<Tables['link_code'], 'position' | 'link_id'>>(
    `SELECT position, link_id FROM link_code WHERE position IN ${list.sql}`,
    [list.value],
  )
  const owners = new Map(stored.map(({ position, link_id }) => [position, link_id]))
  return rows.flatMap((row, index) =>
    row.isChosen && owners.get(row.position) !== row.link_id ? [index] : [],
  )
}

function optionColumns(options: NewLinkOptions | undefined) {
  return {
    expires_at: options?.expiresAt ?? null,
    expired_url: options?.expiredUrl ?? '',
    expired_location: options?.expiredLocation ?? '',
    max_clicks: options?.maxClicks ?? null,
    password_hash: options?.passwordHash ?? null,
    rules: options?.rules ?? '',
    tags: options === undefined || options.tags.length === 0 ? '' : JSON.stringify(options.tags),
    external_id: options?.externalId ?? null,
    own_domain: options?.ownDomain ?? '',
  }
}

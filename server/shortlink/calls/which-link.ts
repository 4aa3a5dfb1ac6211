// Finds the link that a call names by id, code or the account's own ID.
import { shortlink } from '../../../contract/shortlink.ts'
import type { Values } from '../../../contract/parameters.ts'
import type { Caller } from '../../accounts/authenticate.ts'
import type { Queries } from '../../db/database.ts'
import type { Call } from '../../http/call.ts'
import type { Codes } from '../codes/store.ts'
import { linkNotFound } from '../links.ts'
import { findOwnLink, findOwnLinkByCode, findOwnLinkByExternalId, type Link } from '../store.ts'
import { missingError, readInput, type ShortlinkAction } from './input.ts'

const { parameters } = shortlink.operations.get

export type LinkNames = Partial<Values<typeof parameters>>

/** Throws when the account has no such link. `check` runs after the parameters are read and before the look-up. */
export type RequireLink = (
  call: Call,
  caller: Caller,
  action: ShortlinkAction,
  check: (caller: Caller) => void,
) => Promise<Link>

export function createRequireLink(queries: Queries, codes: Codes): RequireLink {
  return async (call, caller, action, check) => {
    const names = readInput(call, parameters, action)
    if (!namesLink(names)) throw missingError(action, missingNames[action] ?? ['link_id'])
    check(caller)
    const link = await findNamedLink(queries, codes, caller.account.id, names)
    if (!link) throw linkNotFound()
    return link
  }
}

/** What is asked for when a call names no link. */
const missingNames: Partial<Record<ShortlinkAction, readonly string[]>> = {
  get: ['short_code', 'link_id'],
}

export function namesLink(names: LinkNames): boolean {
  return names.link_id !== undefined || names.short_code !== undefined || names.external_id !== undefined
}

/** Given several names, they must all name the same link. */
export async function findNamedLink(
  queries: Queries,
  codes: Codes,
  accountId: number,
  { link_id: id, short_code: code, external_id: externalId }: LinkNames,
): Promise<Link | undefined> {
  const found: (Link | undefined)[] = []
  if (code !== undefined) found.push(await findOwnLinkByCode(queries, accountId, code, codes))
  if (externalId !== undefined) found.push(await findOwnLinkByExternalId(queries, accountId, externalId))
  if (id !== undefined && found.length === 0) found.push(await findOwnLink(queries, accountId, id))
  const [first] = found
  if (!first || (id !== undefined && first.id !== id)) return undefined
  return found.every((link) => link?.id === first.id) ? first : undefined
}

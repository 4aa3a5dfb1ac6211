// The watch list for account holders and the operator: add, remove and list addresses.
import { type Actor, recordChange } from '../audit/audit.ts'
import type { Database } from '../db/database.ts'
import { AppError, invalidField } from '../http/errors.ts'
import { readAddress } from './address.ts'
import type { Address, CheckVerdict } from './port.ts'
import { deleteWatch, findHistory, findWatches, insertWatch, type WatchedDomain } from './store.ts'

/** The number of verdict changes that are listed. */
const maxHistory = 1_000

export interface WatchedWithHistory extends WatchedDomain {
  /** The changes of the verdict, newest first. */
  readonly history: readonly { readonly verdict: CheckVerdict; readonly at: number }[]
}

export async function addWatch(
  db: Database,
  actor: Actor,
  input: { accountId: number; text: string; limit: number; everyMinutes?: number },
): Promise<Address> {
  const address = requireAddress(input.text)
  const text = input.text.trim()
  const result = await db.write(async (tx) => {
    const inserted = await insertWatch(tx, { ...input, text, address })
    if (inserted === 'added')
      await recordChange(tx, actor, 'watch.add', { accountId: input.accountId }, { url: address.url })
    return inserted
  })
  if (result === 'known') throw invalidAddress('该地址已在监控', 'This address is already on the watch list')
  if (result === 'full') {
    throw invalidAddress(`最多监控 ${input.limit} 个地址`, `At most ${input.limit} addresses can be watched`)
  }
  return address
}

/** Deletes the history too. */
export async function removeWatch(
  db: Database,
  actor: Actor,
  accountId: number,
  text: string,
): Promise<Address> {
  const address = requireAddress(text)
  const isDeleted = await db.write(async (tx) => {
    const deleted = await deleteWatch(tx, accountId, address.url)
    if (deleted) await recordChange(tx, actor, 'watch.remove', { accountId }, { url: address.url })
    return deleted
  })
  if (!isDeleted)
    throw new AppError(1002, { zh: '该地址不在监控列表', en: 'This address is not on the watch list' })
  return address
}

export async function listWatches(db: Database, accountId: number): Promise<WatchedWithHistory[]> {
  const watches = await findWatches(db, accountId)
  const changes = await findHistory(db, accountId, maxHistory)
  return watches.map((watch) => ({
    ...watch,
    history: changes
      .filter((change) => change.watch_id === watch.id)
      .map(({ verdict, at }) => ({ verdict, at })),
  }))
}

function requireAddress(text: string): Address {
  const address = readAddress(text)
  if (!address) throw invalidAddress('不是有效的域名或网址', 'Not a valid domain or URL')
  return address
}

function invalidAddress(zh: string, en: string): AppError {
  return invalidField('url', { zh, en })
}

// The watch list as the account holder and the operator handle it: put on, taken off, looked at.
import { type Actor, recordChange } from '../audit/audit.ts'
import type { Database } from '../db/database.ts'
import { AppError } from '../http/errors.ts'
import { readAddress } from './address.ts'
import type { Address, CheckVerdict } from './port.ts'
import { deleteWatch, findHistory, findWatches, insertWatch, type WatchedDomain } from './store.ts'

/** The newest changes of one account that are shown. */
const historyShown = 1_000

export interface WatchedWithHistory extends WatchedDomain {
  /** Every change of the verdict, the newest first. */
  readonly history: readonly { readonly verdict: CheckVerdict; readonly at: number }[]
}

/** Checked for the first time within moments, and then at the interval of the settings. */
export async function addWatch(
  db: Database,
  actor: Actor,
  wish: { accountId: number; text: string; limit: number; everyMinutes?: number },
): Promise<Address> {
  const address = requireAddress(wish.text)
  const text = wish.text.trim()
  const insertion = await db.write(async (tx) => {
    const result = await insertWatch(tx, { ...wish, text, address })
    if (result === 'added')
      await recordChange(tx, actor, 'watch.add', { accountId: wish.accountId }, { url: address.url })
    return result
  })
  if (insertion === 'known') throw wrongAddress('该地址已在监测', 'This address is under watch already')
  if (insertion === 'full') {
    throw wrongAddress(`最多监测 ${wish.limit} 个地址`, `At most ${wish.limit} addresses can be under watch`)
  }
  return address
}

/** Its history goes too. */
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
    throw new AppError(1002, { zh: '该地址不在监测列表', en: 'This address is not under watch' })
  return address
}

export async function listWatches(db: Database, accountId: number): Promise<WatchedWithHistory[]> {
  const watches = await findWatches(db, accountId)
  const changes = await findHistory(db, accountId, historyShown)
  return watches.map((watch) => ({
    ...watch,
    history: changes
      .filter((change) => change.watch_id === watch.id)
      .map(({ verdict, at }) => ({ verdict, at })),
  }))
}

function requireAddress(text: string): Address {
  const address = readAddress(text)
  if (!address) throw wrongAddress('不是有效的域名或网址', 'Not a valid domain or URL')
  return address
}

function wrongAddress(zh: string, en: string): AppError {
  return new AppError(1002, { zh, en }, { fields: { url: { zh, en } } })
}

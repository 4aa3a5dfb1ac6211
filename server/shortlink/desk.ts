// Links from the console: the same rules and the same prices as through the API, for whoever is signed in.
import { requireNotExpired, requireNotSuspended } from '../accounts/authenticate.ts'
import type { Account } from '../accounts/store.ts'
import type { Credits } from '../credits/credits.ts'
import type { Tx } from '../db/database.ts'
import { AppError } from '../http/errors.ts'
import type { Services } from '../services.ts'
import { type LinkRecord, type Links, type LinkWish, type MadeAddresses, noSuchLink } from './links.ts'
import { findOwnLink, updateLink } from './store.ts'

export interface Bought extends MadeAddresses {
  readonly remaining_balance: number
}

export interface LinkDesk {
  create(account: Account, wish: LinkWish, requestId: string): Promise<Bought>
  /** Everything may be changed here; an empty `redirect_url_a` takes it away. */
  edit(account: Account, linkId: number, wish: LinkWish): Promise<LinkRecord>
  refresh(account: Account, linkId: number, requestId: string): Promise<Bought>
}

export function openLinkDesk(services: Services, links: Links): LinkDesk {
  const { db, config, credits } = services

  return {
    async create(account, wish, requestId) {
      const checked = await links.check(wish)
      if (checked.title === undefined || checked.target === undefined) {
        throw new AppError(1001, { zh: '缺少 target_url 或 title', en: 'target_url or title is missing' })
      }
      requireActive(account)
      const make = await links.maker(account.id, checked)
      return buy(credits, account, 'shortlink.generate', config.PRICES.generate, requestId, make)
    },
    async edit(account, linkId, wish) {
      const checked = await links.check(wish)
      requireActive(account)
      if (!(await db.write((tx) => updateLink(tx, account.id, linkId, checked)))) throw noSuchLink()
      const link = await findOwnLink(db, account.id, linkId)
      if (!link) throw noSuchLink()
      return links.describe(link)
    },
    async refresh(account, linkId, requestId) {
      requireActive(account)
      const link = await findOwnLink(db, account.id, linkId)
      if (!link) throw noSuchLink()
      const renew = await links.refresher(link)
      return buy(credits, account, 'shortlink.execute_update', config.PRICES.execute_update, requestId, renew)
    },
  }
}

function requireActive(account: Account): void {
  requireNotSuspended(account)
  requireNotExpired(account, 400)
}

async function buy(
  credits: Credits,
  account: Account,
  action: string,
  cost: number,
  requestId: string,
  make: (tx: Tx) => Promise<MadeAddresses>,
): Promise<Bought> {
  const result = await credits.charge<MadeAddresses>({
    accountId: account.id,
    apiType: 'short_link',
    action,
    cost,
    requestId,
    alongside: async (tx) => ({ value: await make(tx) }),
  })
  if (result.kind !== 'charged') {
    throw new AppError(1004, { zh: '短链接额度不足', en: 'Not enough short link credits' }, { status: 400 })
  }
  return { ...result.value, remaining_balance: result.remaining }
}

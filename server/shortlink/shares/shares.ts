// Creates, finds and revokes links to read-only statistics. A token is shown once; its digest is stored.
import { createHash, randomBytes } from 'node:crypto'
import { shareLimits } from '../../../contract/link-analytics.ts'
import { dayMs } from '../../../contract/time.ts'
import { findById, lockAccount } from '../../accounts/store.ts'
import { recordOwnChange } from '../../audit/audit.ts'
import type { Database } from '../../db/database.ts'
import { AppError } from '../../http/errors.ts'
import type { StatLinks } from '../listing/stats.ts'
import { findOwnLink, type Link } from '../store.ts'
import {
  countShares,
  deleteEndedShares,
  deleteOldShares,
  endShare,
  findShareByHash,
  insertShare,
  listShares,
  type Share,
} from './store.ts'

/** One link, or all links of a tag. */
export type ShareSubject = { readonly linkId: number } | { readonly tag: string }

export interface SharedStatistics {
  readonly id: number
  readonly links: StatLinks
  /** Undefined for a tag. */
  readonly link: Link | undefined
  readonly tag: string
  readonly expiresAt: number
}

export interface Shares {
  create(accountId: number, subject: ShareSubject, days: number): Promise<{ share: Share; token: string }>
  list(accountId: number): Promise<Share[]>
  /** False when the account has no such valid share. */
  revoke(accountId: number, id: number): Promise<boolean>
  /** `unknown`: there is no such token; `ended`: there was. */
  find(token: string): Promise<SharedStatistics | 'unknown' | 'ended'>
  deleteOld(signal: AbortSignal): Promise<void>
}

const tokenPattern = /^[\w-]{43}$/

export function createShares(db: Database): Shares {
  return {
    async create(accountId, subject, days) {
      const token = randomBytes(32).toString('base64url')
      const share = await db.write(async (tx) => {
        // Locked, so that two calls cannot both create the last share.
        await lockAccount(tx, accountId)
        if ((await countShares(tx, accountId)) >= shareLimits.shares) throw tooManyShares()
        await deleteEndedShares(tx, accountId, shareLimits.ended)
        const linkId = 'linkId' in subject ? subject.linkId : null
        const tag = 'tag' in subject ? subject.tag : null
        const created = await insertShare(tx, {
          accountId,
          linkId,
          tag,
          tokenHash: hashOf(token),
          lifetimeMs: days * dayMs,
        })
        await recordOwnChange(tx, accountId, 'link-share.create', {
          share: created.id,
          ...(linkId === null ? { tag } : { link: linkId }),
          days,
        })
        return created
      })
      return { share, token }
    },

    list: (accountId) => listShares(db.reports, accountId, Date.now()),

    revoke: (accountId, id) =>
      db.write(async (tx) => {
        const ended = await endShare(tx, accountId, id)
        if (ended) await recordOwnChange(tx, accountId, 'link-share.revoke', { share: id })
        return ended !== undefined
      }),

    async find(token) {
      if (!tokenPattern.test(token)) return 'unknown'
      // Not from the reports: a revoked share must end with the next request.
      const share = await findShareByHash(db, hashOf(token))
      if (!share) return 'unknown'
      if (share.expires_at <= Date.now()) return 'ended'
      const account = await findById(db, share.account_id)
      if (!account || account.suspended === 1) return 'ended'
      const found = { id: share.id, expiresAt: share.expires_at }
      if (share.link_id === null) {
        const tag = share.tag ?? ''
        return { ...found, links: { accountId: share.account_id, tag }, link: undefined, tag }
      }
      const link = await findOwnLink(db, share.account_id, share.link_id)
      return link ? { ...found, links: { id: link.id }, link, tag: '' } : 'ended'
    },

    deleteOld: (signal) => deleteOldShares(db, shareLimits.keepDays * dayMs, signal),
  }
}

/** A token has 256 random bits, so a plain digest cannot be reversed. */
function hashOf(token: string): string {
  return createHash('sha256').update(`link share ${token}`).digest('base64url')
}

function tooManyShares(): AppError {
  const text = {
    zh: `最多 ${shareLimits.shares} 个有效的分享链接，请先撤销不用的`,
    en: `At most ${shareLimits.shares} valid share links; revoke one first`,
  }
  return new AppError(1002, text, { status: 400 })
}

// Bans: an operator bans a link, or a host and everything below it. Redirects compare with the bans themselves, so a ban takes
// effect immediately; a job then marks the links for lists and reports each one to its account.
import { banLimits } from '../../../contract/link-abuse.ts'
import { type OperatorActor, recordChange } from '../../audit/audit.ts'
import type { Database, Tx } from '../../db/database.ts'
import { emitEvents } from '../../events/emit.ts'
import { AppError, invalidField } from '../../http/errors.ts'
import type { Codes } from '../codes/store.ts'
import { eventData } from '../options/store.ts'
import { type BannedHosts, readBannedHost } from './banned-hosts.ts'
import { leadsToBanned } from './destinations.ts'
import {
  advanceMarking,
  type BannedLink,
  countHostBans,
  deleteHostBan,
  deleteLinkBan,
  findLinkOfCode,
  findMarking,
  insertHostBan,
  insertLinkBan,
  type LinkDestinations,
  listBannedHosts,
  listDestinations,
  lockDestinations,
  markLinks,
} from './store.ts'

export type BanTarget = { readonly host: string } | { readonly code: string }

export interface BanRules {
  /** Resolves when every process uses the ban. Returns its name, `host:HOST` or `link:CODE`. */
  add(actor: OperatorActor, target: BanTarget, note: string): Promise<string>
  remove(actor: OperatorActor, target: BanTarget): Promise<string>
  /** Marks the links that bans of hosts concern, as long as `mayContinue`. */
  mark(mayContinue: () => boolean): Promise<void>
}

const linksPerSlice = 2_000

/** `untilLinksAreCurrent` resolves when every process uses what is committed. */
export function createBanRules(
  db: Database,
  codes: Codes,
  untilLinksAreCurrent: () => Promise<void>,
): BanRules {
  async function requireLink(code: string): Promise<BannedLink> {
    const link = await findLinkOfCode(db, code, codes)
    if (!link) throw new AppError(1002, { zh: `短链接 ${code} 不存在`, en: `no such short link: ${code}` })
    return link
  }

  /** Returns false when nothing is left to do. */
  async function markSlice(): Promise<boolean> {
    const marking = await findMarking(db)
    if (marking === undefined) return false
    const hosts = await listBannedHosts(db)
    const rows = await listDestinations(db.reports, Number(marking), linksPerSlice)
    const isWrong = (link: LinkDestinations) => leadsToBanned(link, hosts) !== link.banned >= 2
    const wrong = rows.filter(isWrong).map(({ id }) => id)
    const next = rows.length < linksPerSlice ? 'done' : String(rows.at(-1)?.id ?? 0)
    await db.write(async (tx) => {
      if (!(await advanceMarking(tx, marking, next)) || wrong.length === 0) return
      // They may have changed since they were read.
      const current = (await lockDestinations(tx, wrong)).filter(isWrong)
      const [banned, free] = [true, false].map((flag) =>
        current.filter((link) => leadsToBanned(link, hosts) === flag).map(({ id }) => id),
      )
      await markLinks(tx, free!, false)
      const marked = await markLinks(tx, banned!, true)
      await emitBanned(
        tx,
        marked.filter((link) => (link.banned & 1) === 0),
        'host',
      )
    })
    return true
  }

  return {
    async add(actor, target, note) {
      const ban = { note: note.trim().slice(0, banLimits.noteLength), by: actor.name }
      if ('host' in target) {
        const host = requireHost(target.host)
        await db.write(async (tx) => {
          const isNew = await insertHostBan(tx, host, ban)
          if (isNew && (await countHostBans(tx)) > banLimits.hosts) throw tooMany()
          await recordChange(tx, { ...actor, note: ban.note }, 'ban.add', `host:${host}`)
        })
        await untilLinksAreCurrent()
        return `host:${host}`
      }
      const link = await requireLink(target.code)
      await db.write(async (tx) => {
        const isNew = await insertLinkBan(tx, link, ban)
        await recordChange(tx, { ...actor, note: ban.note }, 'ban.add', `link:${link.code}`, {
          link_id: link.id,
        })
        if (isNew && link.banned === 0) await emitBanned(tx, [link], 'link')
      })
      await untilLinksAreCurrent()
      return `link:${link.code}`
    },

    async remove(actor, target) {
      const link = 'code' in target ? await requireLink(target.code) : undefined
      const host = 'host' in target ? requireHost(target.host) : ''
      const name = link ? `link:${link.code}` : `host:${host}`
      await db.write(async (tx) => {
        const isRemoved = link ? await deleteLinkBan(tx, link.id) : await deleteHostBan(tx, host)
        if (!isRemoved) throw new AppError(1002, { zh: `${name} 没有被封禁`, en: `${name} is not banned` })
        await recordChange(tx, actor, 'ban.remove', name)
      })
      await untilLinksAreCurrent()
      return name
    },

    async mark(mayContinue) {
      while (mayContinue() && (await markSlice()));
    },
  }
}

/** After a change of the link's targets, in the same transaction. */
export async function remarkLink(tx: Tx, id: number, hosts: BannedHosts): Promise<void> {
  // Without bans of hosts the job clears what is left of them.
  if (hosts.size === 0) return
  const [link] = await lockDestinations(tx, [id])
  if (!link) return
  const isBanned = leadsToBanned(link, hosts)
  if (isBanned !== link.banned >= 2) await markLinks(tx, [id], isBanned)
}

function emitBanned(tx: Tx, links: readonly BannedLink[], by: 'link' | 'host'): Promise<void> {
  return emitEvents(
    tx,
    links.map((link) => ({
      accountId: link.account_id,
      type: 'link.banned',
      data: { ...eventData(link), target_url: link.target_url, by },
    })),
  )
}

function requireHost(input: string): string {
  const host = readBannedHost(input.replace(/^\*?\./, ''))
  if (host === undefined) {
    throw invalidField('target', {
      zh: '不是域名或 IP 地址，请写成 bad.example.com',
      en: 'is not a host name or address; write bad.example.com',
    })
  }
  return host
}

function tooMany(): AppError {
  return new AppError(1002, {
    zh: `最多封禁 ${banLimits.hosts} 个域名`,
    en: `at most ${banLimits.hosts} hosts can be banned`,
  })
}

/** Reads `link:CODE` and `host:HOST`. */
export function readBanTarget(text: string): BanTarget | undefined {
  const [, kind, value] = /^(link|host):(.{1,300})$/s.exec(text.trim()) ?? []
  if (value === undefined) return undefined
  return kind === 'host' ? { host: value } : { code: value }
}

// Own link domains: an account claims a host, proves with a TXT record that it is its own, and then creates links on it.
import { randomBytes } from 'node:crypto'
import { isIP } from 'node:net'
import { domainToASCII } from 'node:url'
import { ownDomainLimits, txtRecordOf } from '../../../contract/link-domains.ts'
import { dayMs } from '../../../contract/time.ts'
import { lockAccount } from '../../accounts/store.ts'
import { type Actor, recordChange } from '../../audit/audit.ts'
import type { Database } from '../../db/database.ts'
import { AppError } from '../../http/errors.ts'
import { invalidHost } from '../domains/domains.ts'
import { isPoolHost } from '../domains/store.ts'
import {
  claimRechecks,
  countOwnDomains,
  deleteOwnDomains,
  deleteUnverified,
  findVerifiedOwner,
  insertOwnDomain,
  listClaims,
  type ListedOwnDomain,
  markVerified,
  type OwnDomainRow,
  recordMissing,
} from './store.ts'
import type { FindTxt } from './txt-records.ts'

/** Changes resolve when every process uses them. */
export interface OwnDomainRules {
  add(actor: Actor, accountId: number, input: string): Promise<OwnDomainRow>
  /** Verifies the claim whose record is published: of one account, or of whichever account has it. */
  verify(actor: Actor, input: string, accountId?: number): Promise<ListedOwnDomain>
  remove(actor: Actor, input: string, accountId?: number): Promise<string>
  /** Looks up the records of verified domains again. */
  recheck(signal: AbortSignal): Promise<void>
  deleteOld(signal: AbortSignal): Promise<void>
}

interface Context {
  readonly db: Database
  readonly findTxt: FindTxt
  readonly publicUrl: () => string
  /** Resolves when every process uses what is committed. */
  readonly untilLinksAreCurrent: () => Promise<void>
  readonly log?: { warn(facts: object, text: string): void }
}

const rechecksPerRound = 50

export function createOwnDomainRules({
  db,
  findTxt,
  publicUrl,
  untilLinksAreCurrent,
  log,
}: Context): OwnDomainRules {
  const recordOf = async ({ host, token }: OwnDomainRow): Promise<boolean | undefined> => {
    const { txt_name: name, txt_value: value } = txtRecordOf(host, token)
    return (await findTxt(name))?.some((record) => record.trim() === value)
  }

  return {
    async add(actor, accountId, input) {
      const host = requireOwnHost(input)
      if (host === URL.parse(publicUrl())?.hostname) throw taken(host)
      return db.write(async (tx) => {
        // For the limit: inserts at the same time do not see each other's rows.
        await lockAccount(tx, accountId)
        if (await isPoolHost(tx, host)) throw taken(host)
        const owner = await findVerifiedOwner(tx, host)
        if (owner !== undefined && owner !== accountId) throw verifiedByOther(host)
        if ((await countOwnDomains(tx, accountId)) >= ownDomainLimits.perAccount) {
          const claims = await listClaims(tx, host)
          if (!claims.some((claim) => claim.account_id === accountId)) throw tooMany()
        }
        const token = randomBytes(20).toString('hex')
        const domain = await insertOwnDomain(tx, { account_id: accountId, host, token })
        await recordChange(tx, actor, 'link-domain.add', { accountId }, { host })
        return domain
      })
    },

    async verify(actor, input, accountId) {
      const host = requireOwnHost(input)
      const claims = (await listClaims(db, host)).filter(
        (claim) => accountId === undefined || claim.account_id === accountId,
      )
      const first = claims[0]
      if (!first) throw noSuchDomain(host)
      const records = await findTxt(txtRecordOf(host, '').txt_name)
      if (records === undefined) throw lookupFailed(host)
      const published = new Set(records.map((record) => record.trim()))
      const proven = claims.filter(({ token }) => published.has(txtRecordOf(host, token).txt_value))
      // The holder keeps the host while several records are published.
      const claim = proven.find(({ verified_at }) => verified_at !== null) ?? proven[0]
      if (!claim) throw recordNotFound(claims.length === 1 ? first : undefined, host)
      const isVerified = await db.write(async (tx) => {
        const verified = await markVerified(tx, claim)
        if (verified)
          await recordChange(tx, actor, 'link-domain.verify', { accountId: claim.account_id }, { host })
        return verified
      })
      if (!isVerified) throw verifiedByOther(host)
      await untilLinksAreCurrent()
      return (await listClaims(db, host)).find(({ id }) => id === claim.id) ?? claim
    },

    async remove(actor, input, accountId) {
      const host = requireOwnHost(input)
      const removed = await db.write(async (tx) => {
        const count = await deleteOwnDomains(tx, host, accountId)
        if (count > 0) {
          const target = accountId === undefined ? host : { accountId }
          await recordChange(tx, actor, 'link-domain.remove', target, { host })
        }
        return count
      })
      if (removed === 0) throw noSuchDomain(host)
      await untilLinksAreCurrent()
      return host
    },

    async recheck(signal) {
      while (!signal.aborted) {
        const due = await db.write((tx) => claimRechecks(tx, ownDomainLimits.recheckMs, rechecksPerRound))
        for (const domain of due) {
          const isPublished = await recordOf(domain)
          // A look-up that failed proves nothing: the next one is a day later.
          if (isPublished === undefined) continue
          if (isPublished) await db.write((tx) => markVerified(tx, domain))
          else if (await db.write((tx) => recordMissing(tx, domain.id, ownDomainLimits.missingMs)))
            log?.warn({ domain: domain.host }, 'own domain is no longer verified: its record is missing')
        }
        if (due.length < rechecksPerRound) return
      }
    },

    deleteOld: (signal) => deleteUnverified(db, ownDomainLimits.unverifiedKeepDays * dayMs, signal),
  }
}

/** Lower case and ASCII, without a port; undefined for anything that cannot have a TXT record. */
export function readHost(input: string): string | undefined {
  const text = input.trim().replace(/\.$/, '')
  // The conversion to ASCII drops what follows a host name in a URL.
  if (text.length > 253 || /[^\p{L}\p{N}\p{M}.-]/u.test(text)) return undefined
  const host = domainToASCII(text).toLowerCase()
  if (host.length > ownDomainLimits.hostLength || isIP(host) !== 0) return undefined
  return /^(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)+[a-z][a-z\d-]{0,61}[a-z\d]$/.test(host) ? host : undefined
}

function requireOwnHost(input: string): string {
  const host = readHost(input)
  if (host === undefined) {
    throw invalidHost('不是域名，请写成 s.example.com', 'is not a host name; write s.example.com')
  }
  return host
}

function taken(host: string): AppError {
  return invalidHost(`${host} 是平台自己的域名`, `${host} is a domain of the platform`)
}

function verifiedByOther(host: string): AppError {
  return invalidHost(
    `${host} 已由其他账户验证；该账户移除域名，或其 TXT 记录消失三天后才能添加`,
    `${host} is verified by another account; it must remove it, or its TXT record must be gone for three days`,
  )
}

function tooMany(): AppError {
  const { perAccount } = ownDomainLimits
  return invalidHost(`每个账户最多 ${perAccount} 个域名`, `an account has at most ${perAccount} domains`)
}

function noSuchDomain(host: string): AppError {
  return new AppError(1002, { zh: `域名 ${host} 不存在`, en: `no such domain: ${host}` })
}

function lookupFailed(host: string): AppError {
  return new AppError(1002, {
    zh: `查询 ${host} 的 DNS 记录失败，请稍后重试`,
    en: `the DNS look-up of ${host} failed, try again later`,
  })
}

function recordNotFound(claim: OwnDomainRow | undefined, host: string): AppError {
  const { txt_name: name, txt_value: value } = txtRecordOf(host, claim?.token ?? '…')
  return new AppError(1002, {
    zh: `未找到 TXT 记录 ${name} = ${value}，新记录可能需要几分钟生效`,
    en: `the TXT record ${name} = ${value} was not found; a new record can take some minutes`,
  })
}

// The rules of links: checks input, prepares what the charge's transaction writes, formats records. Used by the API and the console.
import { bannedTarget } from '../../contract/link-abuse.ts'
import { type ClearableField, type RedirectType, shortlink } from '../../contract/shortlink.ts'
import { formatTime, hourMs } from '../../contract/time.ts'
import type { Text } from '../../contract/text.ts'
import { registerWriter, type TransactionWrite } from '../credits/batch-writer.ts'
import type { Charge, Written } from '../credits/operation.ts'
import type { Tx } from '../db/database.ts'
import type { Services } from '../services.ts'
import { AppError } from '../http/errors.ts'
import type { ApiResponse } from '../http/responses.ts'
import { type InvalidParameter, parameterError } from '../http/parameters.ts'
import { isBannedUrl } from './bans/banned-hosts.ts'
import { ChosenCodeTaken } from './codes/chosen-store.ts'
import type { Codes } from './codes/store.ts'
import { createDomainRotation, formatAddresses, normalizeHost } from './domains/domains.ts'
import { codeTaken, conflictError, findConflicts, requireNoConflicts } from './options/conflicts.ts'
import { insertLinksWithOptions } from './options/create-store.ts'
import { hashLinkPassword } from './options/password.ts'
import {
  hasOptions,
  isConditional,
  type OptionChange,
  type OptionInput,
  permanentProblem,
  readOptions,
} from './options/read.ts'
import { describeOptions, type LinkOptions } from './options/record.ts'
import { formatList } from './options/store.ts'
import { findVerifiedOwner } from './own-domains/store.ts'
import type { Lookup, Pools } from './redirect/lookup-store.ts'
import {
  type CreatedLink,
  type Hosts,
  insertLinks,
  linksPart,
  type Link,
  type LinkUpdate,
  type LinkInsert,
  refreshLink,
} from './store.ts'
import {
  type CheckedTarget,
  checkTarget,
  isRedirectType,
  type OwnHosts,
  problemOf,
  titleProblem,
} from './targets.ts'

export interface LinkInput extends OptionInput {
  readonly title?: string | undefined
  readonly target_url?: string | undefined
  readonly redirect_type?: string | undefined
  readonly redirect_url_a?: string | undefined
}

/** The valid part of the input, and all its problems. */
export interface CheckedLink {
  readonly change: LinkUpdate
  /** Undefined when the call has none. */
  readonly options: OptionChange | undefined
  readonly clears: ReadonlySet<ClearableField>
  readonly problems: readonly InvalidParameter[]
}

export interface LinkAddresses {
  readonly link_id: number
  readonly short_code: string
  readonly a_url: string
  readonly b_url: string
}

export interface Links {
  check(input: LinkInput, pools: Pools): CheckedLink
  /** What only the database knows: codes, IDs and domains that the account cannot use. One list for each link. */
  findConflicts(
    accountId: number,
    links: readonly CheckedLink[],
  ): Promise<readonly (readonly InvalidParameter[])[]>
  /** Chooses the domains; the charge's transaction then writes the link. */
  prepareCreate(
    accountId: number,
    link: CheckedLink,
    resultOf: (created: LinkAddresses, charge: Charge) => Written<ApiResponse>,
  ): Promise<TransactionWrite<Charge, Written<ApiResponse>>>
  /** Like `prepareCreate`, for a list that is written as a whole. */
  prepareBatch(
    accountId: number,
    links: readonly CheckedLink[],
    resultOf: (created: readonly LinkAddresses[], charge: Charge) => Written<ApiResponse>,
  ): Promise<TransactionWrite<Charge, Written<ApiResponse>>>
  prepareRefresh(link: Link, chosenCode?: string): Promise<(tx: Tx) => Promise<LinkAddresses>>
  describe(link: Link): LinkRecord
}

/** The links of one call, without options. */
interface LinksToCreate {
  readonly newLinks: readonly Omit<LinkInsert, 'createdAt'>[]
  readonly resultOf: (created: readonly LinkAddresses[], charge: Charge) => Written<ApiResponse>
}

interface PreparedLinks {
  readonly accountId: number
  readonly newLinks: readonly Omit<LinkInsert, 'createdAt'>[]
  readonly list: readonly CheckedLink[]
  readonly isBatch: boolean
}

export interface LinkRecord extends LinkAddresses, LinkOptions {
  readonly target_url: string
  readonly title: string
  readonly redirect_type: RedirectType
  readonly redirect_url_a: string
  readonly created_at: string
}

export function createLinks(
  services: Pick<Services, 'publicUrl' | 'config' | 'db'>,
  lookup: Lookup,
  codes: Codes,
): Links {
  const rotation = createDomainRotation()
  const graceMs = services.config.LINK_REFRESH_GRACE_HOURS * hourMs

  const addresses = (id: number, code: string, hosts: Hosts): LinkAddresses => ({
    link_id: id,
    short_code: code,
    ...formatAddresses(services.publicUrl(), code, hosts),
  })

  const addressesOf = (created: readonly CreatedLink[], links: readonly Pick<LinkInsert, 'hosts'>[]) =>
    created.map(({ id, code }, index) => addresses(id, code, links[index]!.hosts))

  function resultsOf(
    items: readonly LinksToCreate[],
    created: readonly CreatedLink[],
    chargeOf: (index: number) => Charge,
  ): Written<ApiResponse>[] {
    let next = 0
    return items.map(({ newLinks, resultOf }, index) => {
      const own = created.slice(next, (next += newLinks.length))
      return resultOf(addressesOf(own, newLinks), chargeOf(index))
    })
  }

  const createPlain = registerWriter<LinksToCreate, Charge, Written<ApiResponse>>(
    async (tx, items) => {
      const newLinks = items.flatMap(({ item, result: { at } }) =>
        item.newLinks.map((link) => ({ ...link, createdAt: at })),
      )
      const created = await insertLinks(tx, newLinks, codes)
      return resultsOf(
        items.map(({ item }) => item),
        created,
        (index) => items[index]!.result,
      )
    },
    (items) => {
      const { readLinks, ...part } = linksPart(
        items.flatMap(({ newLinks }) => newLinks),
        codes,
      )
      return {
        ...part,
        read: (text, charges) => resultsOf(items, readLinks(text), (index) => charges[index]!),
      }
    },
  )

  function plainLink(
    accountId: number,
    { title, redirectType, target, targetA }: LinkUpdate,
    pool: Hosts,
  ): Omit<LinkInsert, 'createdAt'> {
    if (title === undefined || target === undefined) throw new Error('a link needs a title and a target')
    return {
      accountId,
      title,
      targetUrl: target.url,
      redirectUrlA: targetA?.url ?? '',
      redirectType: redirectType ?? shortlink.operations.generate.parameters.redirect_type.default,
      locationA: targetA === undefined || targetA.url === '' ? target.location : targetA.location,
      locationB: target.location,
      hosts: pool,
    }
  }

  async function newLink(
    accountId: number,
    { change, options }: CheckedLink,
    pool: Hosts,
    hashes?: Map<string, string>,
  ): Promise<Omit<LinkInsert, 'createdAt'>> {
    const link = plainLink(accountId, change, pool)
    if (options === undefined) return link
    const ownDomain = options.domain === undefined ? '' : normalizeHost(options.domain)!
    return {
      ...link,
      hosts: ownDomain === '' ? pool : { ...pool, a: ownDomain },
      options: {
        code: options.shortCode,
        expiresAt: options.expiresAt ?? null,
        expiredUrl: options.expired?.url ?? '',
        expiredLocation: options.expired?.location ?? '',
        maxClicks: options.maxClicks ?? null,
        passwordHash: await hashLinkPassword(options.password, accountId, hashes),
        rules: formatList(options.rules ?? []),
        tags: options.tags ?? [],
        externalId: options.externalId ?? null,
        ownDomain,
      },
    }
  }

  /** The charge has locked the account, so its IDs cannot change meanwhile. */
  async function insertWithOptions(
    tx: Tx,
    { accountId, newLinks, list, isBatch }: PreparedLinks,
    { at }: Charge,
  ): Promise<CreatedLink[]> {
    const links = newLinks.map((link) => ({ ...link, createdAt: at }))
    requireNoConflicts(await findConflicts(tx, accountId, list, codes), isBatch)
    return insertLinksWithOptions(tx, links, codes).catch((error: unknown) => {
      if (!(error instanceof ChosenCodeTaken)) throw error
      const problems = list.map((_one, index) => (error.indexes.includes(index) ? [codeTaken] : []))
      throw conflictError(problems, isBatch)
    })
  }

  let publicUrl: URL | undefined
  const ownHosts = ({ byHost, owners }: Pools): OwnHosts => {
    // Not known before the server listens.
    publicUrl ??= URL.parse(services.publicUrl()) ?? undefined
    return { publicUrl, isPoolHost: (host) => byHost.has(host) || owners.has(host) }
  }

  return {
    check(input, pools) {
      const own = ownHosts(pools)
      const problems: InvalidParameter[] = []
      const checkUrl = (url: string): CheckedTarget => {
        const checked = checkTarget(url, own)
        const isBanned = 'location' in checked && isBannedUrl(checked.location, pools.bannedHosts)
        return isBanned ? { problem: bannedTarget, isWhole: true } : checked
      }
      const target = (name: 'target_url' | 'redirect_url_a') => {
        const url = input[name]
        if (url === undefined) return undefined
        if (url === '' && name === 'redirect_url_a') return { url, location: '' }
        const checked = checkUrl(url)
        if ('location' in checked) return { url, location: checked.location }
        problems.push(problemOf(name, checked))
        return undefined
      }
      const change = {
        title: input.title,
        redirectType: undefined as RedirectType | undefined,
        target: target('target_url'),
        targetA: target('redirect_url_a'),
      }
      const wrongTitle = input.title === undefined ? undefined : titleProblem(input.title)
      if (wrongTitle) problems.push({ name: 'title', text: wrongTitle })
      if (input.redirect_type !== undefined) {
        if (isRedirectType(input.redirect_type)) change.redirectType = input.redirect_type
        else problems.push({ name: 'redirect_type', text: wrongType })
      }
      if (!hasOptions(input)) return { change, options: undefined, clears: noClears, problems }
      const { change: options, clears } = readOptions(input, checkUrl, problems)
      if (change.redirectType === 'permanent' && isConditional(options))
        problems.push({ name: 'redirect_type', text: permanentProblem })
      return { change, options, clears, problems }
    },

    findConflicts: (accountId, list) => findConflicts(services.db, accountId, list, codes),

    async prepareCreate(accountId, checked, resultOf) {
      const { domains } = lookup.cachedPools() ?? (await lookup.pools())
      const pool = rotation.next(domains)
      if (checked.options === undefined)
        return createPlain({
          newLinks: [plainLink(accountId, checked.change, pool)],
          resultOf: ([created], charge) => resultOf(created!, charge),
        })
      const link = await newLink(accountId, checked, pool)
      return async (tx, charge) => {
        const [created] = await insertWithOptions(
          tx,
          { accountId, newLinks: [link], list: [checked], isBatch: false },
          charge,
        )
        return resultOf(addresses(created!.id, created!.code, link.hosts), charge)
      }
    },

    async prepareBatch(accountId, list, resultOf) {
      const { domains } = lookup.cachedPools() ?? (await lookup.pools())
      const hashes = new Map<string, string>()
      const newLinks: Omit<LinkInsert, 'createdAt'>[] = []
      // One after the other: a hash takes a core for some time.
      for (const checked of list) {
        newLinks.push(await newLink(accountId, checked, rotation.next(domains), hashes))
      }
      if (list.every(({ options }) => options === undefined)) return createPlain({ newLinks, resultOf })
      return async (tx, charge) => {
        const created = await insertWithOptions(tx, { accountId, newLinks, list, isBatch: true }, charge)
        return resultOf(addressesOf(created, newLinks), charge)
      }
    },

    async prepareRefresh(link, chosenCode) {
      const { domains } = lookup.cachedPools() ?? (await lookup.pools())
      const next = rotation.after(domains, { a: link.host_a, b: link.host_b })
      return async (tx) => {
        const hosts = (await isStillOwn(tx, link)) ? { ...next, a: link.own_domain } : next
        const refresh = { accountId: link.account_id, id: link.id, hosts, graceMs, chosenCode }
        const code = await refreshLink(tx, refresh, codes).catch((error: unknown) => {
          throw error instanceof ChosenCodeTaken ? parameterError([], [codeTaken]) : error
        })
        if (code === undefined) throw linkNotFound()
        return addresses(link.id, code, hosts)
      }
    },

    describe: (link) => ({
      ...addresses(link.id, link.code, { a: link.host_a, b: link.host_b }),
      target_url: link.target_url,
      title: link.title,
      redirect_type: link.redirect_type,
      redirect_url_a: link.redirect_url_a,
      created_at: formatTime(link.created_at),
      ...describeOptions(link, Date.now()),
    }),
  }
}

/** Whether the link has an own domain that its account has neither removed nor lost since. */
async function isStillOwn(
  tx: Tx,
  { own_domain: host, account_id }: Pick<Link, 'own_domain' | 'account_id'>,
): Promise<boolean> {
  return host !== '' && (await findVerifiedOwner(tx, host)) === account_id
}

const noClears: ReadonlySet<ClearableField> = new Set()

const wrongType: Text = { zh: '只能是 direct、permanent 或 page', en: 'must be direct, permanent or page' }

/** The same error for unknown links, retired codes and links of other accounts. */
export function linkNotFound(): AppError {
  return new AppError(
    1002,
    { zh: '链接不存在或无权修改', en: 'Link not found or no right to modify it' },
    { status: 400 },
  )
}

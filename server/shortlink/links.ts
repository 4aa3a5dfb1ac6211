// The rules of links: checks input, prepares what the charge's transaction writes, formats records. Used by the API and the console.
import { type RedirectType, shortlink } from '../../contract/shortlink.ts'
import { formatTime } from '../../contract/time.ts'
import type { Text } from '../../contract/text.ts'
import { type BatchItem, registerWriter } from '../credits/batch-writer.ts'
import type { Charge, Written } from '../credits/operation.ts'
import type { Tx } from '../db/database.ts'
import type { Services } from '../services.ts'
import { AppError } from '../http/errors.ts'
import type { ApiResponse } from '../http/responses.ts'
import type { InvalidParameter } from '../http/parameters.ts'
import type { Codes } from './codes/store.ts'
import { createDomainRotation, formatAddresses } from './domains/domains.ts'
import { describeOptions, type LinkOptions } from './options/record.ts'
import type { Lookup, Pools } from './redirect/lookup-store.ts'
import {
  type Hosts,
  insertLink,
  insertLinks,
  type Link,
  type LinkChange,
  type NewLink,
  refreshLink,
} from './store.ts'
import { checkTarget, isRedirectType, type OwnHosts, titleProblem } from './targets.ts'

export interface LinkInput {
  readonly title?: string | undefined
  readonly target_url?: string | undefined
  readonly redirect_type?: string | undefined
  readonly redirect_url_a?: string | undefined
}

export interface LinkAddresses {
  readonly link_id: number
  readonly short_code: string
  readonly a_url: string
  readonly b_url: string
}

export interface Links {
  /** Returns the valid part of the input and all its problems. */
  check(
    input: LinkInput,
    pools: Pools,
  ): { readonly change: LinkChange; readonly problems: readonly InvalidParameter[] }
  /** Chooses the domains; the charge's transaction then writes the link. */
  prepareCreate(
    accountId: number,
    change: LinkChange,
    resultOf: (created: LinkAddresses, charge: Charge) => Written<ApiResponse>,
  ): Promise<BatchItem<Charge, Written<ApiResponse>>>
  prepareRefresh(link: Link): Promise<(tx: Tx) => Promise<LinkAddresses>>
  describe(link: Link): LinkRecord
}

interface LinkToCreate {
  readonly link: Omit<NewLink, 'createdAt'>
  readonly resultOf: (created: LinkAddresses, charge: Charge) => Written<ApiResponse>
}

export interface LinkRecord extends LinkAddresses, LinkOptions {
  readonly target_url: string
  readonly title: string
  readonly redirect_type: RedirectType
  readonly redirect_url_a: string
  readonly created_at: string
}

export function createLinks(
  services: Pick<Services, 'publicUrl' | 'config'>,
  lookup: Lookup,
  codes: Codes,
): Links {
  const rotation = createDomainRotation()
  const graceMs = services.config.LINK_REFRESH_GRACE_HOURS * 3_600_000

  const addresses = (id: number, code: string, hosts: Hosts): LinkAddresses => ({
    link_id: id,
    short_code: code,
    ...formatAddresses(services.publicUrl(), code, hosts),
  })

  const createInBatch = registerWriter<LinkToCreate, Charge, Written<ApiResponse>>(async (tx, items) => {
    const newLinks = items.map(({ item, result }) => ({ ...item.link, createdAt: result.at }))
    const created =
      newLinks.length === 1
        ? [await insertLink(tx, newLinks[0]!, codes)]
        : await insertLinks(tx, newLinks, codes)
    return items.map(({ item, result }, index) => {
      const { id, code } = created[index]!
      return item.resultOf(addresses(id, code, item.link.hosts), result)
    })
  })

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
      const target = (name: 'target_url' | 'redirect_url_a') => {
        const url = input[name]
        if (url === undefined) return undefined
        if (url === '' && name === 'redirect_url_a') return { url, location: '' }
        const checked = checkTarget(url, own)
        if ('location' in checked) return { url, location: checked.location }
        problems.push({ name, text: checked.problem })
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
      return { change, problems }
    },

    async prepareCreate(accountId, { title, redirectType, target, targetA }, resultOf) {
      if (title === undefined || target === undefined) throw new Error('a link needs a title and a target')
      const { domains } = await lookup.currentPools()
      const hosts = rotation.next(domains)
      const link = {
        accountId,
        title,
        targetUrl: target.url,
        redirectUrlA: targetA?.url ?? '',
        redirectType: redirectType ?? shortlink.operations.generate.parameters.redirect_type.default,
        locationA: targetA === undefined || targetA.url === '' ? target.location : targetA.location,
        locationB: target.location,
        hosts,
      }
      return createInBatch({ link, resultOf })
    },

    async prepareRefresh(link) {
      const { domains } = await lookup.currentPools()
      const hosts = rotation.after(domains, { a: link.host_a, b: link.host_b })
      return async (tx) => {
        const code = await refreshLink(tx, { accountId: link.account_id, id: link.id, hosts, graceMs }, codes)
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

const wrongType: Text = { zh: '只能是 direct、permanent 或 page', en: 'must be direct, permanent or page' }

/** The same error for unknown links, retired codes and links of other accounts. */
export function linkNotFound(): AppError {
  return new AppError(
    1002,
    { zh: '链接不存在或无权修改', en: 'Link not found or no right to modify it' },
    { status: 400 },
  )
}

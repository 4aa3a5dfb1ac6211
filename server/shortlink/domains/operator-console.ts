// Console routes of the domain pools for operators: list, add, remove, probe.
import { operatorProductRoutes } from '../../../contract/console/operator-products.ts'
import type { PoolDomain } from '../../../contract/console/responses/operator-products.ts'
import { operatorOf } from '../../console/operator-actor.ts'
import { notFound } from '../../console/problem.ts'
import type { SignedInRequest } from '../../console/access.ts'
import type { Api } from '../../console/routes.ts'
import type { Services } from '../../services.ts'
import type { WatchedDomains } from './domains.ts'
import { findDomain, type ListedDomain, listDomains } from './store.ts'

/** Checks a host now. */
export type ProbeHost = (host: string) => Promise<'passes' | 'blocked' | 'failed'>

export function linkDomainPages(api: Api, { db }: Services, domains: WatchedDomains, probe: ProbeHost): void {
  async function requireDomain(request: SignedInRequest): Promise<ListedDomain> {
    const domain = await findDomain(db, request.id())
    if (!domain) throw notFound()
    return domain
  }

  api.operator(operatorProductRoutes.domains, async () => ({
    items: (await listDomains(db)).map(domainOf),
  }))

  api.operator(operatorProductRoutes.addDomain, async (request, input) => {
    const host = await domains.add(operatorOf(request, input), input.pool, input.host.trim())
    const created = (await listDomains(db)).find((domain) => domain.host === host)
    if (!created) throw notFound()
    return domainOf(created)
  })

  api.operator(operatorProductRoutes.removeDomain, async (request, input) => {
    const { pool, host } = await requireDomain(request)
    await domains.remove(operatorOf(request, input), pool, host)
    return {}
  })

  api.operator(operatorProductRoutes.probeDomain, async (request) => {
    const { host } = await requireDomain(request)
    const result = await probe(host)
    const actor = operatorOf(request, { note: '' })
    if (result === 'failed') await domains.probeFailed(actor, host)
    else await domains.recordVerdict(actor, host, result === 'blocked')
    return domainOf(await requireDomain(request))
  })
}

/** A failed probe does not change a blocked domain. */
function domainOf(domain: ListedDomain): PoolDomain {
  const state =
    domain.blocked === 1
      ? 'blocked'
      : domain.probed_at === null
        ? 'unknown'
        : domain.probe_failed === 1
          ? 'failed'
          : 'ok'
  const { id, pool, host, probed_at, added_at } = domain
  return { id, pool, host, state, probed_at, created_at: added_at }
}

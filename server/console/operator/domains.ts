// The pools of link domains in the operator's hands: what there is, put in, taken out, looked at now.
import { Type } from 'typebox'
import { operatorProductRoutes, type PoolDomain } from '../../../contract/console/operator-products.ts'
import type { DomainCheck } from '../../domain-check/api.ts'
import type { Services } from '../../services.ts'
import { findDomain, listDomains, type ListedDomain } from '../../shortlink/domains/store.ts'
import { addPoolDomain, removePoolDomain } from '../../shortlink/domains/domains.ts'
import type { Shortlink } from '../../shortlink/api.ts'
import type { Api, SignedInAsk } from '../routes.ts'
import { note, nothing } from '../fields.ts'
import { notFound } from '../problem.ts'
import { operatorOf } from '../audit-entry.ts'

export function domainPages(
  api: Api,
  { db }: Services,
  { shortlink, domainCheck }: { shortlink: Shortlink; domainCheck: DomainCheck },
): void {
  async function requireDomain(ask: SignedInAsk): Promise<ListedDomain> {
    const domain = await findDomain(db, ask.id())
    if (!domain) throw notFound()
    return domain
  }

  api.operator(operatorProductRoutes.domains, nothing, async () => ({
    items: (await listDomains(db)).map(domainOf),
  }))

  const wish = Type.Object({
    pool: Type.Enum(['a', 'b']),
    host: Type.String({ minLength: 1, maxLength: 300 }),
    note,
  })
  api.operator(operatorProductRoutes.addDomain, wish, async (ask, sent) => {
    const host = await addPoolDomain(db, operatorOf(ask, sent), sent.pool, sent.host.trim())
    const made = (await listDomains(db)).find((domain) => domain.host === host)
    if (!made) throw notFound()
    return domainOf(made)
  })

  api.operator(operatorProductRoutes.removeDomain, Type.Object({ note }), async (ask, sent) => {
    const { pool, host } = await requireDomain(ask)
    await removePoolDomain(db, operatorOf(ask, sent), pool, host)
    return {}
  })

  api.operator(operatorProductRoutes.probeDomain, nothing, async (ask) => {
    const { host } = await requireDomain(ask)
    const result = await domainCheck.probe(host)
    if (result === 'failed') await shortlink.domains.probeFailed(host)
    else await shortlink.domains.recordVerdict(host, result === 'blocked')
    return domainOf(await requireDomain(ask))
  })
}

/** A look that failed does not make a blocked domain any better. */
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

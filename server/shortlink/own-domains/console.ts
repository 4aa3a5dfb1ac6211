// Console routes of own domains: list, add, verify, remove.
import { minuteMs } from '../../../contract/time.ts'
import { ownDomainRoutes } from '../../../contract/console/link-domains.ts'
import type { OwnDomain as OwnDomainResponse } from '../../../contract/console/responses/link-domains.ts'
import { ownDomainLimits, txtRecordOf } from '../../../contract/link-domains.ts'
import type { AccountActor } from '../../audit/audit.ts'
import { ConsoleProblem, notFound } from '../../console/problem.ts'
import type { SignedInRequest } from '../../console/access.ts'
import type { Api } from '../../console/routes.ts'
import type { Services } from '../../services.ts'
import type { Shortlink } from '../api.ts'
import { findOwnDomain, listOwnDomains, type OwnDomainRow } from './store.ts'

export function ownDomainPages(api: Api, { db, limits }: Services, { ownDomains }: Shortlink): void {
  const actorOf = ({ account }: SignedInRequest): AccountActor => ({ kind: 'account', accountId: account.id })

  async function requireDomain(request: SignedInRequest): Promise<OwnDomainRow> {
    const domain = await findOwnDomain(db, request.account.id, request.id())
    if (!domain) throw notFound()
    return domain
  }

  /** A look-up asks servers on the Internet. */
  async function requireFewAttempts(request: SignedInRequest): Promise<void> {
    const result = await limits.attempts.attempt(
      [{ key: `own-domain ${request.account.id}`, max: ownDomainLimits.attemptsPerMinute }],
      minuteMs,
    )
    if (!('retryAfterMs' in result)) return
    throw new ConsoleProblem(
      'too_many',
      { zh: '操作过于频繁，请稍后再试', en: 'Too many attempts, please try again later' },
      { retryAfter: Math.ceil(result.retryAfterMs / 1000) },
    )
  }

  api.account(ownDomainRoutes.list, async (request) => ({
    items: (await listOwnDomains(db, request.account.id)).map(describe),
  }))

  api.account(ownDomainRoutes.add, async (request, input) => {
    await requireFewAttempts(request)
    return describe(await ownDomains.add(actorOf(request), request.account.id, input.host))
  })

  api.account(ownDomainRoutes.verify, async (request) => {
    const { host } = await requireDomain(request)
    await requireFewAttempts(request)
    return describe(await ownDomains.verify(actorOf(request), host, request.account.id))
  })

  api.account(ownDomainRoutes.remove, async (request) => {
    const { host } = await requireDomain(request)
    await ownDomains.remove(actorOf(request), host, request.account.id)
    return {}
  })
}

function describe(domain: OwnDomainRow): OwnDomainResponse {
  const { id, host, token, verified_at, checked_at, added_at } = domain
  const state = verified_at === null ? 'unverified' : domain.missing_since === null ? 'verified' : 'missing'
  return {
    id,
    host,
    ...txtRecordOf(host, token),
    state,
    blocked: domain.blocked === 1,
    verified_at,
    checked_at,
    added_at,
  }
}

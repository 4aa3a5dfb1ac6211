// Own domains of links, and the operator's bans and reports.
import { Type } from 'typebox'
import { banLimits, reportDecisions, reportStates } from '../link-abuse.ts'
import { shortlink } from '../shortlink.ts'
import { Empty, note, Noted, slice } from './fields.ts'
import type { linkAbuseResponses, ownDomainResponses } from './responses/link-domains.ts'
import { route, withResponses } from './route.ts'

const NewOwnDomain = Type.Object({ host: Type.String({ minLength: 1, maxLength: 300 }) })

export const ownDomainRoutes = withResponses<typeof ownDomainResponses>()({
  list: route('GET', '/link-domains', Empty),
  add: route('POST', '/link-domains', NewOwnDomain),
  /** Looks up the TXT record now. */
  verify: route('POST', '/link-domains/:id/verify', Empty),
  remove: route('POST', '/link-domains/:id/remove', Empty),
})

/** `target` is `link:CODE` or `host:HOST`; the note is shown in the list of bans. */
const NewBan = Type.Object({
  target: Type.String({ minLength: 6, maxLength: 300 }),
  note: Type.String({ ...note, maxLength: banLimits.noteLength }),
})

/** `state` is `open` by default. */
const ReportQuery = Type.Object({ ...slice, state: Type.Optional(Type.Enum([...reportStates])) })

/**
 * `ban_host` bans the host of the link's target and everything below it. `target_url` is the target that the operator saw: the
 * host is not banned when the link leads elsewhere by now.
 */
const ReportDecision = Type.Object({
  decision: Type.Enum([...reportDecisions]),
  target_url: Type.Optional(
    Type.String({ maxLength: shortlink.operations.generate.parameters.target_url.maxLength }),
  ),
  note,
})

export const linkAbuseRoutes = withResponses<typeof linkAbuseResponses>()({
  bans: route('GET', '/operator/bans', Type.Object(slice)),
  addBan: route('POST', '/operator/bans', NewBan),
  removeBan: route('POST', '/operator/bans/:id/remove', Noted),
  reports: route('GET', '/operator/link-reports', ReportQuery),
  /** Decides all open reports of the same link. */
  decideReport: route('POST', '/operator/link-reports/:id', ReportDecision),
})

// Decides what a visit of a link with conditions gets: state, limit, password, rules, in this order.
import type { IncomingMessage } from 'node:http'
import { linkLimits } from '../../../contract/shortlink.ts'
import { minuteMs } from '../../../contract/time.ts'
import { verifyPassword } from '../../accounts/password.ts'
import type { UserAgent, VisitKind } from '../clicks/user-agents.ts'
import type { Claims } from '../options/claims-store.ts'
import { stateOf } from '../options/record.ts'
import { matchRules } from '../options/rules.ts'
import type { Services } from '../../services.ts'
import { siteOf } from '../../http/address.ts'
import { networkKeys } from '../../http/network-keys.ts'
import { AppError } from '../../http/errors.ts'
import type { Locate } from '../../places/places.ts'
import type { Destination, LinkConditions } from './lookup-store.ts'
import { bannedPage, exhaustedPage, expiredPage, type Page, passwordPage, pausedPage } from './pages.ts'
import { PasswordFormTooLarge, readPasswordForm } from './password-form.ts'

export interface ConditionalVisit {
  readonly request: IncomingMessage
  readonly isAddressB: boolean
  readonly agent: UserAgent
  readonly kind: VisitKind
  /** A HEAD counts for nothing and uses nothing up. */
  readonly isCounted: boolean
  readonly address: string
}

export type Decision =
  | { readonly kind: 'redirect'; readonly location: string }
  /** The password was right: 303. */
  | { readonly kind: 'see_other'; readonly location: string }
  /** To `expired_url`; not a click. */
  | { readonly kind: 'expired'; readonly location: string }
  | { readonly kind: 'gone'; readonly page: Page }
  | { readonly kind: 'form'; readonly page: Page; readonly retryAfter?: number }
  | { readonly kind: 'method_not_allowed' }

export interface ConditionOptions {
  readonly claims: Claims
  readonly attempts: Services['limits']['attempts']
  readonly locate: Locate
}

export interface ConditionalRedirects {
  /** For GET and HEAD of a link without a limit of visits. */
  decide(found: Destination, conditions: LinkConditions, visit: ConditionalVisit): Decision
  /** The same for a link with a limit, which is counted in the database. */
  decideWithLimit(found: Destination, conditions: LinkConditions, visit: ConditionalVisit): Promise<Decision>
  /** For POST: the password form. */
  submit(found: Destination, conditions: LinkConditions, visit: ConditionalVisit): Promise<Decision>
}

export function createConditionalRedirects({
  claims,
  attempts,
  locate,
}: ConditionOptions): ConditionalRedirects {
  /** A limit that is used up stays so until the link changes, and then there is another object. */
  const exhausted = new WeakSet<Destination>()

  function locationOf(found: Destination, { rules }: LinkConditions, visit: ConditionalVisit): string {
    const { request, agent, address, isAddressB } = visit
    const matched =
      rules.length === 0
        ? undefined
        : matchRules(rules, {
            os: agent.os,
            device: agent.ruleDevice,
            app: agent.app,
            language: firstLanguage(request.headers['accept-language']),
            place: () => locate(address),
          })
    return matched ?? (isAddressB ? found.locationB : found.locationA)
  }

  function whenOver(conditions: LinkConditions, page: Page): Decision {
    return conditions.expiredLocation === ''
      ? { kind: 'gone', page }
      : { kind: 'expired', location: conditions.expiredLocation }
  }

  /** What the link answers whatever the visitor knows; undefined while it is active. The limit is not checked here. */
  function closed(conditions: LinkConditions): Decision | undefined {
    switch (stateOf({ ...conditions, used_clicks: null }, Date.now())) {
      case 'banned':
        return { kind: 'gone', page: bannedPage }
      case 'paused':
        return { kind: 'gone', page: pausedPage }
      case 'expired':
        return whenOver(conditions, expiredPage)
      default:
        return undefined
    }
  }

  async function isExhausted(found: Destination): Promise<boolean> {
    if (exhausted.has(found)) return true
    if (await claims.hasLeft(found.id)) return false
    exhausted.add(found)
    return true
  }

  /** Uses a visit up, unless it is none of a person. */
  async function useVisit(found: Destination, visit: ConditionalVisit): Promise<boolean> {
    if (exhausted.has(found)) return false
    if (visit.kind !== 'person' || !visit.isCounted) return !(await isExhausted(found))
    if (await claims.claim(found.id)) return true
    exhausted.add(found)
    return false
  }

  return {
    decide(found, conditions, visit) {
      const answer = closed(conditions)
      if (answer) return answer
      if (conditions.passwordHash !== null) return passwordForm
      return { kind: 'redirect', location: locationOf(found, conditions, visit) }
    },

    async decideWithLimit(found, conditions, visit) {
      const answer = closed(conditions)
      if (answer) return answer
      if (conditions.passwordHash !== null)
        return (await isExhausted(found)) ? whenOver(conditions, exhaustedPage) : passwordForm
      return (await useVisit(found, visit))
        ? { kind: 'redirect', location: locationOf(found, conditions, visit) }
        : whenOver(conditions, exhaustedPage)
    },

    async submit(found, conditions, visit) {
      if (conditions.passwordHash === null) return { kind: 'method_not_allowed' }
      const answer = closed(conditions)
      if (answer) return answer
      if (conditions.max_clicks !== null && (await isExhausted(found)))
        return whenOver(conditions, exhaustedPage)
      const counted = await attempts.attempt(
        networkKeys(visit.address, linkLimits.passwordAttempts, `link password ${found.id} `),
        minuteMs,
      )
      if ('retryAfterMs' in counted) {
        return {
          kind: 'form',
          page: passwordPage('too_many'),
          retryAfter: Math.max(1, Math.ceil(counted.retryAfterMs / 1000)),
        }
      }
      const isRight = await checkPassword(conditions.passwordHash, visit)
      if (isRight === 'busy') {
        await attempts.undo(counted.counted)
        return { kind: 'form', page: passwordPage('too_many'), retryAfter: 2 }
      }
      if (!isRight) return { kind: 'form', page: passwordPage('wrong') }
      await attempts.undo(counted.counted)
      if (conditions.max_clicks !== null && !(await useVisit(found, visit)))
        return whenOver(conditions, exhaustedPage)
      return { kind: 'see_other', location: locationOf(found, conditions, visit) }
    },
  }
}

const passwordForm: Decision = { kind: 'form', page: passwordPage('ask') }

async function checkPassword(hash: string, visit: ConditionalVisit): Promise<boolean | 'busy'> {
  try {
    const password = await readPasswordForm(visit.request)
    // By network and not by link: the owner of a thousand links would have a thousand turns.
    return password !== '' && (await verifyPassword(hash, password, `visitor ${siteOf(visit.address)}`))
  } catch (error) {
    if (error instanceof PasswordFormTooLarge) return false
    if (error instanceof AppError && error.status === 429) return 'busy'
    throw error
  }
}

/** The two letters of the first language of Accept-Language; empty when unknown. */
function firstLanguage(header: string | undefined): string {
  return /^\s*([a-z]{2})(?![a-z])/i.exec(header ?? '')?.[1]?.toLowerCase() ?? ''
}

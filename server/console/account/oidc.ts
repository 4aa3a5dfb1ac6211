// Console routes of single sign-on: sign-in, linking an account, confirming who the user is, and the callback of the provider.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { minuteMs } from '../../../contract/time.ts'
import { oidcRoutes } from '../../../contract/console/oidc.ts'
import { type Oidc, OidcRefused, type OidcRequest, OidcUnavailable } from '../../accounts/oidc.ts'
import { issuerOf, linkOidc, type OidcSubject, ownsSubject, unlinkOidc } from '../../accounts/oidc-links.ts'
import { findOidcLink, listOidcLinks } from '../../accounts/oidc-store.ts'
import type { SecondFactors } from '../../accounts/second-factor.ts'
import { confirmSession } from '../../accounts/session-store.ts'
import { findById } from '../../accounts/store.ts'
import { createTextCipher } from '../../encryption.ts'
import { networkKeys } from '../../http/network-keys.ts'
import type { Services } from '../../services.ts'
import { requireConfirmation } from '../confirmation.ts'
import { createCookieSetter } from '../cookies.ts'
import { guessLimits } from '../guess-limits.ts'
import { ConsoleProblem, notFound, toProblem } from '../problem.ts'
import type { ConsoleRequest } from '../access.ts'
import type { Api } from '../routes.ts'
import type { SecondStep } from '../second-step.ts'
import type { Sessions } from '../sessions.ts'

const cookieName = 'tg_oidc'
const cookiePath = '/console/api/oidc'
const maxAgeMs = 10 * minuteMs

/** Refused callbacks in 15 minutes, each of which contacts the provider. */
const maxRefused = { perNetwork: 60, perSite: 240 }

/** What is remembered while the browser is at the provider, in an encrypted cookie. */
interface Flow {
  readonly purpose: 'sign_in' | 'link' | 'confirm'
  readonly request: OidcRequest
  /** The page of the console to go to afterwards. */
  readonly next: string
  readonly at: number
  /** The session that links or confirms. */
  readonly session: number | null
}

export interface OidcParts {
  readonly oidc: Oidc | undefined
  readonly sessions: Sessions
  readonly secondFactors: SecondFactors
  readonly secondStep: SecondStep
  readonly isSecure: boolean
}

export function oidcPages(api: Api, app: FastifyInstance, services: Services, parts: OidcParts): void {
  const { db, config } = services
  const { oidc, sessions, secondFactors, secondStep } = parts
  const cipher = createTextCipher(services.secretKey, 'oidc')
  const returns = guessLimits(services.limits.attempts, 'oidc')
  const issuer = config.OIDC_ISSUER === undefined ? '' : issuerOf(config.OIDC_ISSUER)

  const setCookie = createCookieSetter({ name: cookieName, path: cookiePath, isSecure: parts.isSecure })

  async function begin(
    request: ConsoleRequest,
    purpose: Flow['purpose'],
    next: string,
  ): Promise<{ url: string }> {
    if (!oidc) throw notFound()
    const begun = await oidc.begin(purpose === 'confirm').catch((error: unknown) => {
      throw error instanceof OidcUnavailable ? unavailable(error) : error
    })
    const session = request.signedIn?.session.id ?? null
    const flow: Flow = { purpose, request: begun.request, next, at: Date.now(), session }
    setCookie(request.reply, cipher.encrypt(JSON.stringify(flow)), maxAgeMs / 1000)
    return { url: begun.url }
  }

  function readFlow(request: FastifyRequest): Flow | undefined {
    const text = cipher.decrypt(request.cookies[cookieName] ?? '')
    const flow = text === undefined ? undefined : (JSON.parse(text) as Flow)
    return flow && flow.at > Date.now() - maxAgeMs ? flow : undefined
  }

  api.open(oidcRoutes.signIn, (request, input) => begin(request, 'sign_in', readNext(input.next)))

  api.enrolling(oidcRoutes.confirm, (request, input) => begin(request, 'confirm', readNext(input.next)))

  api.account(oidcRoutes.link, (request) => {
    requireConfirmation(request)
    return begin(request, 'link', '/security')
  })

  api.account(oidcRoutes.links, async (request) => ({
    available: oidc !== undefined,
    items: (await listOidcLinks(db, request.account.id)).map(({ subject, name, linked_at }) => ({
      subject,
      name,
      linked_at,
    })),
  }))

  api.account(oidcRoutes.unlink, async (request, { subject }) => {
    requireConfirmation(request)
    const link = (await listOidcLinks(db, request.user.id)).find((one) => one.subject === subject)
    if (!link) throw notFound()
    // Nobody can sign in with a link of an earlier provider.
    const keepLast = config.PASSWORD_LOGIN === 'off' && link.issuer === issuer
    const who = { session: request.signedIn.session }
    if (!(await unlinkOidc(db, who, request.user.id, { ...link, keepLast }))) throw notFound()
    return {}
  })

  app.get('/oidc/callback', async (request, reply) => {
    const flow = readFlow(request)
    setCookie(reply, '', 0)
    if (!oidc || !flow) return toPage(reply, '/sign-in', { oidc: 'expired' })
    const back = flow.purpose === 'sign_in' ? '/sign-in' : '/security'
    try {
      const address = services.http.addressOf(request.raw)
      const counted = await returns.begin(networkKeys(address, maxRefused))
      const subject = await oidc.finish(request.url.split('?')[1] ?? '', flow.request)
      await counted.right()
      return await finishers[flow.purpose](request, reply, flow, subject)
    } catch (error) {
      if (error instanceof OidcRefused || error instanceof OidcUnavailable) {
        services.log.warn({ reason: describe(error.cause ?? error) }, 'single sign-on failed')
        return toPage(reply, back, { oidc: error instanceof OidcRefused ? 'refused' : 'unavailable' })
      }
      const problem = toProblem(error)
      if (problem.status >= 500) services.http.onError(error, request.id)
      return toPage(reply, back, { oidc: problem.code })
    }
  })

  type Finish = (
    request: FastifyRequest,
    reply: FastifyReply,
    flow: Flow,
    subject: OidcSubject,
  ) => Promise<FastifyReply>

  const finishers: Readonly<Record<Flow['purpose'], Finish>> = {
    async sign_in(request, reply, flow, { subject }) {
      const link = await findOidcLink(db, issuer, subject)
      const account = link && (await findById(db, link.account_id))
      if (!account) return toPage(reply, '/sign-in', { oidc: 'unlinked', subject })
      const proof = { method: 'oidc', issuer, subject } as const
      const { enabledAt } = await secondFactors.state(account.id)
      if (enabledAt !== null) {
        secondStep.begin(reply, account, proof)
        return toPage(reply, '/sign-in', { step: 'code', next: flow.next })
      }
      const address = services.http.addressOf(request.raw)
      await sessions.begin(request, reply, { account, proof, secondFactor: 'none' }, address)
      return toPage(reply, flow.next)
    },

    async link(request, reply, flow, subject) {
      const signedIn = await sessions.find(request)
      if (!signedIn || signedIn.session.id !== flow.session)
        return toPage(reply, '/sign-in', { oidc: 'expired' })
      await linkOidc(db, { session: signedIn.session }, signedIn.user.id, { ...subject, issuer })
      return toPage(reply, '/security', { oidc: 'linked' })
    },

    async confirm(request, reply, flow, subject) {
      const signedIn = await sessions.find(request)
      if (!signedIn || signedIn.session.id !== flow.session)
        return toPage(reply, '/sign-in', { oidc: 'expired' })
      if (!(await ownsSubject(db, signedIn.user.id, { ...subject, issuer })))
        return toPage(reply, '/security', { oidc: 'other' })
      await db.write((tx) => confirmSession(tx, signedIn.session.id))
      return toPage(reply, flow.next)
    },
  }

  function toPage(
    reply: FastifyReply,
    path: string,
    query: Readonly<Record<string, string>> = {},
  ): FastifyReply {
    const url = new URL(`${services.publicUrl()}/console${path}`)
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
    return reply.redirect(url.href, 303)
  }
}

/** Only a page of the console: a path that cannot name another host. */
function readNext(next: string | undefined): string {
  return next !== undefined && /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(next) ? next : '/'
}

function unavailable(cause: unknown): ConsoleProblem {
  return new ConsoleProblem(
    'unavailable',
    {
      zh: '统一登录服务暂时无法访问，请稍后再试',
      en: 'The OpenID provider cannot be reached; try again later',
    },
    { cause },
  )
}

/** The library's codes; its messages may hold parts of a response. */
function describe(error: unknown): string {
  const { code, error: oauth } = error as { code?: unknown; error?: unknown }
  return [code, oauth].filter((part) => typeof part === 'string').join(' ') || (error as Error).name
}

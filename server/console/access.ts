// Who may call a console route: sessions, tokens of programs, roles, and operators who view an account.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type AreaName, areaOf, mayAccess, tokenAllows, viewers } from '../../contract/console/roles.ts'
import { languageParameter, type Route, viewAsParameter } from '../../contract/console/route.ts'
import type { Language } from '../../contract/text.ts'
import { isStorableText } from '../../contract/values.ts'
import { type Account, findById } from '../accounts/store.ts'
import { languageOf } from '../http/call.ts'
import { createLazyCache } from '../lazy-cache.ts'
import type { Services } from '../services.ts'
import { requireSameOrigin } from './origin.ts'
import { ConsoleProblem, notFound, suspended } from './problem.ts'
import type { Sessions, SignedIn } from './sessions.ts'
import { hasToken, type TokenAccess } from './token-access.ts'

/** A request to a console route, with what its handler needs. */
export interface ConsoleRequest {
  readonly raw: FastifyRequest
  readonly reply: FastifyReply
  readonly requestId: string
  readonly language: Language
  readonly address: string
  readonly signedIn: SignedIn | undefined
  /** A `:name` part of the path. */
  part(name: string): string
  /** A `:name` part that is a number; anything else is not found. */
  id(name?: string): number
}

export interface SignedInRequest extends ConsoleRequest {
  readonly signedIn: SignedIn
  readonly user: Account
  /** The account that is read or changed: the user's, or the one an operator views. */
  readonly account: Account
  readonly readOnly: boolean
}

/** Checks the access of a request. Throws before its body is read. */
export type OpenRequest<R extends ConsoleRequest> = (
  request: FastifyRequest,
  reply: FastifyReply,
) => Promise<R>

export interface AccessOptions {
  readonly services: Services
  readonly sessions: Sessions
  readonly tokens: TokenAccess
  /** Called when an operator views an account, once per session and account. */
  readonly onView: (operator: SignedIn, account: Account) => Promise<void>
}

interface RouteAccess {
  /** For everyone, signed in or not. */
  readonly open: OpenRequest<ConsoleRequest>
  readonly signedIn: OpenRequest<SignedInRequest>
  /** Also operators who have to enable their second factor first. */
  readonly enrolling: OpenRequest<SignedInRequest>
  /** Operators whose role, and programs whose token, may call the route. */
  operator(route: Route<unknown, unknown>): OpenRequest<SignedInRequest>
}

export function createAccess({ services, sessions, tokens, onView }: AccessOptions): RouteAccess {
  /** Views that are in the audit log, or are being written to it. */
  const seen = createLazyCache<string, Promise<void>>({ max: 10_000 })

  async function open(request: FastifyRequest, reply: FastifyReply): Promise<ConsoleRequest> {
    if (services.http.isStopping()) throw restarting()
    // A token is sent by programs only; a browser never adds it to a request of another site.
    const signedInByToken = await tokens.find(request)
    if (request.method !== 'GET' && !signedInByToken) requireSameOrigin(request, services.publicUrl())
    const parts = request.params as Readonly<Record<string, string>>
    const part = (name: string) => {
      const text = parts[name] ?? ''
      if (!isStorableText(text)) throw notFound()
      return text
    }
    return {
      raw: request,
      reply,
      requestId: request.id,
      language: requestedLanguage(request),
      address: services.http.addressOf(request.raw),
      signedIn: signedInByToken ?? (await sessions.find(request)),
      part,
      id(name = 'id') {
        const text = part(name)
        if (!/^[1-9]\d{0,15}$/.test(text)) throw notFound()
        return Number(text)
      },
    }
  }

  async function openSignedIn(request: FastifyRequest, reply: FastifyReply): Promise<SignedInRequest> {
    const opened = await openEnrolling(request, reply)
    if (opened.signedIn.mustEnrol) throw enrolmentRequired()
    return opened
  }

  /** Tokens are for operator routes only. */
  function peopleOnly<R extends ConsoleRequest>(openRequest: OpenRequest<R>): OpenRequest<R> {
    return async (request, reply) => {
      if (hasToken(request)) throw forbidden()
      return openRequest(request, reply)
    }
  }

  async function openEnrolling(request: FastifyRequest, reply: FastifyReply): Promise<SignedInRequest> {
    const opened = await open(request, reply)
    const { signedIn } = opened
    if (!signedIn) throw unauthenticated()
    if (request.method !== 'GET' && !signedIn.token) sessions.requireToken(request, signedIn)
    if (signedIn.user.suspended === 1) throw suspended()
    const viewed = signedIn.token ? undefined : await viewedAccount(request, signedIn)
    const account = viewed ?? signedIn.user
    return { ...opened, signedIn, user: signedIn.user, account, readOnly: viewed !== undefined }
  }

  async function viewedAccount(request: FastifyRequest, signedIn: SignedIn): Promise<Account | undefined> {
    const wanted = (request.query as Readonly<Record<string, unknown>>)[viewAsParameter]
    if (wanted === undefined) return undefined
    if (signedIn.user.role !== 'operator' || !viewers.includes(signedIn.user.operator_role)) throw forbidden()
    if (signedIn.mustEnrol) throw enrolmentRequired()
    if (request.method !== 'GET') {
      throw new ConsoleProblem('read_only', {
        zh: '正在以只读方式查看其他账户',
        en: 'You are viewing another account, read-only',
      })
    }
    const account =
      typeof wanted === 'string' &&
      /^[1-9]\d{0,15}$/.test(wanted) &&
      (await findById(services.db, Number(wanted)))
    if (!account) throw notFound()
    await recordView(signedIn, account)
    return account
  }

  /** Once per session and account. Without the record there is no view: the next request tries to write it again. */
  async function recordView(signedIn: SignedIn, account: Account): Promise<void> {
    const view = `${signedIn.session.id} ${account.id}`
    let recorded = seen().get(view)
    if (!recorded) {
      recorded = onView(signedIn, account)
      seen().set(view, recorded)
      recorded.catch(() => seen().delete(view))
    }
    await recorded
  }

  function openOperator({ method, path }: Route<unknown, unknown>): OpenRequest<SignedInRequest> {
    const area = areaOf(path)
    const access = method === 'GET' ? 'read' : 'write'
    return async (request, reply) => {
      const opened = await openSignedIn(request, reply)
      const { user, signedIn } = opened
      if (user.role !== 'operator' || !mayAccess(user.operator_role, area, access)) throw forbidden()
      if (signedIn.token && !tokenAllows(signedIn.token.scopes, area, access)) throw forbidden()
      return opened
    }
  }

  return {
    open: peopleOnly(open),
    signedIn: peopleOnly(openSignedIn),
    enrolling: peopleOnly(openEnrolling),
    operator: openOperator,
  }
}

/** For what an operator's route changes in another area than its own. */
export function requireWriter({ user, signedIn }: SignedInRequest, area: AreaName): void {
  const isAllowed =
    mayAccess(user.operator_role, area, 'write') &&
    (!signedIn.token || tokenAllows(signedIn.token.scopes, area, 'write'))
  if (isAllowed) return
  const scope = `${area}:write`
  throw new ConsoleProblem('forbidden', { zh: `还需要权限 ${scope}`, en: `This also needs ${scope}` })
}

export function unauthenticated(): ConsoleProblem {
  return new ConsoleProblem('unauthenticated', { zh: '请重新登录', en: 'Sign in again' })
}

function forbidden(): ConsoleProblem {
  return new ConsoleProblem('forbidden', { zh: '没有权限', en: 'Not allowed' })
}

function enrolmentRequired(): ConsoleProblem {
  return new ConsoleProblem('enrolment_required', {
    zh: '管理员必须先启用两步验证',
    en: 'Operators must enable two-factor authentication first',
  })
}

function restarting(): ConsoleProblem {
  return new ConsoleProblem(
    'unavailable',
    { zh: '服务正在重启，请稍后重试', en: 'The service is restarting. Try again shortly.' },
    { retryAfter: 5 },
  )
}

function requestedLanguage({ query, raw }: FastifyRequest): Language {
  const wanted = (query as Readonly<Record<string, unknown>>)[languageParameter]
  return wanted === 'zh' || wanted === 'en' ? wanted : languageOf(raw)
}

// Registers the console's routes: access, input by the schema of the route, response, and errors.
import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { areaOf, mayAccess, tokenAllows, viewers } from '../../contract/console/roles.ts'
import { type CsvFile, languageParameter, type Route, viewAsParameter } from '../../contract/console/route.ts'
import type { Language } from '../../contract/text.ts'
import { type Account, findById } from '../accounts/store.ts'
import { languageOf } from '../http/call.ts'
import { bytesOf } from '../http/fastify-bodies.ts'
import type { Services } from '../services.ts'
import { isStorableText } from '../../contract/values.ts'
import { inputReader } from './schema.ts'
import { requireSameOrigin, uploadTypes } from './origin.ts'
import { ConsoleProblem, notFound, suspended, toProblem } from './problem.ts'
import type { UserLimits } from './user-limits.ts'
import type { Sessions, SignedIn } from './sessions.ts'
import { createTokenAccess, hasToken } from './token-access.ts'

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

type Register<R extends ConsoleRequest> = <Input, Output>(
  route: Route<Input, Output>,
  handle: (request: R, input: Input) => Promise<Output>,
) => void

/** A file to download. CSV unless it says otherwise. */
export interface DownloadedFile {
  readonly name: string
  readonly content: Readable
  readonly type?: string
}

type RegisterFile<R extends ConsoleRequest> = <Input>(
  route: Route<Input, CsvFile>,
  handle: (request: R, input: Input) => Promise<DownloadedFile>,
) => void

/** The body is a file; the input is in the query. */
type RegisterUpload<R extends ConsoleRequest> = <Input, Output>(
  route: Route<Input, Output>,
  maxBytes: number,
  handle: (request: R, input: Input, file: Buffer) => Promise<Output>,
) => void

export interface Api {
  /** For everyone, signed in or not. */
  readonly open: Register<ConsoleRequest>
  /** For signed-in users who are not suspended. */
  readonly account: Register<SignedInRequest>
  /** Like `account`, and also for operators who have to enable their second factor first. */
  readonly enrolling: Register<SignedInRequest>
  readonly accountFile: RegisterFile<SignedInRequest>
  readonly accountUpload: RegisterUpload<SignedInRequest>
  /** For operators only. */
  readonly operator: Register<SignedInRequest>
  readonly operatorFile: RegisterFile<SignedInRequest>
}

export interface ApiOptions {
  readonly services: Services
  readonly sessions: Sessions
  readonly limits: UserLimits
  /** Called when an operator views an account, once per session and account. */
  readonly onView: (operator: SignedIn, account: Account) => Promise<void>
}

/** Of routes that need no session, such as signing in. */
const openBodyLimit = 65_536

export function createApi(app: FastifyInstance, { services, sessions, limits, onView }: ApiOptions): Api {
  const seen = new Set<string>()
  const tokens = createTokenAccess(services)

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
  function peopleOnly<R extends ConsoleRequest>(openRequest: Open<R>): () => Open<R> {
    return () => async (request, reply) => {
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
    const view = `${signedIn.session.id} ${account.id}`
    if (!seen.has(view)) {
      if (seen.size >= 10_000) seen.clear()
      seen.add(view)
      await onView(signedIn, account)
    }
    return account
  }

  function openOperator({ method, path }: Route<unknown, unknown>): Open<SignedInRequest> {
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

  type Open<R extends ConsoleRequest> = (request: FastifyRequest, reply: FastifyReply) => Promise<R>

  /** Access is checked before the body is read: without it, a caller cannot make us parse anything. */
  function openBeforeBody<R extends ConsoleRequest>(openRequest: Open<R>) {
    const openedRequests = new WeakMap<FastifyRequest, R>()
    return {
      async onRequest(request: FastifyRequest, reply: FastifyReply): Promise<void> {
        openedRequests.set(request, await openRequest(request, reply))
      },
      openedOf: (request: FastifyRequest): R => openedRequests.get(request)!,
    }
  }

  function register<R extends ConsoleRequest>(
    openFor: (route: Route<unknown, unknown>) => Open<R>,
    bodyLimit?: number,
  ): Register<R> {
    return <Input, Output>(
      route: Route<Input, Output>,
      handle: (request: R, input: Input) => Promise<Output>,
    ) => {
      const isGet = route.method === 'GET'
      const read = inputReader<Input>(route)
      const { onRequest, openedOf } = openBeforeBody(openFor(route))
      app.route({
        method: route.method,
        url: route.path,
        ...(bodyLimit !== undefined && { bodyLimit }),
        onRequest,
        handler: async (request, reply) => {
          const opened = openedOf(request)
          const input = read(isGet ? request.query : request.body)
          const leave = await limits.enter(isGet ? 'page' : 'change', opened.signedIn?.user)
          let output: Output
          try {
            const token = isGet ? undefined : opened.signedIn?.token
            output = token
              ? await tokens.once(request, reply, token, input, () => handle(opened, input))
              : await handle(opened, input)
          } finally {
            leave()
          }
          logCall(request, opened, 200)
          return reply.send(output)
        },
      })
    }
  }

  function registerFile<R extends ConsoleRequest>(
    openFor: (route: Route<unknown, unknown>) => Open<R>,
  ): RegisterFile<R> {
    return <Input>(
      route: Route<Input, CsvFile>,
      handle: (request: R, input: Input) => Promise<DownloadedFile>,
    ) => {
      const read = inputReader<Input>(route)
      const { onRequest, openedOf } = openBeforeBody(openFor(route))
      app.route({
        method: 'GET',
        url: route.path,
        onRequest,
        handler: async (request, reply) => {
          const opened = openedOf(request)
          const input = read(request.query)
          const leave = await limits.enter('file', opened.signedIn?.user)
          let file: DownloadedFile
          try {
            file = await handle(opened, input)
          } catch (error) {
            leave()
            throw error
          }
          const { name, content, type = 'text/csv; charset=utf-8' } = file
          content.on('close', leave)
          content.on('error', (error) => services.http.onError(error, request.id))
          logCall(request, opened, 200)
          return reply
            .header('content-disposition', `attachment; filename="${name.replaceAll(/[^\w.-]/g, '_')}"`)
            .header('x-content-type-options', 'nosniff')
            .type(type)
            .send(content)
        },
      })
    }
  }

  function registerUpload<R extends ConsoleRequest>(openRequest: Open<R>): RegisterUpload<R> {
    return <Input, Output>(
      route: Route<Input, Output>,
      maxBytes: number,
      handle: (request: R, input: Input, file: Buffer) => Promise<Output>,
    ) => {
      const read = inputReader<Input>(route)
      const { onRequest, openedOf } = openBeforeBody(openRequest)
      // A scope of its own, because only this route reads such bodies.
      app.register(async (scope) => {
        scope.removeAllContentTypeParsers()
        scope.addContentTypeParser(
          [...uploadTypes],
          { parseAs: 'buffer', bodyLimit: maxBytes },
          (_request, body, done) => done(null, body),
        )
        scope.route({
          method: 'POST',
          url: route.path,
          bodyLimit: maxBytes,
          config: { takesFile: true },
          onRequest,
          handler: async (request, reply) => {
            const opened = openedOf(request)
            const input = read(request.query)
            const leave = await limits.enter('file', opened.signedIn?.user)
            try {
              const output = await handle(opened, input, bytesOf(request))
              logCall(request, opened, 200)
              return await reply.send(output)
            } finally {
              leave()
            }
          },
        })
      })
    }
  }

  function logCall(request: FastifyRequest, opened: ConsoleRequest | undefined, status: number): void {
    services.log.info({
      requestId: request.id,
      // The route as declared, because paths and queries may hold personal data.
      console: `${request.method} ${request.routeOptions.url ?? ''}`,
      account: opened?.signedIn?.user.id,
      status,
      ms: Math.round((performance.now() - request.startedAt) * 100) / 100,
    })
  }

  app.setErrorHandler((error, request, reply) => {
    const problem = toProblem(error)
    if (problem.status >= 500 && problem.code !== 'upstream') services.http.onError(error, request.id)
    logCall(request, undefined, problem.status)
    return sendProblem(request, reply, problem)
  })
  // Outside this prefix every path is a page of the web app, so unknown routes need a handler here.
  const rejectUnknown = async () => {
    throw notFound()
  }
  app.all('/*', { onRequest: rejectUnknown }, rejectUnknown)

  return {
    open: register(peopleOnly(open), openBodyLimit),
    account: register(peopleOnly(openSignedIn)),
    enrolling: register(peopleOnly(openEnrolling)),
    accountFile: registerFile(peopleOnly(openSignedIn)),
    accountUpload: registerUpload(peopleOnly(openSignedIn)()),
    operator: register(openOperator),
    operatorFile: registerFile(openOperator),
  }
}

function sendProblem(request: FastifyRequest, reply: FastifyReply, problem: ConsoleProblem): FastifyReply {
  if (problem.retryAfter !== undefined) reply.header('retry-after', String(problem.retryAfter))
  return reply.code(problem.status).send(problem.body(languageOf(request.raw), request.id))
}

export function unauthenticated(): ConsoleProblem {
  return new ConsoleProblem('unauthenticated', { zh: '请重新登录', en: 'Sign in again' })
}

function forbidden(): ConsoleProblem {
  return new ConsoleProblem('forbidden', { zh: '没有权限', en: 'Not allowed' })
}

function enrolmentRequired(): ConsoleProblem {
  return new ConsoleProblem('enrolment_required', {
    zh: '管理员须先启用两步验证',
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

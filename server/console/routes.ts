// Registers the console's routes: access (access.ts), input by the schema of the route, response, and errors.
import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { CsvFile, Route } from '../../contract/console/route.ts'
import { languageOf } from '../http/call.ts'
import { bytesOf } from '../http/fastify-bodies.ts'
import {
  type AccessOptions,
  type ConsoleRequest,
  createAccess,
  type OpenRequest,
  type SignedInRequest,
  unauthenticated,
} from './access.ts'
import { createMakeOnce } from './once.ts'
import { uploadTypes } from './origin.ts'
import { type ConsoleProblem, notFound, toProblem } from './problem.ts'
import { inputReader } from './schema.ts'
import { createTokenAccess } from './token-access.ts'
import type { Touches } from './touches.ts'
import type { UserLimits } from './user-limits.ts'

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

export interface ApiOptions extends Omit<AccessOptions, 'tokens'> {
  readonly limits: UserLimits
  readonly touches: Pick<Touches, 'touch'>
}

/** Of routes that need no session, such as signing in. */
const openBodyLimit = 65_536

export function createApi(app: FastifyInstance, options: ApiOptions): Api {
  const { services, sessions, limits, touches, onView } = options
  const tokens = createTokenAccess(services, touches)
  const access = createAccess({ services, sessions, tokens, onView })
  const makeOnce = createMakeOnce(services)

  /** Access is checked before the body is read: without it, a caller cannot make us parse anything. */
  function openBeforeBody<R extends ConsoleRequest>(openRequest: OpenRequest<R>) {
    const openedRequests = new WeakMap<FastifyRequest, R>()
    return {
      async onRequest(request: FastifyRequest, reply: FastifyReply): Promise<void> {
        openedRequests.set(request, await openRequest(request, reply))
      },
      openedOf: (request: FastifyRequest): R => openedRequests.get(request)!,
    }
  }

  /** A body may arrive seconds after the access was checked, or wait for its turn: a session that has ended changes nothing. */
  async function requireSession(request: FastifyRequest, opened: ConsoleRequest): Promise<void> {
    // Open routes also serve those whose session has ended; programs have a token instead.
    if (!('user' in opened) || opened.signedIn === undefined || opened.signedIn.token) return
    const now = await sessions.find(request)
    if (now?.session.id !== opened.signedIn.session.id) throw unauthenticated()
  }

  function register<R extends ConsoleRequest>(
    openFor: (route: Route<unknown, unknown>) => OpenRequest<R>,
    bodyLimit?: number,
  ): Register<R> {
    return <Input, Output>(
      route: Route<Input, Output>,
      handle: (request: R, input: Input) => Promise<Output>,
    ) => {
      const isGet = route.method === 'GET'
      const isOperatorChange = !isGet && route.path.startsWith('/operator/')
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
            if (!isGet) await requireSession(request, opened)
            const { signedIn } = opened
            output =
              signedIn && isOperatorChange
                ? await makeOnce(request, reply, { signedIn, input, change: () => handle(opened, input) })
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
    openFor: (route: Route<unknown, unknown>) => OpenRequest<R>,
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

  function registerUpload<R extends ConsoleRequest>(openRequest: OpenRequest<R>): RegisterUpload<R> {
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
              await requireSession(request, opened)
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
    open: register(() => access.open, openBodyLimit),
    account: register(() => access.signedIn),
    enrolling: register(() => access.enrolling),
    accountFile: registerFile(() => access.signedIn),
    accountUpload: registerUpload(access.signedIn),
    operator: register(access.operator),
    operatorFile: registerFile(access.operator),
  }
}

function sendProblem(request: FastifyRequest, reply: FastifyReply, problem: ConsoleProblem): FastifyReply {
  if (problem.retryAfter !== undefined) reply.header('retry-after', String(problem.retryAfter))
  return reply.code(problem.status).send(problem.body(languageOf(request.raw), request.id))
}

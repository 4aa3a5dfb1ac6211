// Puts the console's routes on the server: who may call, what was sent, the answer, and errors in the console's own shape.
import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Static, TObject } from 'typebox'
import { type File, type Route, viewAsParameter } from '../../contract/console/route.ts'
import type { Language } from '../../contract/text.ts'
import { type Account, findById } from '../accounts/store.ts'
import { languageOf } from '../http/call.ts'
import type { Services } from '../services.ts'
import { isStorableText } from '../../contract/values.ts'
import { readBody, readQuery } from './schema.ts'
import { requireOwnPage } from './origin.ts'
import { ConsoleProblem, notFound, toProblem } from './problem.ts'
import type { Sessions, SignedIn } from './sessions.ts'

/** One call of a console page. */
export interface Ask {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly requestId: string
  readonly language: Language
  readonly address: string
  readonly signedIn: SignedIn | undefined
  /** A `:name` part of the path. */
  part(name: string): string
  /** A `:name` part that is a number; anything else is not there. */
  id(name?: string): number
}

export interface SignedInAsk extends Ask {
  readonly signedIn: SignedIn
  readonly user: Account
  /** Whose things are asked for: the user's own, or the account an operator looks at. */
  readonly account: Account
  readonly readOnly: boolean
}

/** The schema must take whatever the contract lets a page send. */
type Fits<Sent, S extends TObject> = Sent extends Static<S> ? S : never

type Register<A extends Ask> = <Sent, Got, S extends TObject>(
  route: Route<Sent, Got>,
  schema: Fits<Sent, S> & S,
  handle: (ask: A, sent: Static<S>) => Promise<Got>,
) => void

type RegisterFile<A extends Ask> = <Sent, S extends TObject>(
  route: Route<Sent, File>,
  schema: Fits<Sent, S> & S,
  handle: (ask: A, sent: Static<S>) => Promise<{ name: string; content: Readable }>,
) => void

export interface Api {
  /** For everyone, signed in or not. */
  readonly open: Register<Ask>
  /** For whoever is signed in and not suspended. */
  readonly account: Register<SignedInAsk>
  readonly accountFile: RegisterFile<SignedInAsk>
  /** For operators only. */
  readonly operator: Register<SignedInAsk>
  readonly operatorFile: RegisterFile<SignedInAsk>
}

export interface ApiOptions {
  readonly services: Services
  readonly sessions: Sessions
  /** Told when an operator opens another's account, once per session and account. */
  readonly onView: (operator: SignedIn, account: Account) => Promise<void>
}

export function apiOver(app: FastifyInstance, { services, sessions, onView }: ApiOptions): Api {
  const seen = new Set<string>()

  async function askOf(request: FastifyRequest, reply: FastifyReply): Promise<Ask> {
    if (services.http.isStopping()) throw restarting()
    if (request.method !== 'GET') requireOwnPage(request, services.publicUrl())
    const parts = request.params as Readonly<Record<string, string>>
    const part = (name: string) => {
      const text = parts[name] ?? ''
      if (!isStorableText(text)) throw notFound()
      return text
    }
    return {
      request,
      reply,
      requestId: request.id,
      language: languageOf(request.raw),
      address: services.http.addressOf(request.raw),
      signedIn: await sessions.find(request),
      part,
      id(name = 'id') {
        const text = part(name)
        if (!/^[1-9]\d{0,15}$/.test(text)) throw notFound()
        return Number(text)
      },
    }
  }

  async function signedInAskOf(request: FastifyRequest, reply: FastifyReply): Promise<SignedInAsk> {
    const ask = await askOf(request, reply)
    const { signedIn } = ask
    if (!signedIn) throw unauthenticated()
    if (request.method !== 'GET') sessions.requireToken(request, signedIn)
    if (signedIn.user.suspended === 1) {
      throw new ConsoleProblem('suspended', { zh: '账户已停用', en: 'The account is suspended' })
    }
    const viewed = await viewedAccount(request, signedIn)
    const account = viewed ?? signedIn.user
    return { ...ask, signedIn, user: signedIn.user, account, readOnly: viewed !== undefined }
  }

  async function viewedAccount(request: FastifyRequest, signedIn: SignedIn): Promise<Account | undefined> {
    const wanted = (request.query as Readonly<Record<string, unknown>>)[viewAsParameter]
    if (wanted === undefined) return undefined
    if (signedIn.user.role !== 'operator') throw forbidden()
    if (request.method !== 'GET') {
      throw new ConsoleProblem('read_only', {
        zh: '正在以只读方式查看其他账户',
        en: 'Another account is looked at, read-only',
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

  async function operatorAskOf(request: FastifyRequest, reply: FastifyReply): Promise<SignedInAsk> {
    const ask = await signedInAskOf(request, reply)
    if (ask.user.role !== 'operator') throw forbidden()
    return ask
  }

  function register<A extends Ask>(
    open: (request: FastifyRequest, reply: FastifyReply) => Promise<A>,
  ): Register<A> {
    return (route, schema, handle) => {
      const read = route.method === 'GET' ? readQuery(schema) : readBody(schema)
      app.route({
        method: route.method,
        url: route.path,
        handler: async (request, reply) => {
          // Whoever may not call learns nothing of what a call would have to look like.
          const ask = await open(request, reply)
          const got = await handle(ask, read(route.method === 'GET' ? request.query : request.body) as never)
          logCall(request, ask, 200)
          return reply.send(got)
        },
      })
    }
  }

  function registerFile<A extends Ask>(
    open: (request: FastifyRequest, reply: FastifyReply) => Promise<A>,
  ): RegisterFile<A> {
    return (route, schema, handle) => {
      const read = readQuery(schema)
      app.route({
        method: 'GET',
        url: route.path,
        handler: async (request, reply) => {
          const ask = await open(request, reply)
          const { name, content } = await handle(ask, read(request.query) as never)
          content.on('error', (error) => services.http.onError(error, request.id))
          logCall(request, ask, 200)
          return reply
            .header('content-disposition', `attachment; filename="${name.replaceAll(/[^\w.-]/g, '_')}"`)
            .type('text/csv; charset=utf-8')
            .send(content)
        },
      })
    }
  }

  function logCall(request: FastifyRequest, ask: Ask | undefined, status: number): void {
    services.log.info({
      requestId: request.id,
      // The route as declared: what was searched for or typed into a path stays out of the log.
      console: `${request.method} ${request.routeOptions.url ?? ''}`,
      account: ask?.signedIn?.user.id,
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
  // A route of its own, because beyond this prefix every address is a page of the app.
  app.all('/*', async () => {
    throw notFound()
  })

  return {
    open: register(askOf),
    account: register(signedInAskOf),
    accountFile: registerFile(signedInAskOf),
    operator: register(operatorAskOf),
    operatorFile: registerFile(operatorAskOf),
  }
}

function sendProblem(request: FastifyRequest, reply: FastifyReply, problem: ConsoleProblem): FastifyReply {
  if (problem.retryAfter !== undefined) reply.header('retry-after', String(problem.retryAfter))
  return reply.code(problem.status).send(problem.body(languageOf(request.raw), request.id))
}

export function unauthenticated(): ConsoleProblem {
  return new ConsoleProblem('unauthenticated', { zh: '请重新登录', en: 'Please sign in again' })
}

function forbidden(): ConsoleProblem {
  return new ConsoleProblem('forbidden', { zh: '没有权限', en: 'Not allowed' })
}

function restarting(): ConsoleProblem {
  return new ConsoleProblem(
    'unavailable',
    { zh: '服务正在重启，请稍后重试', en: 'The service is restarting, please try again shortly' },
    { retryAfter: 5 },
  )
}

// What every product gets from app.ts, and what it returns.
import type { Language } from '../contract/text.ts'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import type { Authenticate } from './accounts/authenticate.ts'
import type { Config } from './config.ts'
import type { Credits } from './credits/credits.ts'
import type { PaidCalls } from './credits/charge/paid-call.ts'
import type { Decide } from './credits/end/sweeper.ts'
import type { Database } from './db/database.ts'
import type { HttpContext, ServedEndpoint } from './http/endpoint.ts'
import type { Jobs } from './jobs.ts'
import type { Limits } from './limits/limits.ts'

export interface Services {
  readonly config: Config
  /** {base_url}, without a trailing slash. Known once the server listens. */
  readonly publicUrl: () => string
  readonly db: Database
  readonly secretKey: string
  /** A separate secret for each purpose, the same in every process. */
  readonly secretFor: (purpose: string) => string
  readonly log: Logger
  readonly metrics: Registry
  readonly jobs: Jobs
  readonly http: HttpContext
  readonly limits: Limits
  readonly authenticate: Authenticate
  readonly credits: Credits
  readonly paidCalls: PaidCalls
  /** By which marketing messages are sent, and webhooks signed. */
  readonly now: () => number
  /** By action: how the sweeper decides overdue operations of a product. Without a decider it refunds them. */
  readonly deciders: Map<string, Decide>
}

export interface NotFoundPage {
  readonly status: number
  readonly html: string
  readonly headers: Readonly<Record<string, string>>
}

/** What a product adds to the service. */
export interface Product {
  /** Its endpoint of the contract. */
  readonly served: ServedEndpoint
  /** Further routes. `api` reads bodies as bytes. */
  readonly routes?: (api: FastifyInstance) => void
  /** Runs before the router: handles the request, or returns false without touching it. */
  readonly fastPath?: (request: IncomingMessage, response: ServerResponse) => boolean
  /** The page for an unknown path, or undefined if the path is not the product's. */
  readonly notFoundPage?: (path: string, language: Language) => NotFoundPage | undefined
  /** Starts threads and the jobs that run in them. Without it a thread starts with its first work. */
  readonly startThreads?: () => void
  /** Starts the background jobs. */
  readonly start?: () => void
  /** Writes buffered data and closes connections. */
  readonly stop?: () => Promise<void>
}

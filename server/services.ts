// What every product is given. Put together once in app.ts, handed over as plain arguments.
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
  /** {base_url}, without a slash at the end. Known once the server listens. */
  readonly publicUrl: () => string
  readonly db: Database
  readonly secretKey: string
  /** A secret of its own for each purpose, the same on every process. */
  readonly secretFor: (purpose: string) => string
  readonly log: Logger
  readonly metrics: Registry
  readonly jobs: Jobs
  readonly http: HttpContext
  readonly limits: Limits
  readonly authenticate: Authenticate
  readonly credits: Credits
  readonly paidCalls: PaidCalls
  /** By action: how the sweeper decides overdue operations of a product. Without a decider it refunds them. */
  readonly deciders: Map<string, Decide>
}

export interface LostPage {
  readonly status: number
  readonly html: string
  readonly headers: Readonly<Record<string, string>>
}

/** What a product puts into the running service. */
export interface Product {
  /** Its endpoint of the contract. */
  readonly served: ServedEndpoint
  /** What else it answers. `api` reads bodies as bytes. */
  readonly routes?: (api: FastifyInstance) => void
  /** Asked before the router: takes the request and answers it, or returns false and has not touched it. */
  readonly fastPath?: (request: IncomingMessage, response: ServerResponse) => boolean
  /** Asked when the router knows nothing: a page for a lost visitor, or undefined. */
  readonly lostPage?: (path: string) => LostPage | undefined
  /** Jobs that run while the service does. */
  readonly start?: () => void
  /** Ends the jobs and writes what is still in memory. */
  readonly stop?: () => Promise<void>
}

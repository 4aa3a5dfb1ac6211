// All operator routes with the schemas of their responses: what /openapi-operator.json documents and the tests of roles walk through.
import type { TSchema } from 'typebox'
import { operatorEventRoutes } from '../events.ts'
import { linkAbuseRoutes } from '../link-domains.ts'
import { operatorAdminRoutes } from '../operators.ts'
import { operatorPaymentRoutes } from '../payments.ts'
import { operatorProductRoutes } from '../operator-products.ts'
import { operatorRoutes } from '../operator.ts'
import { operatorEventResponses } from './events.ts'
import { linkAbuseResponses } from './link-domains.ts'
import { operatorAdminResponses } from './operators.ts'
import { operatorPaymentResponses } from './payments.ts'
import { operatorProductResponses } from './operator-products.ts'
import { operatorResponses } from './operator.ts'
import { operatorSmsRoutes } from '../operator-sms.ts'
import { operatorSmsStatisticsRoutes } from '../sms-statistics.ts'
import { operatorSmsResponses } from './operator-sms.ts'
import { operatorSmsStatisticsResponses } from './sms-statistics.ts'
import type { Route } from '../route.ts'

export interface ConsoleOperation {
  readonly name: string
  readonly route: Route<unknown, unknown>
  readonly response: TSchema
}

/** The routes of a table with the schemas of their responses. */
export function operations<Name extends string>(
  routes: Readonly<Record<Name, unknown>>,
  responses: Readonly<Record<NoInfer<Name>, TSchema>>,
): ConsoleOperation[] {
  return Object.entries(routes).map(([name, one]) => ({
    name,
    route: one as Route<unknown, unknown>,
    response: responses[name as Name],
  }))
}

export const operatorApi: readonly ConsoleOperation[] = [
  ...operations(operatorRoutes, operatorResponses),
  ...operations(operatorProductRoutes, operatorProductResponses),
  ...operations(operatorPaymentRoutes, operatorPaymentResponses),
  ...operations(linkAbuseRoutes, linkAbuseResponses),
  ...operations(operatorAdminRoutes, operatorAdminResponses),
  ...operations(operatorEventRoutes, operatorEventResponses),
  ...operations(operatorSmsRoutes, operatorSmsResponses),
  ...operations(operatorSmsStatisticsRoutes, operatorSmsStatisticsResponses),
]

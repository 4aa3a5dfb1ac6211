// Checks responses of the console API against the schemas of the contract. Undeclared properties are errors too.
import assert from 'node:assert/strict'
import type { TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { creditRoutes } from '../../contract/console/credits.ts'
import { creditResponses } from '../../contract/console/responses/credits.ts'
import { domainCheckRoutes } from '../../contract/console/domain-check.ts'
import { domainCheckResponses } from '../../contract/console/responses/domain-check.ts'
import { eventRoutes, operatorEventRoutes } from '../../contract/console/events.ts'
import { eventResponses, operatorEventResponses } from '../../contract/console/responses/events.ts'
import { homeRoutes } from '../../contract/console/home.ts'
import { homeResponses } from '../../contract/console/responses/home.ts'
import { identityRoutes } from '../../contract/console/identity.ts'
import { identityResponses } from '../../contract/console/responses/identity.ts'
import { keyRoutes } from '../../contract/console/key.ts'
import { keyResponses } from '../../contract/console/responses/key.ts'
import { operatorProductRoutes } from '../../contract/console/operator-products.ts'
import { operatorProductResponses } from '../../contract/console/responses/operator-products.ts'
import { operatorRoutes } from '../../contract/console/operator.ts'
import { operatorResponses } from '../../contract/console/responses/operator.ts'
import { operatorPaymentRoutes, paymentRoutes } from '../../contract/console/payments.ts'
import { operatorPaymentResponses, paymentResponses } from '../../contract/console/responses/payments.ts'
import { operatorAdminRoutes } from '../../contract/console/operators.ts'
import { operatorAdminResponses } from '../../contract/console/responses/operators.ts'
import { requestRoutes, searchRoutes } from '../../contract/console/requests.ts'
import { requestResponses, searchResponses } from '../../contract/console/responses/requests.ts'
import { oidcRoutes } from '../../contract/console/oidc.ts'
import { oidcResponses } from '../../contract/console/responses/oidc.ts'
import { securityRoutes } from '../../contract/console/security.ts'
import { securityResponses } from '../../contract/console/responses/security.ts'
import type { Route } from '../../contract/console/route.ts'
import { sessionRoutes } from '../../contract/console/session.ts'
import { sessionResponses } from '../../contract/console/responses/session.ts'
import { linkImportRoutes } from '../../contract/console/link-import.ts'
import { linkImportResponses } from '../../contract/console/responses/link-import.ts'
import { linkAnalyticsRoutes } from '../../contract/console/link-analytics.ts'
import { linkAnalyticsResponses } from '../../contract/console/responses/link-analytics.ts'
import { linkQrRoutes } from '../../contract/console/link-qr.ts'
import { linkQrResponses } from '../../contract/console/responses/link-qr.ts'
import { linkAbuseRoutes, ownDomainRoutes } from '../../contract/console/link-domains.ts'
import { linkAbuseResponses, ownDomainResponses } from '../../contract/console/responses/link-domains.ts'
import { linkRoutes } from '../../contract/console/shortlink.ts'
import { linkResponses } from '../../contract/console/responses/shortlink.ts'
import { smsRoutes } from '../../contract/console/sms.ts'
import { smsResponses } from '../../contract/console/responses/sms.ts'
import { smsBatchRoutes } from '../../contract/console/sms-batches.ts'
import { smsBatchResponses } from '../../contract/console/responses/sms-batches.ts'

import { operatorSmsStatisticsRoutes, smsStatisticsRoutes } from '../../contract/console/sms-statistics.ts'
import {
  operatorSmsStatisticsResponses,
  smsStatisticsResponses,
} from '../../contract/console/responses/sms-statistics.ts'

import { operatorSmsRoutes } from '../../contract/console/operator-sms.ts'
import { operatorSmsResponses } from '../../contract/console/responses/operator-sms.ts'

type AnyRoute = Pick<Route<unknown, unknown>, 'method' | 'path'>

const keyOf = ({ method, path }: AnyRoute) => `${method} ${path}`

const schemas = new Map<string, TSchema>()

function add<Name extends string>(
  routes: Readonly<Record<Name, AnyRoute>>,
  responses: Readonly<Record<NoInfer<Name>, TSchema>>,
): void {
  for (const [name, route] of Object.entries<AnyRoute>(routes)) {
    schemas.set(keyOf(route), responses[name as Name])
  }
}

add(creditRoutes, creditResponses)
add(domainCheckRoutes, domainCheckResponses)
add(eventRoutes, eventResponses)
add(operatorEventRoutes, operatorEventResponses)
add(homeRoutes, homeResponses)
add(identityRoutes, identityResponses)
add(keyRoutes, keyResponses)
add(operatorRoutes, operatorResponses)
add(operatorAdminRoutes, operatorAdminResponses)
add(operatorProductRoutes, operatorProductResponses)
add(paymentRoutes, paymentResponses)
add(operatorPaymentRoutes, operatorPaymentResponses)
add(requestRoutes, requestResponses)
add(searchRoutes, searchResponses)
add(sessionRoutes, sessionResponses)
add(securityRoutes, securityResponses)
add(oidcRoutes, oidcResponses)
add(linkRoutes, linkResponses)
add(ownDomainRoutes, ownDomainResponses)
add(linkAnalyticsRoutes, linkAnalyticsResponses)
add(linkQrRoutes, linkQrResponses)
add(linkImportRoutes, linkImportResponses)
add(linkAbuseRoutes, linkAbuseResponses)
add(smsRoutes, smsResponses)
add(smsBatchRoutes, smsBatchResponses)
add(smsStatisticsRoutes, smsStatisticsResponses)
add(operatorSmsRoutes, operatorSmsResponses)
add(operatorSmsStatisticsRoutes, operatorSmsStatisticsResponses)

/** Fails unless the body of a successful response is exactly what the contract declares. */
export function checkConsoleResponse(route: AnyRoute, body: unknown): void {
  const schema = schemas.get(keyOf(route))
  if (schema === undefined) return
  const problems = Value.Errors(schema, body).map(
    ({ instancePath, message }) => `${instancePath}: ${message}`,
  )
  assert.deepEqual(problems, [], `response of ${keyOf(route)}`)
  assert.deepEqual(
    body,
    Value.Clean(schema, structuredClone(body)),
    `undeclared properties of ${keyOf(route)}`,
  )
}

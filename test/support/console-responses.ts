// All routes of the console with the schemas of their responses, and a check of responses. Undeclared properties are errors too.
import assert from 'node:assert/strict'
import { Value } from 'typebox/value'
import {
  type ConsoleOperation,
  operations,
  operatorApi,
} from '../../contract/console/responses/operator-api.ts'
import { creditRoutes } from '../../contract/console/credits.ts'
import { creditResponses } from '../../contract/console/responses/credits.ts'
import { domainCheckRoutes } from '../../contract/console/domain-check.ts'
import { domainCheckResponses } from '../../contract/console/responses/domain-check.ts'
import { eventRoutes } from '../../contract/console/events.ts'
import { eventResponses } from '../../contract/console/responses/events.ts'
import { homeRoutes } from '../../contract/console/home.ts'
import { homeResponses } from '../../contract/console/responses/home.ts'
import { identityRoutes } from '../../contract/console/identity.ts'
import { identityResponses } from '../../contract/console/responses/identity.ts'
import { keyRoutes } from '../../contract/console/key.ts'
import { keyResponses } from '../../contract/console/responses/key.ts'
import { paymentRoutes } from '../../contract/console/payments.ts'
import { paymentResponses } from '../../contract/console/responses/payments.ts'
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
import { ownDomainRoutes } from '../../contract/console/link-domains.ts'
import { ownDomainResponses } from '../../contract/console/responses/link-domains.ts'
import { linkRoutes } from '../../contract/console/shortlink.ts'
import { linkResponses } from '../../contract/console/responses/shortlink.ts'
import { smsRoutes } from '../../contract/console/sms.ts'
import { smsResponses } from '../../contract/console/responses/sms.ts'
import { smsBatchRoutes } from '../../contract/console/sms-batches.ts'
import { smsBatchResponses } from '../../contract/console/responses/sms-batches.ts'
import { smsStatisticsRoutes } from '../../contract/console/sms-statistics.ts'
import { smsStatisticsResponses } from '../../contract/console/responses/sms-statistics.ts'

type AnyRoute = Route<unknown, unknown>

/** All routes but those of operators, with the schemas of their responses. `operatorApi` has the others. */
/** Values for the parameters in the paths of all routes. */
export const exampleParts = {
  id: 1,
  kind: 'template',
  group: 'sms',
  name: 'sandbox',
  number: 'T1',
  code: 'p1',
  month: '2026-01',
} as const

export const accountApi: readonly ConsoleOperation[] = [
  ...operations(sessionRoutes, sessionResponses),
  ...operations(homeRoutes, homeResponses),
  ...operations(keyRoutes, keyResponses),
  ...operations(securityRoutes, securityResponses),
  ...operations(oidcRoutes, oidcResponses),
  ...operations(creditRoutes, creditResponses),
  ...operations(requestRoutes, requestResponses),
  ...operations(searchRoutes, searchResponses),
  ...operations(linkRoutes, linkResponses),
  ...operations(ownDomainRoutes, ownDomainResponses),
  ...operations(linkAnalyticsRoutes, linkAnalyticsResponses),
  ...operations(linkQrRoutes, linkQrResponses),
  ...operations(linkImportRoutes, linkImportResponses),
  ...operations(smsRoutes, smsResponses),
  ...operations(smsBatchRoutes, smsBatchResponses),
  ...operations(smsStatisticsRoutes, smsStatisticsResponses),
  ...operations(identityRoutes, identityResponses),
  ...operations(domainCheckRoutes, domainCheckResponses),
  ...operations(eventRoutes, eventResponses),
  ...operations(paymentRoutes, paymentResponses),
]

const keyOf = ({ method, path }: Pick<AnyRoute, 'method' | 'path'>) => `${method} ${path}`

const schemas = new Map(
  [...accountApi, ...operatorApi].map(({ route, response }) => [keyOf(route), response]),
)

/** Fails unless the body of a successful response is exactly what the contract declares. */
export function checkConsoleResponse(route: Pick<AnyRoute, 'method' | 'path'>, body: unknown): void {
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

// Console routes of operators for webhooks: their state over all accounts, and those of one account with their deliveries.
import { operatorEventRoutes } from '../../contract/console/events.ts'
import { findById } from '../accounts/store.ts'
import { readSlice } from '../console/fields.ts'
import { operatorOf } from '../console/operator-actor.ts'
import { notFound } from '../console/problem.ts'
import type { SignedInRequest } from '../console/access.ts'
import type { Api } from '../console/routes.ts'
import type { Services } from '../services.ts'
import { deliveryDetail, deliveryOf, webhookOf } from './console.ts'
import type { EventDelivery } from './delivery.ts'
import { findBacklog } from './dispatch-store.ts'
import { countRecentAttempts, countTroubled, listTroubled } from './health-store.ts'
import { type EndpointRow, findDelivery, findEndpoint, listDeliveries, listEndpoints } from './store.ts'

export function webhookHealthPages(api: Api, { db }: Services, { webhooks }: EventDelivery): void {
  async function requireWebhook(id: number): Promise<EndpointRow> {
    const endpoint = await findEndpoint(db, id)
    if (endpoint?.kind !== 'webhook') throw notFound()
    return endpoint
  }

  async function requireDelivery(request: SignedInRequest) {
    const delivery = await findDelivery(db, request.id())
    if (!delivery) throw notFound()
    return { delivery, endpoint: await requireWebhook(delivery.endpoint_id) }
  }

  api.operator(operatorEventRoutes.health, async () => {
    const { pending, oldestDueAt } = await findBacklog(db)
    const { attempts, failed } = await countRecentAttempts(db)
    const { disabled, failing } = await countTroubled(db)
    const troubled = await listTroubled(db)
    return {
      pending,
      // A delivery that is due later does not wait.
      oldest_due_at: oldestDueAt !== undefined && oldestDueAt <= Date.now() ? oldestDueAt : null,
      attempts_hour: attempts,
      failed_hour: failed,
      disabled,
      failing,
      troubled: troubled.map((row) => ({
        ...webhookOf(row, 'operator'),
        account_id: row.account_id,
        username: row.username,
      })),
    }
  })

  api.operator(operatorEventRoutes.webhooks, async (request) => {
    const account = await findById(db, request.id())
    if (!account) throw notFound()
    const rows = await listEndpoints(db, account.id, 'webhook')
    return { items: rows.map((row) => webhookOf(row, 'operator')), username: account.username }
  })

  api.operator(operatorEventRoutes.deliveries, async (request, input) => {
    const { id } = await requireWebhook(request.id())
    return readSlice(input, (limit) => listDeliveries(db, id, { before: input.before, limit }), deliveryOf)
  })

  api.operator(operatorEventRoutes.delivery, async (request) => {
    const { delivery, endpoint } = await requireDelivery(request)
    return deliveryDetail(db, delivery, endpoint, 'operator')
  })

  api.operator(operatorEventRoutes.resendDelivery, async (request, input) => {
    const { delivery } = await requireDelivery(request)
    await webhooks.resend(operatorOf(request, input), delivery.id)
    return {}
  })

  api.operator(operatorEventRoutes.resendFailed, async (request, input) => {
    const endpoint = await requireWebhook(request.id())
    return { count: await webhooks.resendFailed(operatorOf(request, input), endpoint, input.since) }
  })
}

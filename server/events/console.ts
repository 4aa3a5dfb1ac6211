// Console routes for webhooks, their deliveries, and alert channels.
import { hash } from 'node:crypto'
import { minuteMs } from '../../contract/time.ts'
import { eventRoutes } from '../../contract/console/events.ts'
import type { AlertChannel, Webhook, WebhookDelivery } from '../../contract/console/responses/events.ts'
import { type AlertChannelKind, webhookLimits } from '../../contract/events.ts'
import { hidden, maskPhones } from '../../contract/masking.ts'
import { changeAccount } from '../accounts/accounts.ts'
import type { Queries } from '../db/database.ts'
import { requireNotExpired } from '../console/call-from-console.ts'
import { readSlice } from '../console/fields.ts'
import { guessLimits } from '../console/guess-limits.ts'
import { notFound, tooMany } from '../console/problem.ts'
import type { SignedInRequest } from '../console/access.ts'
import type { Api } from '../console/routes.ts'
import type { Services } from '../services.ts'
import type { EventDelivery } from './delivery.ts'
import { eventBody } from './emit.ts'
import {
  type DeliveryRow,
  type EndpointRow,
  findDelivery,
  findEndpoint,
  listAttempts,
  listDeliveries,
  listEndpoints,
} from './store.ts'
import { listEventTypes } from './webhooks.ts'

/** Messages with codes in 15 minutes, of one account and to one target, so that a target cannot be flooded. */
const maxCodesByAccount = 20
const maxCodesToTarget = 5

export function eventPages(
  api: Api,
  { db, limits }: Services,
  { webhooks, alerts, channels }: EventDelivery,
): void {
  const codes = guessLimits(limits.attempts, 'alert channel')
  const actorOf = ({ account }: SignedInRequest) => ({ kind: 'account', accountId: account.id }) as const

  async function requireEndpoint(
    request: SignedInRequest,
    kind: 'webhook' | 'alert',
    id: number = request.id(),
  ): Promise<EndpointRow> {
    const endpoint = await findEndpoint(db, id)
    const isOfKind = (endpoint?.kind === 'webhook') === (kind === 'webhook')
    if (endpoint?.account_id !== request.account.id || !isOfKind) throw notFound()
    return endpoint
  }

  async function requireDelivery(
    request: SignedInRequest,
  ): Promise<{ delivery: DeliveryRow; endpoint: EndpointRow }> {
    const delivery = await findDelivery(db, request.id())
    if (delivery?.account_id !== request.account.id) throw notFound()
    return { delivery, endpoint: await requireEndpoint(request, 'webhook', delivery.endpoint_id) }
  }

  api.account(eventRoutes.webhooks, async (request) => ({
    items: (await listEndpoints(db, request.account.id, 'webhook')).map((endpoint) =>
      webhookOf(endpoint, readerOf(request)),
    ),
  }))

  api.account(eventRoutes.addWebhook, async (request, input) => {
    requireNotExpired(request.account)
    const { id, secret } = await webhooks.add(actorOf(request), request.account.id, input)
    return { ...webhookOf(await requireEndpoint(request, 'webhook', id), 'holder'), secret }
  })

  api.account(eventRoutes.changeWebhook, async (request, input) => {
    const endpoint = await requireEndpoint(request, 'webhook')
    await webhooks.update(actorOf(request), endpoint, input)
    return webhookOf(await requireEndpoint(request, 'webhook'), 'holder')
  })

  api.account(eventRoutes.setWebhookState, async (request, { state }) => {
    await webhooks.setState(actorOf(request), await requireEndpoint(request, 'webhook'), state)
    return webhookOf(await requireEndpoint(request, 'webhook'), 'holder')
  })

  api.account(eventRoutes.removeWebhook, async (request) => {
    await webhooks.remove(actorOf(request), await requireEndpoint(request, 'webhook'))
    return {}
  })

  api.account(eventRoutes.rotateWebhook, async (request) => ({
    secret: await webhooks.rotate(actorOf(request), await requireEndpoint(request, 'webhook')),
  }))

  /** Limits tests and repeated deliveries: they cost no credits, and each inserts rows. */
  async function limitRequested({ account }: SignedInRequest): Promise<void> {
    const max = webhookLimits.requestedPerMinute
    const result = await limits.attempts.attempt(
      [{ key: `webhook from the console ${account.id}`, max }],
      minuteMs,
    )
    if ('retryAfterMs' in result) throw tooMany(Math.max(1, Math.ceil(result.retryAfterMs / 1000)))
  }

  api.account(eventRoutes.testWebhook, async (request) => {
    const endpoint = await requireEndpoint(request, 'webhook')
    await limitRequested(request)
    return { delivery: await webhooks.test(endpoint) }
  })

  api.account(eventRoutes.deliveries, async (request, input) => {
    const { id } = await requireEndpoint(request, 'webhook')
    return readSlice(input, (limit) => listDeliveries(db, id, { before: input.before, limit }), deliveryOf)
  })

  api.account(eventRoutes.delivery, async (request) => {
    const { delivery, endpoint } = await requireDelivery(request)
    return deliveryDetail(db, delivery, endpoint, readerOf(request))
  })

  api.account(eventRoutes.resendDelivery, async (request) => {
    const { delivery } = await requireDelivery(request)
    await limitRequested(request)
    await webhooks.resend(actorOf(request), delivery.id)
    return {}
  })

  api.account(eventRoutes.resendFailed, async (request, { since }) => {
    const endpoint = await requireEndpoint(request, 'webhook')
    await limitRequested(request)
    return { count: await webhooks.resendFailed(actorOf(request), endpoint, since) }
  })

  const channelOf = (endpoint: EndpointRow): AlertChannel => ({
    id: endpoint.id,
    kind: endpoint.kind as AlertChannelKind,
    target: alerts.describeTarget(endpoint),
    state: endpoint.state,
    disabled_reason: endpoint.disabled_reason,
    created_at: endpoint.created_at,
  })

  api.account(eventRoutes.alertChannels, async ({ account }) => ({
    items: (await listEndpoints(db, account.id, 'alert')).map(channelOf),
    percents: account.alert_percents.split(',').filter(Boolean).map(Number),
    kinds: [...channels.keys()],
  }))

  api.account(eventRoutes.setAlertPercents, async (request, { percents }) => {
    requireNotExpired(request.account)
    await changeAccount(db, actorOf(request), request.account, { alertPercents: percents })
    return {}
  })

  api.account(eventRoutes.addAlertChannel, async (request, input) => {
    requireNotExpired(request.account)
    const { language } = request
    await codes.begin([
      { key: `account ${request.account.id}`, max: maxCodesByAccount },
      // The URL of a robot is a credential, so it is not stored.
      { key: `to ${hash('sha256', input.target.trim().toLowerCase())}`, max: maxCodesToTarget },
    ])
    const { id, sent } = await alerts.add(actorOf(request), request.account, { ...input, language })
    return { ...channelOf(await requireEndpoint(request, 'alert', id)), sent }
  })

  api.account(eventRoutes.confirmAlertChannel, async (request, { code }) => {
    await alerts.confirm(actorOf(request), await requireEndpoint(request, 'alert'), code)
    return channelOf(await requireEndpoint(request, 'alert'))
  })

  api.account(eventRoutes.removeAlertChannel, async (request) => {
    await alerts.remove(actorOf(request), await requireEndpoint(request, 'alert'))
    return {}
  })
}

/** Phone numbers are data of the account, and URLs may hold a token; operators do not need them to find a fault. */
type WebhookReader = 'holder' | 'operator'

const readerOf = ({ readOnly }: SignedInRequest): WebhookReader => (readOnly ? 'operator' : 'holder')

export function webhookOf(endpoint: EndpointRow, reader: WebhookReader): Webhook {
  return {
    id: endpoint.id,
    url: reader === 'operator' ? maskUrl(endpoint.url) : endpoint.url,
    events: [...listEventTypes(endpoint.event_types)],
    state: endpoint.state === 'active' ? 'active' : 'disabled',
    disabled_reason: endpoint.disabled_reason,
    failing_since: endpoint.failing_since,
    created_at: endpoint.created_at,
  }
}

/** Without its query and the last part of its path. */
function maskUrl(text: string): string {
  const { origin, pathname, search } = new URL(text)
  const [, folder, name] = /^(.*\/)(.*)$/.exec(pathname)!
  return `${origin}${folder}${name === '' ? '' : hidden}${search === '' ? '' : `?${hidden}`}`
}

export function deliveryOf(row: DeliveryRow): WebhookDelivery {
  return {
    id: row.id,
    event_id: row.uid,
    type: row.type,
    state: row.state,
    attempts: row.attempts,
    last_status: row.last_status,
    last_error: row.last_error,
    created_at: row.created_at,
    next_attempt_at: row.state === 'pending' ? row.due_at : null,
  }
}

export async function deliveryDetail(
  queries: Queries,
  delivery: DeliveryRow,
  endpoint: EndpointRow,
  reader: WebhookReader,
) {
  const attempts = await listAttempts(queries, delivery.id)
  const shown = (text: string) => (reader === 'operator' ? maskPhones(text) : text)
  return {
    ...deliveryOf(delivery),
    url: webhookOf(endpoint, reader).url,
    body: shown(eventBody(reader === 'operator' ? { ...delivery, data: maskData(delivery) } : delivery)),
    attempt_list: attempts.map(({ id, at, duration_ms, status, error, response }) => ({
      id,
      at,
      duration_ms,
      status,
      error,
      response: shown(response),
    })),
  }
}

/** It names another webhook of the account. */
function maskData({ type, data }: DeliveryRow): string {
  if (type !== 'webhook.disabled') return data
  const fields = JSON.parse(data) as { readonly url: string }
  return JSON.stringify({ ...fields, url: maskUrl(fields.url) })
}

// The rules of webhook endpoints: registration, rotation of the secret, tests, sending again, disabling.
import { type EventType, isEventType, webhookLimits } from '../../contract/events.ts'
import type { Text } from '../../contract/text.ts'
import { type Actor, recordChange } from '../audit/audit.ts'
import type { TextCipher } from '../encryption.ts'
import type { Database, Tx } from '../db/database.ts'
import { AppError, invalidInput } from '../http/errors.ts'
import { isPublicAddress } from '../upstream/public-address.ts'
import { emitEvents, emitTo } from './emit.ts'
import { generateWebhookSecret } from './signature.ts'
import {
  deleteEndpoint,
  type EndpointRow,
  findDelivery,
  findEndpoint,
  insertEndpoint,
  lockAccountEndpoints,
  replaceSecret,
  restartDelivery,
  restartFailed,
  updateEndpoint,
  updateWantedTypes,
} from './store.ts'

export type DisableReason = NonNullable<EndpointRow['disabled_reason']>

export interface Webhooks {
  add(actor: Actor, accountId: number, input: WebhookFields): Promise<{ id: number; secret: string }>
  update(actor: Actor, endpoint: EndpointRow, input: WebhookFields): Promise<void>
  /** A disabled endpoint starts again with what is still pending. */
  setState(actor: Actor, endpoint: EndpointRow, state: 'active' | 'disabled'): Promise<void>
  remove(actor: Actor, endpoint: EndpointRow): Promise<void>
  /** The old secret signs as well for a day. */
  rotate(actor: Actor, endpoint: EndpointRow): Promise<string>
  /** Sends a `ping`; returns the id of its delivery. */
  test(endpoint: EndpointRow): Promise<number>
  resend(actor: Actor, deliveryId: number): Promise<void>
  resendFailed(actor: Actor, endpoint: EndpointRow, since: number): Promise<number>
}

export interface WebhookFields {
  readonly url: string
  /** Empty for all types. */
  readonly events: readonly string[]
}

export interface WebhookOptions {
  readonly db: Database
  readonly cipher: TextCipher
  readonly allowPrivate: boolean
}

export function createWebhooks({ db, cipher, allowPrivate }: WebhookOptions): Webhooks {
  const target = ({ account_id: accountId }: EndpointRow) => ({ accountId })

  return {
    async add(actor, accountId, input) {
      const url = readWebhookUrl(input.url, allowPrivate)
      const types = readEventTypes(input.events)
      const secret = generateWebhookSecret()
      const id = await db.write(async (tx) => {
        const count = await lockAccountEndpoints(tx, accountId, 'webhook')
        if (count >= webhookLimits.perAccount) throw tooManyEndpoints()
        const added = await insertEndpoint(tx, {
          account_id: accountId,
          kind: 'webhook',
          url,
          event_types: types,
          secret: cipher.encrypt(secret),
          state: 'active',
          language: 'zh',
          confirm_hash: null,
        })
        await updateWantedTypes(tx, accountId)
        await recordChange(tx, actor, 'webhook.add', { accountId }, { webhook: added, host: hostOf(url) })
        return added
      })
      return { id, secret }
    },
    async update(actor, endpoint, input) {
      const url = readWebhookUrl(input.url, allowPrivate)
      const types = readEventTypes(input.events)
      await db.write(async (tx) => {
        await lockAccountEndpoints(tx, endpoint.account_id, 'webhook')
        const isMoved = (await findEndpoint(tx, endpoint.id))?.url !== url
        await updateEndpoint(tx, endpoint.id, { url, event_types: types, ...(isMoved && newReceiver) })
        await updateWantedTypes(tx, endpoint.account_id)
        await recordChange(tx, actor, 'webhook.update', target(endpoint), {
          webhook: endpoint.id,
          host: hostOf(url),
        })
      })
    },
    async setState(actor, endpoint, state) {
      await db.write(async (tx) => {
        await lockAccountEndpoints(tx, endpoint.account_id, 'webhook')
        const reason = state === 'disabled' ? 'by_user' : null
        await updateEndpoint(tx, endpoint.id, { state, disabled_reason: reason, ...newReceiver })
        await updateWantedTypes(tx, endpoint.account_id)
        await recordChange(tx, actor, 'webhook.set_state', target(endpoint), { webhook: endpoint.id, state })
      })
    },
    async remove(actor, endpoint) {
      await db.write(async (tx) => {
        await lockAccountEndpoints(tx, endpoint.account_id, 'webhook')
        await deleteEndpoint(tx, endpoint.id)
        await updateWantedTypes(tx, endpoint.account_id)
        await recordChange(tx, actor, 'webhook.remove', target(endpoint), { webhook: endpoint.id })
      })
    },
    async rotate(actor, endpoint) {
      const secret = generateWebhookSecret()
      await db.write(async (tx) => {
        await replaceSecret(tx, endpoint.id, cipher.encrypt(secret), webhookLimits.rotationMs)
        await recordChange(tx, actor, 'webhook.rotate', target(endpoint), { webhook: endpoint.id })
      })
      return secret
    },
    async test(endpoint) {
      if (endpoint.state === 'disabled') throw webhookDisabled()
      const event = {
        accountId: endpoint.account_id,
        type: 'ping',
        data: { webhook_id: endpoint.id },
      } as const
      return db.write((tx) => emitTo(tx, endpoint.id, event))
    },
    async resend(actor, deliveryId) {
      await db.write(async (tx) => {
        const delivery = await findDelivery(tx, deliveryId)
        if (!delivery || !(await findEndpoint(tx, delivery.endpoint_id))) throw deliveryNotFound()
        await restartDelivery(tx, deliveryId)
        await recordChange(
          tx,
          actor,
          'webhook.resend',
          { accountId: delivery.account_id },
          { delivery: deliveryId },
        )
      })
    },
    async resendFailed(actor, endpoint, since) {
      return db.write(async (tx) => {
        const restarted = await restartFailed(tx, endpoint.id, since)
        await recordChange(tx, actor, 'webhook.resend', target(endpoint), {
          webhook: endpoint.id,
          deliveries: restarted,
        })
        return restarted
      })
    },
  }
}

/** The failures of another receiver, and the pause that it asked for, no longer count. */
const newReceiver = { failing_since: null, paused_until: 0 }

/**
 * Disables an endpoint, unless it has another URL meanwhile, and reports it to the account's other endpoints. Its pending deliveries
 * wait until it is enabled again.
 */
export async function disableEndpoint(
  tx: Tx,
  { id: endpointId, account_id, url }: Pick<EndpointRow, 'id' | 'account_id' | 'url'>,
  reason: DisableReason,
): Promise<void> {
  // The account first, as in every change of its endpoints.
  await lockAccountEndpoints(tx, account_id, 'webhook')
  const endpoint = await findEndpoint(tx, endpointId)
  if (!endpoint || endpoint.state === 'disabled' || endpoint.url !== url) return
  await updateEndpoint(tx, endpointId, { state: 'disabled', disabled_reason: reason })
  await updateWantedTypes(tx, endpoint.account_id)
  if (endpoint.kind !== 'webhook') return
  await emitEvents(tx, [
    {
      accountId: endpoint.account_id,
      type: 'webhook.disabled',
      data: { webhook_id: endpointId, url: endpoint.url, reason },
    },
  ])
}

/** An address that cannot be public is rejected here; what a name resolves to is checked at each connection. */
export function readWebhookUrl(text: string, allowPrivate: boolean): string {
  const url = URL.parse(text.trim())
  const problem = findUrlProblem(url, allowPrivate)
  if (problem) throw invalidInput({ url: problem })
  return url!.href
}

function findUrlProblem(url: URL | null, allowPrivate: boolean): Text | undefined {
  if (!url || !/^https?:$/.test(url.protocol))
    return {
      zh: '必须是 http:// 或 https:// 开头的完整地址',
      en: 'must be a complete http:// or https:// URL',
    }
  if (url.href.length > webhookLimits.urlLength)
    return {
      zh: `最多 ${webhookLimits.urlLength} 个字符`,
      en: `must have at most ${webhookLimits.urlLength} characters`,
    }
  if (url.username !== '' || url.password !== '')
    return { zh: '不能包含用户名或密码', en: 'must not contain a user name or password' }
  // A name may end with a dot.
  const host = url.hostname.replace(/^\[|\]$|\.$/g, '')
  const isAddress = /^[\d.]+$/.test(host) || host.includes(':')
  const isLocal = host === 'localhost' || host.endsWith('.localhost') || (isAddress && !isPublicAddress(host))
  if (isLocal && !allowPrivate)
    return { zh: '不能是内网或本机地址', en: 'must not be a private or loopback address' }
  return undefined
}

/** Space-separated types, or `*` for all. */
function readEventTypes(given: readonly string[]): string {
  const types = [...new Set(given.map((type) => type.trim()).filter((type) => type !== ''))]
  const unknown = types.filter((type) => type !== '*' && !isEventType(type))
  if (unknown.length > 0) {
    throw invalidInput({
      events: { zh: `事件类型 ${unknown[0]} 不存在`, en: `has no event type ${unknown[0]}` },
    })
  }
  return types.length === 0 || types.includes('*') ? '*' : types.sort().join(' ')
}

/** The types as a list; all of them are `*`. */
export function listEventTypes(types: string): readonly (EventType | '*')[] {
  return types.split(' ') as (EventType | '*')[]
}

function hostOf(url: string): string {
  return new URL(url).host
}

function tooManyEndpoints(): AppError {
  const { perAccount } = webhookLimits
  return new AppError(1002, {
    zh: `每个账户最多 ${perAccount} 个 Webhook`,
    en: `an account has at most ${perAccount} webhooks`,
  })
}

export function webhookNotFound(): AppError {
  return new AppError(1002, { zh: 'Webhook 不存在', en: 'no such webhook' }, { status: 404 })
}

function webhookDisabled(): AppError {
  return new AppError(1005, { zh: 'Webhook 已停用', en: 'the webhook is disabled' })
}

function deliveryNotFound(): AppError {
  return new AppError(1002, { zh: '投递记录不存在', en: 'no such delivery' }, { status: 404 })
}

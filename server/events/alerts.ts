// The rules of alert channels: registration, confirmation, removal, unsubscribing.
import { createHmac } from 'node:crypto'
import {
  accountAlertTypes,
  type AlertChannelKind,
  alertChannelKinds,
  alertLimits,
  platformAlertTypes,
} from '../../contract/events.ts'
import type { Language } from '../../contract/text.ts'
import { type Actor, recordChange } from '../audit/audit.ts'
import type { Database } from '../db/database.ts'
import { isSameSecret } from '../encryption.ts'
import type { TextCipher } from '../encryption.ts'
import { AppError, invalidInput } from '../http/errors.ts'
import { randomDigits } from '../random.ts'
import type { AlertSender, AlertMessage } from './channels/port.ts'
import {
  countConfirmAttempt,
  deleteEndpoint,
  type EndpointRow,
  findEndpoint,
  findStaleChannels,
  insertEndpoint,
  lockAccountEndpoints,
  updateAlertTypes,
  updateEndpoint,
  updateWantedTypes,
} from './store.ts'
import { readWebhookUrl } from './webhooks.ts'

export interface Alerts {
  /** Adds a channel and sends it the code that confirms it. */
  add(actor: Actor, account: AlertAccount, input: AlertInput): Promise<{ id: number; sent: boolean }>
  /** With the code from the message. */
  confirm(actor: Actor, endpoint: EndpointRow, code: string): Promise<void>
  /** By an operator who knows the target; no code is needed. */
  confirmByOperator(actor: Actor, endpoint: EndpointRow): Promise<void>
  remove(actor: Actor, endpoint: EndpointRow): Promise<void>
  /** Ends the alerts of a channel; false when the token is wrong. */
  unsubscribe(endpointId: number, token: string): Promise<boolean>
  unsubscribeUrl(endpointId: number): string
  /** The target without what makes it a credential. */
  describeTarget(endpoint: EndpointRow): string
}

export interface AlertAccount {
  readonly id: number
  readonly role: 'account' | 'operator'
}

export interface AlertInput {
  readonly kind: string
  readonly target: string
  readonly secret?: string | undefined
  readonly language: Language
}

export interface AlertOptions {
  readonly db: Database
  readonly cipher: TextCipher
  readonly channels: ReadonlyMap<AlertChannelKind, AlertSender>
  readonly allowPrivate: boolean
  readonly publicUrl: () => string
  /** Keys the hashes of codes and the tokens of unsubscribe links. */
  readonly secret: string
}

export function createAlerts(options: AlertOptions): Alerts {
  const { db, cipher, channels } = options
  const keyed = (...parts: readonly (string | number)[]) =>
    createHmac('sha256', options.secret).update(parts.join(' ')).digest('hex')
  const tokenOf = (endpointId: number) => keyed('unsubscribe', endpointId).slice(0, 32)
  const unsubscribeUrl = (id: number) => `${options.publicUrl()}/alerts/unsubscribe/${id}/${tokenOf(id)}`

  async function activate(actor: Actor, endpoint: EndpointRow): Promise<void> {
    await db.write(async (tx) => {
      await lockAccountEndpoints(tx, endpoint.account_id, 'alert')
      await updateEndpoint(tx, endpoint.id, { state: 'active', disabled_reason: null, confirm_hash: null })
      await updateWantedTypes(tx, endpoint.account_id)
      const target = { accountId: endpoint.account_id }
      await recordChange(tx, actor, 'notify.confirm', target, { channel: endpoint.id })
    })
  }

  return {
    async add(actor, account, { kind: given, target: givenTarget, secret, language }) {
      const kind = alertChannelKinds.find((one) => one === given)
      if (!kind)
        throw invalidInput({ kind: { zh: `必须是 ${alertChannelKinds.join('、')}`, en: 'is unknown' } })
      const channel = channels.get(kind)
      if (!channel)
        throw new AppError(1005, { zh: '未配置 MAIL_URL，不能发送邮件', en: 'mail needs MAIL_URL' })
      const target = readTarget(kind, givenTarget, options.allowPrivate)
      const code = randomDigits(alertLimits.codeLength)
      const id = await db.write(async (tx) => {
        const count = await lockAccountEndpoints(tx, account.id, 'alert')
        if (count >= alertLimits.channelsPerAccount) throw tooManyChannels()
        const added = await insertEndpoint(tx, {
          account_id: account.id,
          kind,
          url: cipher.encrypt(target),
          event_types: alertTypesOf(account.role),
          secret: secret === undefined || secret === '' ? null : cipher.encrypt(secret),
          state: 'unconfirmed',
          language,
          confirm_hash: keyed('confirm', account.id, code),
        })
        await recordChange(tx, actor, 'notify.add', { accountId: account.id }, { channel: added, kind })
        return added
      })
      const message: AlertMessage = { ...confirmText(code, language), unsubscribeUrl: unsubscribeUrl(id) }
      const signal = AbortSignal.timeout(15_000)
      const result = await channel.send({ target, secret: secret || undefined }, message, signal)
      return { id, sent: result.kind === 'sent' }
    },

    async confirm(actor, endpoint, code) {
      const attempts = await db.write((tx) => countConfirmAttempt(tx, endpoint.id))
      if (attempts === undefined) throw channelNotFound()
      const expected = endpoint.confirm_hash
      const given = keyed('confirm', endpoint.account_id, code.trim())
      const isRight =
        expected !== null && attempts <= alertLimits.confirmAttempts && isSameSecret(given, expected)
      if (!isRight) throw invalidInput({ code: { zh: '不正确或已失效', en: 'is wrong or no longer valid' } })
      await activate(actor, endpoint)
    },

    confirmByOperator: activate,

    async remove(actor, endpoint) {
      await db.write(async (tx) => {
        await lockAccountEndpoints(tx, endpoint.account_id, 'alert')
        await deleteEndpoint(tx, endpoint.id)
        await updateWantedTypes(tx, endpoint.account_id)
        const target = { accountId: endpoint.account_id }
        await recordChange(tx, actor, 'notify.remove', target, { channel: endpoint.id })
      })
    },

    async unsubscribe(endpointId, token) {
      if (!isSameSecret(token, tokenOf(endpointId))) return false
      await db.write(async (tx) => {
        const endpoint = await findEndpoint(tx, endpointId)
        if (!endpoint || endpoint.kind === 'webhook') return
        await lockAccountEndpoints(tx, endpoint.account_id, 'alert')
        await updateEndpoint(tx, endpointId, { state: 'disabled', disabled_reason: 'unsubscribed' })
        await updateWantedTypes(tx, endpoint.account_id)
      })
      return true
    },

    unsubscribeUrl,

    describeTarget({ kind, url }) {
      const target = cipher.decrypt(url) ?? ''
      if (kind === 'mail') return target
      return `${URL.parse(target)?.host ?? ''} …${target.slice(-4)}`
    },
  }
}

/** What the alert channels of an account or an operator receive. */
function alertTypesOf(role: AlertAccount['role']): string {
  const types =
    role === 'operator' ? [...accountAlertTypes, ...Object.keys(platformAlertTypes)] : accountAlertTypes
  return [...types].sort().join(' ')
}

/** Channels that an earlier version has created also receive the types that were added since. */
export async function refreshAlertTypes(db: Database): Promise<void> {
  for (const role of ['account', 'operator'] as const) {
    const types = alertTypesOf(role)
    for (const accountId of await findStaleChannels(db, role, types)) {
      await db.write(async (tx) => {
        await lockAccountEndpoints(tx, accountId, 'alert')
        await updateAlertTypes(tx, accountId, types)
        await updateWantedTypes(tx, accountId)
      })
    }
  }
}

function readTarget(kind: AlertChannelKind, given: string, allowPrivate: boolean): string {
  const target = given.trim()
  if (kind !== 'mail') return readWebhookUrl(target, allowPrivate)
  if (target.length <= alertLimits.targetLength && isMailAddress(target)) return target
  throw invalidInput({ target: { zh: '不是有效的邮箱地址', en: 'is not an email address' } })
}

/** One address without a display name, so that nothing else can be added to the envelope. */
export function isMailAddress(text: string): boolean {
  return /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}@(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)+[a-z\d-]{2,63}$/i.test(text)
}

function confirmText(code: string, language: Language): { title: string; text: string } {
  return language === 'zh'
    ? { title: 'Tollgate 告警接收确认', text: `确认码：${code}\n在控制台输入确认码后开始接收告警。` }
    : { title: 'Tollgate alerts: confirm', text: `Code: ${code}\nEnter it in the console to receive alerts.` }
}

function tooManyChannels(): AppError {
  const { channelsPerAccount } = alertLimits
  return new AppError(1002, {
    zh: `每个账户最多 ${channelsPerAccount} 个告警接收方式`,
    en: `an account has at most ${channelsPerAccount} alert channels`,
  })
}

export function channelNotFound(): AppError {
  return new AppError(1002, { zh: '告警接收方式不存在', en: 'no such alert channel' }, { status: 404 })
}

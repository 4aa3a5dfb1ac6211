// Composes webhooks and alerts: their rules, and the dispatcher that delivers events.
import type { Agent } from 'undici'
import type { AlertChannelKind } from '../../contract/events.ts'
import { hourMs } from '../../contract/time.ts'
import type { Config } from '../config.ts'
import type { Database } from '../db/database.ts'
import { createTextCipher, requireDecrypted, type TextCipher } from '../encryption.ts'
import type { Services } from '../services.ts'
import { createPublicAgent } from '../upstream/public-address.ts'
import { attemptAlert } from './alert-attempt.ts'
import { type Alerts, createAlerts, refreshAlertTypes } from './alerts.ts'
import { attemptDelivery, longestWaitMs } from './attempt.ts'
import { createDingtalk } from './channels/dingtalk.ts'
import { createFeishu } from './channels/feishu.ts'
import { createMailChannel, createMailer, type Mailer } from './channels/mail.ts'
import type { AlertSender } from './channels/port.ts'
import { createWecom } from './channels/wecom.ts'
import type { LeasedEndpoint } from './dispatch-store.ts'
import { createDispatcher, type EventSender, maxConcurrency } from './dispatcher.ts'
import { createResponseBudget } from './free-rows.ts'
import { createWebhooks, disableEndpoint, type Webhooks } from './webhooks.ts'

export interface EventRules {
  readonly webhooks: Webhooks
  readonly alerts: Alerts
  readonly channels: ReadonlyMap<AlertChannelKind, AlertSender>
  readonly agent: Agent
  readonly cipher: TextCipher
  readonly mailer: Mailer | undefined
  close(): Promise<void>
}

export interface EventRuleOptions {
  readonly db: Database
  readonly config: Pick<Config, 'WEBHOOK_ALLOW_PRIVATE' | 'MAIL_URL' | 'MAIL_FROM'>
  readonly secretKey: string
  readonly publicUrl: () => string
}

/** The rules without the dispatcher, for the command line: a running service delivers. */
export function createEventRules({ db, config, secretKey, publicUrl }: EventRuleOptions): EventRules {
  const cipher = createTextCipher(secretKey, 'webhook secrets')
  const allowPrivate = config.WEBHOOK_ALLOW_PRIVATE === 'on'
  const agent = createPublicAgent(allowPrivate)
  const mailer = config.MAIL_URL ? createMailer(config.MAIL_URL, config.MAIL_FROM ?? '') : undefined
  const list = [createDingtalk(agent), createWecom(agent), createFeishu(agent)]
  if (mailer) list.push(createMailChannel(mailer))
  const channels = new Map(list.map((channel) => [channel.kind, channel]))
  const secret = `${secretKey} alerts`
  return {
    webhooks: createWebhooks({ db, cipher, allowPrivate }),
    alerts: createAlerts({ db, cipher, channels, allowPrivate, publicUrl, secret }),
    channels,
    agent,
    cipher,
    mailer,
    async close() {
      mailer?.close()
      await agent.destroy()
    },
  }
}

export interface EventDelivery extends EventRules {
  start(): void
  stop(): Promise<void>
}

type DeliveryServices = Pick<
  Services,
  'db' | 'config' | 'secretKey' | 'publicUrl' | 'jobs' | 'log' | 'metrics' | 'now'
>

export function createEventDelivery(services: DeliveryServices): EventDelivery {
  const { db, config, jobs, log, metrics, now } = services
  const rules = createEventRules(services)
  const retryMs = config.WEBHOOK_RETRY_S.map((seconds) => seconds * 1000)
  const withinBudget = createResponseBudget()

  function senderFor(endpoint: LeasedEndpoint): EventSender {
    const [secret, ...previous] = secretsOf(endpoint, rules.cipher)
    if (endpoint.kind === 'webhook') {
      const secrets = [secret!, ...previous]
      const { url } = endpoint
      return {
        concurrency: maxConcurrency,
        async attempt(delivery, signal) {
          const options = { url, secrets, agent: rules.agent, retryMs, now, signal }
          const attempt = await attemptDelivery(delivery, options)
          return { ...attempt, record: withinBudget(endpoint.account_id, attempt.record) }
        },
      }
    }
    const channel = rules.channels.get(endpoint.kind)
    if (!channel) throw new Error(`alert channel ${endpoint.kind} is not configured`)
    const target = requireDecrypted(rules.cipher, endpoint.url)
    const consoleUrl = `${services.publicUrl()}/console/`
    const unsubscribeUrl = rules.alerts.unsubscribeUrl(endpoint.id)
    return {
      concurrency: 1,
      attempt: (delivery, signal) =>
        attemptAlert(delivery, {
          channel,
          endpoint,
          target,
          secret,
          consoleUrl,
          unsubscribeUrl,
          retryMs,
          signal,
        }),
    }
  }

  const dispatcher = createDispatcher({
    db,
    senderFor,
    maxWaitMs: longestWaitMs(retryMs),
    keepDays: config.EVENT_KEEP_DAYS,
    disable: disableEndpoint,
    metrics,
    onError: (error) => log.error({ err: error }, 'failed to deliver events'),
  })
  return {
    ...rules,
    start() {
      jobs.every(hourMs, 'refresh_alert_types', () => refreshAlertTypes(db))
      dispatcher.start(jobs)
    },
    async stop() {
      await dispatcher.stop()
      await rules.close()
    },
  }
}

/** The present secret, and the previous one while it still signs. */
function secretsOf(endpoint: LeasedEndpoint, cipher: TextCipher): string[] {
  const { secret, previous_secret: previous, previous_until: until, now } = endpoint
  if (secret === null) return []
  const encrypted = previous !== null && until !== null && until > now ? [secret, previous] : [secret]
  return encrypted.map((text) => requireDecrypted(cipher, text))
}

// Events that webhooks and alerts report, and the limits of their endpoints.
import { dayMs, hourMs } from './time.ts'
import type { Text } from './text.ts'

/** Every type of event, with a description for the console and the documents. */
export const eventTypes = {
  'sms.sent': { zh: '短信已提交给网关', en: 'A gateway accepted an SMS' },
  'sms.delivered': { zh: '短信已送达', en: 'An SMS was delivered' },
  'sms.failed': { zh: '短信发送失败', en: 'An SMS failed' },
  'sms.reply': { zh: '收到短信回复', en: 'A reply to an SMS arrived' },
  'sms.batch.finished': { zh: '群发批次已完成', en: 'An SMS batch finished' },
  'link.expired': { zh: '短链接已到期', en: 'A short link expired' },
  'link.exhausted': { zh: '短链接访问次数已用完', en: 'A short link used up its visits' },
  'link.banned': { zh: '短链接被平台封禁', en: 'A short link was banned' },
  'domain.blocked': { zh: '监控的域名被拦截', en: 'A watched domain is blocked' },
  'domain.unblocked': { zh: '监控的域名恢复正常', en: 'A watched domain is no longer blocked' },
  'credits.low': { zh: '额度低于提醒值', en: 'Credits fell below a threshold' },
  'credits.empty': { zh: '额度已用完', en: 'Credits are used up' },
  'template.reviewed': { zh: '短信模板已审核', en: 'An SMS template was reviewed' },
  'signature.reviewed': { zh: '短信签名已审核', en: 'An SMS signature was reviewed' },
  'order.paid': { zh: '订单已支付', en: 'An order was paid' },
  'account.expiring': { zh: '账户即将到期', en: 'The account expires soon' },
  'key.reset': { zh: 'API 密钥已重置', en: 'The API key was reset' },
  'webhook.disabled': { zh: 'Webhook 已停用', en: 'A webhook was disabled' },
  ping: { zh: '测试事件', en: 'Test event' },
} as const satisfies Record<string, Text>

export type EventType = keyof typeof eventTypes

export function isEventType(text: string): text is EventType {
  return Object.hasOwn(eventTypes, text)
}

/** Conditions of the platform that operators are alerted of. */
export const platformAlertTypes = {
  'platform.gateway_down': { zh: '网关不可用', en: 'A gateway is down' },
  'platform.canary_failed': { zh: '域名检测探针异常', en: 'The canary of a domain check gateway failed' },
  'platform.ledger_failed': { zh: '账目核对发现问题', en: 'The ledger check found a problem' },
  'platform.payment_mismatch': { zh: '支付核对不一致', en: 'A payment does not match its order' },
  'platform.disk_low': { zh: '磁盘空间不足', en: 'Disk space is low' },
  'platform.webhook_backlog': { zh: '事件投递积压', en: 'Deliveries of events are behind' },
} as const satisfies Record<string, Text>

export type PlatformAlertType = keyof typeof platformAlertTypes

export const alertChannelKinds = ['mail', 'dingtalk', 'wecom', 'feishu'] as const

export type AlertChannelKind = (typeof alertChannelKinds)[number]

/** The events that alert an account holder. */
export const accountAlertTypes = [
  'credits.low',
  'credits.empty',
  'account.expiring',
  'domain.blocked',
  'webhook.disabled',
] as const satisfies readonly EventType[]

export function isAlertType(type: EventType | PlatformAlertType): boolean {
  return type in platformAlertTypes || accountAlertTypes.some((one) => one === type)
}

export const alertLimits = {
  channelsPerAccount: 10,
  targetLength: 1_024,
  secretLength: 200,
  /** Alerts of one kind are at least this far apart. */
  minIntervalMs: hourMs,
  confirmAttempts: 5,
  codeLength: 6,
} as const

export const webhookLimits = {
  perAccount: 20,
  urlLength: 2_048,
  /** A 2xx response must arrive within this time. */
  timeoutMs: 15_000,
  /** Bytes of a response that are read. */
  responseBytes: 65_536,
  /** Characters of a response that are stored and shown. */
  shownCharacters: 1_000,
  /** After this time of failure an endpoint is disabled. */
  disableAfterMs: 5 * dayMs,
  /** Tests and repeated deliveries that an account requests in a minute. */
  requestedPerMinute: 20,
  /** How long the previous secret still signs after a rotation. */
  rotationMs: dayMs,
} as const

/** Thresholds of low credits that an account can have. */
export const maxAlertPercents = 5

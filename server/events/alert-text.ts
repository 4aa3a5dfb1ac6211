// The texts of alerts, in the language of the channel.
import {
  type EventType,
  eventTypes,
  type PlatformAlertType,
  platformAlertTypes,
} from '../../contract/events.ts'
import { apiTypeNames } from '../../contract/credits.ts'
import type { Language, Text } from '../../contract/text.ts'
import { formatTime } from '../../contract/time.ts'

export interface Alert {
  readonly type: EventType | PlatformAlertType
  readonly data: Readonly<Record<string, unknown>>
  readonly at: number
}

/** Every alert begins with this word, so that a robot with a keyword accepts it. */
const prefix = 'Tollgate'

export function formatAlert(
  { type, data, at }: Alert,
  { language, username, consoleUrl }: { language: Language; username: string; consoleUrl: string },
): { readonly title: string; readonly text: string } {
  const name =
    type in eventTypes ? eventTypes[type as EventType] : platformAlertTypes[type as PlatformAlertType]
  const details = detailsOf(type, data)
  const labels = { zh: ['账户', '时间', '控制台'], en: ['Account', 'Time', 'Console'] }[language]
  const colon = language === 'zh' ? '：' : ': '
  const lines = [
    ...(details ? [details[language]] : []),
    `${labels[0]}${colon}${username}`,
    `${labels[1]}${colon}${formatTime(at)}`,
    `${labels[2]}${colon}${consoleUrl}`,
  ]
  return { title: `${prefix} ${name[language]}`, text: lines.join('\n') }
}

function detailsOf(type: Alert['type'], data: Alert['data']): Text | undefined {
  const value = (field: string) => {
    const found = data[field]
    return typeof found === 'string' || typeof found === 'number' ? String(found) : ''
  }
  switch (type) {
    case 'credits.low':
    case 'credits.empty': {
      const product = apiTypeNames[value('api_type') as keyof typeof apiTypeNames]
      return {
        zh: `${product?.zh ?? ''}额度剩余 ${value('remaining')} 次`,
        en: `${product?.en ?? ''}: ${value('remaining')} credits left`,
      }
    }
    case 'account.expiring':
      return { zh: `到期日 ${value('expires_on')}`, en: `Expires on ${value('expires_on')}` }
    case 'domain.blocked':
      return { zh: value('url'), en: value('url') }
    case 'webhook.disabled':
      return { zh: value('url'), en: value('url') }
    case 'platform.gateway_down':
    case 'platform.canary_failed':
      return { zh: `网关 ${value('gateway')}`, en: `Gateway ${value('gateway')}` }
    case 'platform.payment_mismatch':
      return {
        zh: `订单 ${value('number')}（${value('provider')}）：${value('reason')}`,
        en: `Order ${value('number')} (${value('provider')}): ${value('reason')}`,
      }
    case 'platform.ledger_failed':
      return { zh: `发现 ${value('problems')} 处不符`, en: `Problems found: ${value('problems')}` }
    case 'platform.webhook_backlog':
      return {
        zh: `待投递 ${value('pending')}，最早一条已逾期 ${value('overdue_minutes')} 分钟`,
        en: `${value('pending')} pending; the oldest has been overdue for ${value('overdue_minutes')} minutes`,
      }
    case 'platform.disk_low':
      return { zh: `剩余 ${value('free_mb')} MB`, en: `${value('free_mb')} MB free` }
    default:
      return undefined
  }
}

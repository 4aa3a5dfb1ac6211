// The `data` of events by example, for the documents. The fields of an example are those of the event; more may be added.
import type { EventType } from './events.ts'
import type { Text } from './text.ts'

type EventData = Readonly<Record<string, unknown>>

const message = {
  biz_id: '100000000000000001',
  phone_number: '13800138000',
  template_code: 'SMS_LOGIN',
  sign_name: 'Tollgate',
  send_time: '2026-01-02T03:04:05+08:00',
}

const watchedDomain = { watch_id: 1, url: 'https://example.com/page', host: 'example.com' }

export const eventDataExamples: Readonly<Record<EventType, EventData>> = {
  'sms.sent': message,
  'sms.delivered': message,
  'sms.failed': { ...message, error_message: '号码无法接收' },
  'sms.reply': {
    phone_number: '13800138000',
    content: '收到',
    sign_name: 'Tollgate',
    biz_id: '100000000000000001',
    received_at: '2026-01-02T03:04:05+08:00',
    stopped: false,
  },
  'sms.batch.finished': {
    batch_id: '200000000000000001',
    template_code: 'SMS_LOGIN',
    state: 'finished',
    total: 100,
    succeeded: 98,
    failed: 2,
    cancelled: 0,
    credits_used: 98,
  },
  'link.expired': {
    link_id: 1,
    short_code: 'aB3xY9z',
    external_id: 'order-1001',
    title: '活动页',
    expires_at: '2026-01-02T03:04:05+08:00',
  },
  'link.exhausted': {
    link_id: 1,
    short_code: 'aB3xY9z',
    external_id: 'order-1001',
    title: '活动页',
    max_clicks: 100,
  },
  'link.banned': {
    link_id: 1,
    short_code: 'aB3xY9z',
    external_id: 'order-1001',
    title: '活动页',
    target_url: 'https://example.com/page',
    by: 'host',
  },
  'domain.blocked': watchedDomain,
  'domain.unblocked': watchedDomain,
  'credits.low': { api_type: 'sms', remaining: 20, percent: 20 },
  'credits.empty': { api_type: 'sms', remaining: 0 },
  'template.reviewed': { template_code: 'SMS_LOGIN', status: '审核通过', reason: '' },
  'signature.reviewed': { sign_name: 'Tollgate', status: '审核通过', reason: '' },
  'order.paid': {
    number: 'T20260102030405ABCDEFGHJK',
    package: 'sms-1000',
    amount: '99.00',
    currency: 'CNY',
    provider: 'alipay',
    credits: { sms: 1000 },
    paid_at: '2026-01-02T03:04:05+08:00',
  },
  'account.expiring': { expires_on: '2026-01-31' },
  'key.reset': { key_hint: 'tg_abcd••••••wxyz' },
  'webhook.disabled': { webhook_id: 1, url: 'https://example.com/webhook', reason: 'gone' },
  ping: { webhook_id: 1 },
}

/** Fields of these examples that can be null, and when. */
export const nullableEventFields: Readonly<Partial<Record<string, Text>>> = {
  watch_id: {
    zh: '监控编号；自有短链接域名不在监控列表中，为 null',
    en: 'ID of the watched address; null for an own domain of short links, which is not on the watch list',
  },
}

// Names of the events in the history of an order.
import type { Text } from '../../contract/text.ts'

/** An event without a name is shown as its identifier. */
export const orderEventNames: Readonly<Record<string, Text>> = {
  created: { zh: '下单', en: 'Created' },
  open_failed: { zh: '支付渠道下单失败', en: 'Payment could not be started' },
  notified: { zh: '收到支付通知', en: 'Notification received' },
  paid: { zh: '已支付', en: 'Paid' },
  paid_late: { zh: '关闭后支付', en: 'Paid after closing' },
  granted: { zh: '额度到账', en: 'Credits granted' },
  closed: { zh: '已关闭', en: 'Closed' },
  refused: { zh: '支付与订单不符', en: 'Payment does not match the order' },
  disputed: { zh: '付款有争议', en: 'Payment disputed' },
  refund_requested: { zh: '申请退款', en: 'Refund requested' },
  refund_failed: { zh: '退款失败', en: 'Refund failed' },
  refund_unclear: { zh: '退款结果待确认', en: 'Refund pending' },
  refunded: { zh: '已退款', en: 'Refunded' },
}

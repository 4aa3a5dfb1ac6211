// Buying credits: payment methods, states of orders and refunds, limits, and amounts as text.
import type { Text } from './text.ts'

export const paymentProviders = ['alipay', 'wechatpay', 'stripe', 'transfer', 'sandbox'] as const

export type PaymentProviderName = (typeof paymentProviders)[number]

export const paymentProviderNames: Readonly<Record<PaymentProviderName, Text>> = {
  alipay: { zh: '支付宝', en: 'Alipay' },
  wechatpay: { zh: '微信支付', en: 'WeChat Pay' },
  stripe: { zh: '银行卡（Stripe）', en: 'Card (Stripe)' },
  transfer: { zh: '银行转账', en: 'Bank transfer' },
  sandbox: { zh: '沙箱收银台', en: 'Sandbox cashier' },
}

/**
 * `paid` is only for a late payment of a package that was removed, until it is refunded: a grant follows a payment in the same
 * transaction. When that refund fails, an operator refunds it again.
 */
export const orderStates = ['pending', 'paid', 'granted', 'closed', 'refunded', 'partly_refunded'] as const

export type OrderState = (typeof orderStates)[number]

/** For texts about an order. */
export const orderStateNames: Readonly<Record<OrderState, Text>> = {
  pending: { zh: '待支付', en: 'Waiting for payment' },
  paid: { zh: '已支付，未到账', en: 'Paid, not granted' },
  granted: { zh: '已到账', en: 'Granted' },
  closed: { zh: '已关闭', en: 'Closed' },
  refunded: { zh: '已退款', en: 'Refunded' },
  partly_refunded: { zh: '部分退款', en: 'Partly refunded' },
}

export const refundStates = ['pending', 'succeeded', 'failed'] as const

export type RefundState = (typeof refundStates)[number]

/** What reconciliation finds, with a text for the console. */
export const paymentDifferenceKinds = {
  not_paid: { zh: '本平台已支付，渠道没有', en: 'Paid here, not at the provider' },
  not_granted: { zh: '渠道已支付，本平台未到账', en: 'Paid at the provider, not granted here' },
  amount: { zh: '金额或币种不同', en: 'Amount or currency differs' },
  paid_twice: { zh: '同一订单支付了两次', en: 'One order was paid twice' },
  unknown_order: { zh: '本平台没有此订单', en: 'No such order here' },
  refund: { zh: '退款不一致', en: 'Refund differs' },
  no_answer: { zh: '账单中没有，查询无响应', en: 'Not in the bill, and no response to a query' },
} as const satisfies Record<string, Text>

export type PaymentDifferenceKind = keyof typeof paymentDifferenceKinds

/** The stored resolution of a difference that reconciliation made up for. */
export const settledByReconciliation = 'settled by reconciliation'

/** 普通发票, 增值税专用发票 */
export const invoiceKinds = {
  normal: { zh: '普通发票', en: 'Ordinary invoice' },
  special: { zh: '增值税专用发票', en: 'Special VAT invoice' },
} as const satisfies Record<string, Text>

export type InvoiceKind = keyof typeof invoiceKinds

export const invoiceStates = {
  open: { zh: '待开票', en: 'Requested' },
  issued: { zh: '已开票', en: 'Issued' },
  rejected: { zh: '已驳回', en: 'Rejected' },
  withdrawn: { zh: '已撤回', en: 'Withdrawn' },
} as const satisfies Record<string, Text>

export type InvoiceState = keyof typeof invoiceStates

/** All of them have two decimals. */
export const currencies = [
  'CNY',
  'USD',
  'HKD',
  'EUR',
  'GBP',
  'SGD',
  'MYR',
  'AUD',
  'CAD',
  'CHF',
  'NZD',
] as const

export const paymentLimits = {
  packageCode: 32,
  packageName: 64,
  packages: 200,
  /** Highest price in minor units: 1,000,000.00. */
  price: 100_000_000,
  /** Pending orders that an account holder may have at a time. */
  pendingOrders: 20,
  note: 200,
  invoiceTitle: 100,
  minTaxNumber: 15,
  taxNumber: 20,
  invoiceAddress: 200,
  invoiceNumber: 40,
  /** Orders in one invoice. */
  invoiceOrders: 100,
  /** Open requests of an account. */
  openInvoices: 10,
  /** Bytes of an uploaded PDF. */
  invoiceFile: 700 * 1024,
} as const

/** 统一社会信用代码 and older tax numbers. */
export const taxNumberPattern = `^[0-9A-Z]{${paymentLimits.minTaxNumber},${paymentLimits.taxNumber}}$`

export const packageCodePattern = `^[A-Za-z0-9_-]{1,${paymentLimits.packageCode}}$`

/** An amount in units of the currency, as `parseMinor` reads it. */
export const amountPattern = '^(\\d{1,12})(?:\\.(\\d{1,2}))?$'

const amount = new RegExp(amountPattern)

/** 1999 as `19.99`. */
export function formatMinor(minor: number): string {
  const digits = String(Math.abs(minor)).padStart(3, '0')
  return `${minor < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`
}

/** `19.99`, `19.9` or `19` in minor units; undefined for anything else. No floating point is involved. */
export function parseMinor(text: string): number | undefined {
  const match = amount.exec(text)
  if (!match) return undefined
  const minor = Number(`${match[1]}${(match[2] ?? '').padEnd(2, '0')}`)
  return Number.isSafeInteger(minor) ? minor : undefined
}

/** The form of our order numbers. A merchant account may serve other programs too; their numbers have another form. */
export function isOrderNumber(text: string): boolean {
  return /^T\d{14}[0-9A-Z]{10}$/.test(text)
}

// What index.html shows before the console is loaded: the navigation of an account and the sandbox banner. Imports no browser code,
// because the build reads it (tools/console-chunks.ts).

/** The pages of an account, grouped as in the navigation: path and label. The first group has no heading. */
export const accountPages = [
  {
    items: [
      ['/', 'home'],
      ['/shortlink', 'shortlink'],
      ['/sms', 'sms'],
      ['/identity', 'identity'],
      ['/domain-check', 'domainCheck'],
    ],
  },
  {
    label: 'accountGroup',
    items: [
      ['/keys', 'keys'],
      ['/security', 'security'],
      ['/requests', 'requests'],
      ['/events', 'events'],
      ['/docs', 'docs'],
    ],
  },
  {
    label: 'billingGroup',
    items: [
      ['/credits', 'credits'],
      ['/buy', 'buy'],
      ['/orders', 'orders'],
      ['/statements', 'statements'],
      ['/invoices', 'invoices'],
    ],
  },
] as const

export type AccountPath = (typeof accountPages)[number]['items'][number][0]

export const bootText = {
  zh: {
    home: '首页',
    shortlink: '短链接',
    sms: '短信',
    identity: '身份核验',
    domainCheck: '域名检测',
    credits: '额度',
    requests: '请求记录',
    events: '事件通知',
    keys: 'API 密钥',
    security: '安全',
    docs: '接口文档',
    accountGroup: '开发',
    billingGroup: '费用',
    buy: '购买',
    orders: '订单',
    statements: '对账单',
    invoices: '发票',
    separator: '、',
    /** `{names}` is replaced by what is simulated. */
    sandboxOf: '沙箱模式：{names}为模拟结果，不会发送短信或请求上游平台，额度照常扣减。',
  },
  en: {
    home: 'Home',
    shortlink: 'Short links',
    sms: 'SMS',
    identity: 'Identity',
    domainCheck: 'Domain check',
    credits: 'Credits',
    requests: 'Requests',
    events: 'Events',
    keys: 'API key',
    security: 'Security',
    docs: 'API reference',
    accountGroup: 'Development',
    billingGroup: 'Billing',
    buy: 'Buy',
    orders: 'Orders',
    statements: 'Statements',
    invoices: 'Invoices',
    separator: ', ',
    sandboxOf:
      'Sandbox mode: {names} are simulated; no SMS is sent and no provider is called. Credits are charged as usual.',
  },
} as const

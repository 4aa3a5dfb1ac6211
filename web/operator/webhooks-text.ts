// Texts of the operator page for webhooks.
import { dictionary } from '../frame/i18n.ts'

export const webhooksText = dictionary(
  {
    title: '事件投递',
    lead: (days: number) =>
      `所有账户的 Webhook 与告警的投递情况。投递失败会自动重试；持续失败 ${days} 天或接收端返回 410 后停用。`,
    pending: '待投递',
    oldest: '最早一条',
    nothingWaits: '没有到期未投递的事件',
    failureRate: '近 1 小时失败率',
    failures: (failed: string, all: string) => `投递 ${all} 次，失败 ${failed} 次`,
    disabled: '因失败停用',
    failing: '投递失败',
    troubled: '投递失败或已停用的 Webhook',
    noTroubled: '没有投递失败或已停用的 Webhook。',
    account: '账户',
    of: (name: string) => `Webhook · ${name}`,
    none: '该账户没有 Webhook。',
    all: '查看全部账户',
    resendTitle: '重新投递',
    resendText: '将再次发送到账户的服务器，事件编号不变。',
    problem: (disabled: string, failing: string) =>
      `Webhook：${disabled} 个因失败停用，${failing} 个投递失败`,
  },
  {
    title: 'Deliveries',
    lead: (days: number) =>
      `Deliveries to the webhooks and alert channels of all accounts. Failed deliveries are retried; a webhook is disabled after ${days} days of failure or a 410.`,
    pending: 'Backlog',
    oldest: 'Oldest waiting since',
    nothingWaits: 'No delivery is overdue',
    failureRate: 'Failure rate, last hour',
    failures: (failed: string, all: string) => `${failed} of ${all} attempts failed`,
    disabled: 'Disabled by failures',
    failing: 'Failing',
    troubled: 'Webhooks that fail or are disabled',
    noTroubled: 'No webhook fails or is disabled.',
    account: 'Account',
    of: (name: string) => `Webhooks · ${name}`,
    none: 'This account has no webhooks.',
    all: 'View all accounts',
    resendTitle: 'Resend',
    resendText: 'It is sent to the account’s server again, with the same event ID.',
    problem: (disabled: string, failing: string) =>
      `Webhooks: ${disabled} disabled by failures, ${failing} failing`,
  },
)

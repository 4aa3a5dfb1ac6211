// What each operator route does, for /openapi-operator.json.
import type { Text } from '../text.ts'
import type { operatorEventRoutes } from './events.ts'
import type { linkAbuseRoutes } from './link-domains.ts'
import type { operatorAdminRoutes } from './operators.ts'
import type { operatorProductRoutes } from './operator-products.ts'
import type { operatorRoutes } from './operator.ts'
import type { operatorSmsRoutes } from './operator-sms.ts'
import type { operatorPaymentRoutes } from './payments.ts'
import type { operatorSmsStatisticsRoutes } from './sms-statistics.ts'

type OperatorRouteName =
  | keyof typeof operatorRoutes
  | keyof typeof operatorProductRoutes
  | keyof typeof operatorPaymentRoutes
  | keyof typeof linkAbuseRoutes
  | keyof typeof operatorAdminRoutes
  | keyof typeof operatorEventRoutes
  | keyof typeof operatorSmsRoutes
  | keyof typeof operatorSmsStatisticsRoutes

const texts: Readonly<Record<OperatorRouteName, Text>> = {
  waiting: { zh: '查询待办数量', en: 'Count what waits for an operator' },
  overview: { zh: '查询运营概览', en: 'Get the overview' },
  accounts: { zh: '查询账户列表', en: 'List accounts' },
  account: { zh: '查询账户详情', en: 'Get an account' },
  createAccount: {
    zh: '创建账户（含额度时还需要 credits:write）',
    en: 'Create an account (with credits also credits:write)',
  },
  changeAccount: {
    zh: '修改账户（修改价格还需要 credits:write，设置默认签名还需要 reviews:write）',
    en: 'Change an account (prices also need credits:write, a default signature reviews:write)',
  },
  resetPassword: { zh: '重置账户密码', en: 'Reset the password of an account' },
  file: { zh: '查询账户的联系方式与备注', en: 'Get contact data and notes of an account' },
  changeContact: { zh: '修改账户的联系方式', en: 'Change the contact data of an account' },
  addNote: { zh: '添加账户备注', en: 'Add a note about an account' },
  changeCredits: { zh: '发放或扣减额度', en: 'Grant or take credits' },
  redeemBatches: { zh: '查询兑换码批次列表', en: 'List batches of redeem codes' },
  makeRedeemBatch: { zh: '生成一批兑换码', en: 'Create a batch of redeem codes' },
  redeemBatch: { zh: '查询批次及其兑换码', en: 'Get a batch and its redeem codes' },
  redeemBatchCsv: { zh: '导出批次的兑换码', en: 'Export the redeem codes of a batch' },
  revokeRedeemBatch: { zh: '作废批次中未使用的兑换码', en: 'Revoke the unused redeem codes of a batch' },
  revokeRedeemCode: { zh: '作废一个兑换码', en: 'Revoke a redeem code' },
  audit: { zh: '查询审计日志', en: 'List the audit log' },
  auditCsv: { zh: '导出审计日志', en: 'Export the audit log' },
  settings: { zh: '查询系统设置', en: 'Get the settings' },
  reviews: { zh: '查询待审核的签名与模板', en: 'List signatures and templates to review' },
  decideReview: { zh: '审核签名或模板', en: 'Approve or reject a signature or template' },
  submitReview: { zh: '将签名或模板提交服务商审核', en: 'Submit a signature or template to the vendors' },
  proofFile: { zh: '下载签名的证明文件', en: 'Download a proof of a signature' },
  unmatchedReplies: { zh: '查询未匹配的短信回复', en: 'List replies without a message' },
  domains: { zh: '查询短链接域名列表', en: 'List the domains of short links' },
  addDomain: { zh: '添加短链接域名', en: 'Add a domain of short links' },
  removeDomain: { zh: '移除短链接域名', en: 'Remove a domain of short links' },
  probeDomain: { zh: '检测域名是否被拦截', en: 'Check whether a domain is blocked' },
  gateways: { zh: '查询网关列表与状态', en: 'List gateways and their states' },
  testGateway: { zh: '测试网关', en: 'Test a gateway' },
  orders: { zh: '查询订单列表', en: 'List orders' },
  order: { zh: '查询订单详情', en: 'Get an order' },
  confirmOrder: { zh: '确认银行转账订单已到账', en: 'Confirm that a bank transfer has arrived' },
  refundOrder: { zh: '订单退款', en: 'Refund an order' },
  income: { zh: '查询每日收入', en: 'Get the income by day' },
  packages: { zh: '查询套餐列表', en: 'List packages' },
  addPackage: { zh: '添加套餐', en: 'Add a package' },
  changePackage: { zh: '修改套餐', en: 'Change a package' },
  removePackage: { zh: '移除套餐', en: 'Remove a package' },
  reconciliations: { zh: '查询对账记录', en: 'List reconciliations' },
  reconcile: { zh: '执行对账', en: 'Run a reconciliation' },
  differences: { zh: '查询对账差异', en: 'List differences of reconciliations' },
  resolveDifference: { zh: '处理对账差异', en: 'Resolve a difference' },
  invoices: { zh: '查询发票申请列表', en: 'List invoice requests' },
  issueInvoice: { zh: '开具发票', en: 'Issue an invoice' },
  rejectInvoice: { zh: '驳回发票申请', en: 'Reject an invoice request' },
  correctInvoice: { zh: '将发票标为红冲', en: 'Mark an invoice as corrected' },
  invoiceFile: { zh: '下载发票文件', en: 'Download the file of an invoice' },
  bans: { zh: '查询封禁列表', en: 'List bans' },
  addBan: { zh: '封禁链接或域名', en: 'Ban a link or a host' },
  removeBan: { zh: '解除封禁', en: 'Remove a ban' },
  reports: { zh: '查询链接举报列表', en: 'List reports of links' },
  decideReport: { zh: '处理链接举报', en: 'Decide a report' },
  createOperator: { zh: '创建管理员', en: 'Create an operator' },
  changeRole: { zh: '修改管理员角色', en: 'Change the role of an operator' },
  tokens: { zh: '查询管理员令牌列表', en: 'List operator tokens' },
  createToken: { zh: '创建管理员令牌', en: 'Create an operator token' },
  revokeToken: { zh: '吊销管理员令牌', en: 'Revoke an operator token' },
  health: { zh: '查询 Webhook 投递概况', en: 'Get the state of webhook deliveries' },
  webhooks: { zh: '查询账户的 Webhook 列表', en: 'List the webhooks of an account' },
  deliveries: { zh: '查询 Webhook 的投递记录', en: 'List the deliveries of a webhook' },
  delivery: { zh: '查询投递详情', en: 'Get a delivery' },
  resendDelivery: { zh: '重新投递', en: 'Send a delivery again' },
  resendFailed: { zh: '重新投递失败的事件', en: 'Send all failed deliveries again' },
  sharedTemplates: { zh: '查询共享模板列表', en: 'List shared templates' },
  addSharedTemplate: { zh: '添加共享模板', en: 'Add a shared template' },
  addStarterTemplates: { zh: '添加入门模板', en: 'Add the starter templates' },
  removeSharedTemplate: { zh: '移除共享模板', en: 'Remove a shared template' },
  smsStatistics: { zh: '查询短信统计', en: 'Get statistics of messages' },
  smsStatisticsCsv: { zh: '导出短信统计', en: 'Export statistics of messages' },
}

/** `name` is the operation id. */
export function operatorRouteText(name: string): Text {
  return texts[name as OperatorRouteName]
}

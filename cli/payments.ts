// The commands `package` and `order`.
import { paymentProviders, parseMinor } from '../contract/payments.ts'
import { formatTime } from '../contract/time.ts'
import { oneLine } from '../contract/values.ts'
import { requireAccount } from '../server/accounts/accounts.ts'
import { findUsername } from '../server/audit/store.ts'
import { publicUrlOf } from '../server/config.ts'
import { orderNotFound } from '../server/payments/orders.ts'
import { addPackage, changePackage, type PackageInput, removePackage } from '../server/payments/packages.ts'
import { findPackage, listPackages } from '../server/payments/package-store.ts'
import { createPayments, type Payments } from '../server/payments/payments.ts'
import { listRefunds } from '../server/payments/refund-store.ts'
import { findItems, findOrder, listOrderEvents, listOrders, type OrderRow } from '../server/payments/store.ts'
import { itemsView, orderView, packageView, paymentView, refundView } from '../server/payments/views.ts'
import {
  cliActor,
  type Command,
  type Flags,
  type Invocation,
  type Output,
  table,
  textFlag,
  UsageError,
} from './command.ts'
import { parseCredits } from './credits.ts'

const maxListed = 1_000
const maxHistory = 1_000

function paymentsOf({ installation: { db }, config }: Invocation): Payments {
  return createPayments({ db, config, publicUrl: () => publicUrlOf(config) })
}

const packageFlags = {
  name: { type: 'string' },
  credits: { type: 'string' },
  price: { type: 'string' },
  currency: { type: 'string' },
  hidden: { type: 'boolean' },
} as const

function readPackage(flags: Flags): PackageInput {
  const credits = textFlag(flags, 'credits')
  const given = credits === undefined ? undefined : parseCredits(credits)
  return {
    name: textFlag(flags, 'name'),
    credits: given && Object.fromEntries(given.map(({ apiType, amount }) => [apiType, amount])),
    price: textFlag(flags, 'price'),
    currency: textFlag(flags, 'currency'),
  }
}

async function showPackage({ installation: { db }, words }: Invocation): Promise<Output> {
  const view = packageView((await findPackage(db, words[0]!))!)
  return { json: view, text: `${view.code} ${view.name}: ${view.price} ${view.currency}` }
}

/** Why: required, because it is the audit trail of money. */
function requireNote(flags: Flags): string {
  const note = textFlag(flags, 'note')?.trim() ?? ''
  if (note === '') throw new UsageError('必须用 --note 写明原因 / --note is required')
  return note
}

async function describeOrder({ installation: { db } }: Invocation, order: OrderRow) {
  const items = await findItems(db, order.id)
  const refunds = await listRefunds(db, order.id)
  const events = await listOrderEvents(db, order.id, maxHistory)
  const { pay_url: payUrl, code_url: codeUrl } = paymentView(order)
  return {
    ...orderView(order, await findUsername(db, order.account_id)),
    ...(payUrl !== undefined && { pay_url: payUrl }),
    ...(codeUrl !== undefined && { code_url: codeUrl }),
    credits: itemsView(items),
    refunds: refunds.map(refundView),
    history: events.map(({ at, event, note }) => ({ at: formatTime(at), event, note })),
  }
}

export const paymentCommands: readonly Command[] = [
  {
    name: 'package add',
    usage: 'CODE --name N --credits sms=1000,… --price 99.00 [--currency CNY] [--hidden]',
    text: { zh: '添加套餐', en: 'add a package of credits' },
    minWords: 1,
    maxWords: 1,
    flags: packageFlags,
    async run(invocation) {
      const { installation, words, flags } = invocation
      const input = { ...readPackage(flags), hidden: flags['hidden'] === true }
      await addPackage(installation.db, cliActor, words[0]!, input)
      return showPackage(invocation)
    },
  },
  {
    name: 'package set',
    usage: 'CODE [--name N] [--credits sms=1000,…] [--price 99.00] [--currency CNY] [--hidden [yes|no]]',
    text: { zh: '修改套餐，已有订单不变', en: 'change a package; existing orders do not change' },
    minWords: 1,
    maxWords: 2,
    flags: packageFlags,
    async run(invocation) {
      const { installation, words, flags } = invocation
      const answer = words[1]
      if (answer !== undefined && (flags['hidden'] !== true || !['yes', 'no'].includes(answer))) {
        throw new UsageError('--hidden 只能是 yes 或 no / must be yes or no')
      }
      const hidden = flags['hidden'] === true ? answer !== 'no' : undefined
      await changePackage(installation.db, cliActor, words[0]!, { ...readPackage(flags), hidden })
      return showPackage(invocation)
    },
  },
  {
    name: 'package remove',
    usage: 'CODE',
    text: { zh: '删除套餐，已有订单不变', en: 'remove a package; existing orders do not change' },
    minWords: 1,
    maxWords: 1,
    flags: {},
    async run({ installation: { db }, words }) {
      await removePackage(db, cliActor, words[0]!)
      return { json: { code: words[0]!, removed: true }, text: `${words[0]!}: 已删除 / removed` }
    },
  },
  {
    name: 'package list',
    usage: '',
    text: { zh: '列出套餐', en: 'list the packages' },
    minWords: 0,
    maxWords: 0,
    flags: {},
    async run({ installation: { db } }) {
      const packages = (await listPackages(db)).map(packageView)
      return {
        json: { packages },
        text: table(
          ['code', 'name', 'price', 'credits', 'hidden'],
          packages.map((one) => [
            one.code,
            one.name,
            `${one.price} ${one.currency}`,
            Object.entries(one.credits)
              .map(([type, amount]) => `${type}=${amount}`)
              .join(','),
            one.hidden,
          ]),
        ),
      }
    },
  },
  {
    name: 'order create',
    usage: `NAME PACKAGE --pay ${paymentProviders.join('|')}`,
    text: { zh: '为账户下单', en: 'order a package for an account' },
    minWords: 2,
    maxWords: 2,
    flags: { pay: { type: 'string' } },
    async run(invocation) {
      const { installation, words, flags } = invocation
      const provider = paymentProviders.find((one) => one === textFlag(flags, 'pay'))
      if (!provider)
        throw new UsageError(`--pay 必须是 ${paymentProviders.join('、')} / must be one of these`)
      const account = await requireAccount(installation.db, words[0]!)
      const input = { packageCode: words[1]!, provider }
      const order = await paymentsOf(invocation).orders.create(cliActor, account, input)
      const view = paymentView(order)
      return {
        json: view,
        text: [`${view.number}: ${view.amount} ${view.currency}`, view.pay_url, view.code_url]
          .filter((line) => line !== undefined)
          .join('\n'),
      }
    },
  },
  {
    name: 'order list',
    usage: '[--account NAME]',
    text: { zh: `最近 ${maxListed} 个订单`, en: `list the latest ${maxListed} orders` },
    minWords: 0,
    maxWords: 0,
    flags: { account: { type: 'string' } },
    async run({ installation: { db }, flags }) {
      const name = textFlag(flags, 'account')
      const accountId = name === undefined ? undefined : (await requireAccount(db, name)).id
      const rows = await listOrders(db, { accountId }, maxListed)
      const orders = rows.map((row) => orderView(row, row.username))
      return {
        json: { orders },
        text: table(
          ['number', 'account', 'package', 'state', 'amount', 'provider', 'created'],
          orders.map((one) => [
            one.number,
            one.account,
            one.package,
            one.state,
            `${one.amount} ${one.currency}`,
            one.provider,
            one.created_at,
          ]),
        ),
      }
    },
  },
  {
    name: 'order show',
    usage: 'NUMBER',
    text: { zh: '查看订单与其历史', en: 'show an order with its history' },
    minWords: 1,
    maxWords: 1,
    flags: {},
    async run(invocation) {
      const order = await findOrder(invocation.installation.db, invocation.words[0]!)
      if (!order) throw orderNotFound()
      const view = await describeOrder(invocation, order)
      const lines = view.history.map((one) => oneLine(`${one.at}  ${one.event}  ${one.note}`))
      const head = `${view.number} ${view.account} ${view.package} ${view.amount} ${view.currency} ${view.provider}: ${view.state}`
      return { json: view, text: [head, ...lines].join('\n') }
    },
  },
  {
    name: 'order confirm',
    usage: 'NUMBER --note T',
    text: { zh: '确认银行转账已到账', en: 'confirm that a bank transfer has arrived' },
    minWords: 1,
    maxWords: 1,
    flags: { note: { type: 'string' } },
    async run(invocation) {
      const note = requireNote(invocation.flags)
      const order = await paymentsOf(invocation).orders.confirm(cliActor, invocation.words[0]!, note)
      const view = await describeOrder(invocation, order)
      return { json: view, text: `${view.number}: ${view.state}` }
    },
  },
  {
    name: 'order refund',
    usage: 'NUMBER [--amount A] --note T',
    text: {
      zh: '退款并按比例收回未使用的额度；不写金额为全部',
      en: 'refund and take back unused credits in proportion; without --amount, the whole order',
    },
    minWords: 1,
    maxWords: 1,
    flags: { amount: { type: 'string' }, note: { type: 'string' } },
    async run(invocation) {
      const { words, flags, installation } = invocation
      const note = requireNote(flags)
      const given = textFlag(flags, 'amount')
      const amount = given === undefined ? undefined : parseMinor(given.trim())
      if (given !== undefined && amount === undefined) {
        throw new UsageError('--amount 必须是金额，例如 9.99 / must be an amount, for example 9.99')
      }
      const refund = await paymentsOf(invocation).refunds.request(cliActor, words[0]!, { amount, note })
      const order = await findOrder(installation.db, words[0]!)
      const view = await describeOrder(invocation, order!)
      const shown = refundView(refund)
      return {
        json: { ...view, refund: shown },
        text: `${shown.number}: ${shown.amount} ${view.currency} ${shown.state}`,
        failed: refund.state === 'failed',
      }
    },
  },
]

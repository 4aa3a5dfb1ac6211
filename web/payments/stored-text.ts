// Texts about payments that the service stores in English, in the language of the console. Vendors' codes stay as they are.
import { orderStateNames, paymentProviderNames, settledByReconciliation } from '../../contract/payments.ts'
import type { Text } from '../../contract/text.ts'

const texts: Readonly<Record<string, Text>> = {
  [settledByReconciliation]: { zh: '对账时已自动到账', en: 'Granted by reconciliation' },
  late_payment_of_removed_package: {
    zh: '套餐已删除，逾期的付款自动退款',
    en: 'Late payment for a deleted package, refunded automatically',
  },
  ABNORMAL: {
    zh: '付款人账户异常，由平台在微信支付商户平台处理（ABNORMAL）',
    en: 'The payer’s account cannot receive it; the platform settles it with WeChat Pay (ABNORMAL)',
  },
  'order number differs': { zh: '订单号不同', en: 'The order number differs' },
  none: { zh: '无记录', en: 'No record' },
  unpaid: { zh: '未支付', en: 'Unpaid' },
}

/** The state of an order or a refund, followed by an amount. */
const states: Readonly<Record<string, Text>> = {
  ...orderStateNames,
  pending: { zh: '待处理', en: 'Pending' },
  succeeded: { zh: '成功', en: 'Succeeded' },
  failed: { zh: '失败', en: 'Failed' },
}

const providerNames: Readonly<Record<string, Text>> = paymentProviderNames

export function storedText(stored: string): Text {
  const known = texts[stored] ?? states[stored]
  if (known) return known
  const provider = providerNames[/^paid by (\w+)$/.exec(stored)?.[1] ?? '']
  if (provider) return { zh: `通过${provider.zh}支付`, en: `Paid by ${provider.en}` }
  const mismatch = /^(amount|currency) (\S+), expected (\S+)$/.exec(stored)
  if (mismatch) {
    const [, name, actual, expected] = mismatch
    return {
      zh: `${name === 'amount' ? '金额' : '货币'}为 ${actual}，应为 ${expected}`,
      en: `${name === 'amount' ? 'Amount' : 'Currency'} ${actual}, expected ${expected}`,
    }
  }
  const [first = '', ...rest] = stored.split(' ')
  const state = states[first]
  if (!state) return { zh: stored, en: stored }
  return { zh: [state.zh, ...rest].join(' '), en: [state.en, ...rest].join(' ') }
}

// Settings of payments and their providers.
import { paymentProviders, type PaymentProviderName } from '../../contract/payments.ts'
import {
  integer,
  listOrOff,
  optionalHeaderText,
  optionalText,
  optionalUrl,
  type Setting,
  setting,
  type SettingValues,
} from '../setting-parsers.ts'
import { isOwnPublicKey, privateKeySetting, publicKeySetting, publicKeysSetting, splitKeys } from './keys.ts'

const providerList: Setting<readonly PaymentProviderName[] | undefined>['parse'] = listOrOff(
  { zh: '支付方式', en: 'payment method' },
  paymentProviders,
)

const maxQueries = 20
const maxAgeS = 7 * 86_400

const querySchedule: Setting<readonly number[]>['parse'] = (given) => {
  const items = given.split(',').map((item) => item.trim())
  const value = items.map(Number)
  const isValid = items.every((item) => /^[1-9]\d{0,6}$/.test(item)) && value.length <= maxQueries
  const isAscending = value.every((seconds, index) => index === 0 || seconds > value[index - 1]!)
  if (isValid && isAscending && value.at(-1)! <= maxAgeS) return { value }
  return {
    problem: `必须是递增的秒数，逗号分隔，最多 ${maxQueries} 个 / must be ascending seconds separated by commas, at most ${maxQueries}`,
  }
}

/** AES-256: the 32 characters are the key. */
const apiV3Key: Setting<string | undefined>['parse'] = (given) =>
  /^[\u0021-\u007e]{32}$/.test(given)
    ? { value: given }
    : { problem: '必须是 32 个字符 / must have 32 characters' }

/** Part of a quoted value of the Authorization header. */
const quotable: Setting<string | undefined>['parse'] = (given) =>
  /^[\w-]{1,64}$/.test(given)
    ? { value: given }
    : { problem: '只能含字母、数字、- 与 _ / may contain letters, digits, - and _ only' }

const quotableList: Setting<string | undefined>['parse'] = (given) => {
  const ids = splitKeys(given)
  const wrong = ids.map(quotable).find((parsed) => 'problem' in parsed)
  if (wrong) return wrong
  return new Set(ids).size < ids.length ? { problem: '有重复 / has an item twice' } : { value: given }
}

export const paymentSettings = {
  PAYMENTS: setting(providerList, undefined, {
    zh: '支付方式，逗号分隔：alipay、wechatpay、stripe、transfer、sandbox；off 表示关闭。默认：所有网关都是沙箱时为 sandbox，否则无',
    en: 'Payment methods, separated by commas: alipay, wechatpay, stripe, transfer, sandbox; off: none. Default: sandbox while every gateway is the sandbox, else none',
  }),
  PAYMENT_POLL_S: setting(querySchedule, [5, 30, 120, 600, 3_600], {
    zh: '下单后第几秒查询未支付的订单，逗号分隔且递增；到期时再查询一次',
    en: 'Seconds after its creation at which a pending order is queried, ascending; once more at its expiry',
  }),
  ORDER_TTL_S: setting(integer(1, maxAgeS), 7_200, {
    zh: '未支付订单的有效时间（秒）',
    en: 'Seconds after which an unpaid order is closed',
  }),
  ALIPAY_APP_ID: setting(optionalHeaderText, undefined, { zh: '支付宝应用 ID', en: 'Alipay app ID' }),
  ALIPAY_PRIVATE_KEY: setting(
    privateKeySetting,
    undefined,
    { zh: '支付宝应用私钥，PEM 或单行 base64', en: 'Private key of the Alipay app, PEM or bare base64' },
    'secret',
  ),
  ALIPAY_PUBLIC_KEY: setting(
    publicKeySetting,
    undefined,
    { zh: '支付宝公钥（不是应用公钥）', en: 'Public key of Alipay (not that of the app)' },
    'secret',
  ),
  ALIPAY_ENDPOINT: setting(optionalUrl(['http:', 'https:']), 'https://openapi.alipay.com/gateway.do', {
    zh: '支付宝网关地址',
    en: 'URL of the Alipay gateway',
  }),
  WECHATPAY_MCH_ID: setting(quotable, undefined, { zh: '微信支付商户号', en: 'WeChat Pay merchant ID' }),
  WECHATPAY_APP_ID: setting(quotable, undefined, {
    zh: '与商户号绑定的 AppID',
    en: 'AppID that is bound to the merchant',
  }),
  WECHATPAY_SERIAL: setting(quotable, undefined, {
    zh: '商户 API 证书序列号',
    en: 'Serial number of the merchant API certificate',
  }),
  WECHATPAY_PRIVATE_KEY: setting(
    privateKeySetting,
    undefined,
    { zh: '商户 API 私钥', en: 'Private key of the merchant API certificate' },
    'secret',
  ),
  WECHATPAY_API_V3_KEY: setting(
    apiV3Key,
    undefined,
    { zh: 'APIv3 密钥，32 个字符', en: 'APIv3 key, 32 characters' },
    'secret',
  ),
  WECHATPAY_PUBLIC_KEY_ID: setting(quotableList, undefined, {
    zh: '微信支付公钥 ID（PUB_KEY_ID_…）或平台证书序列号；更换期间可有多个，逗号分隔',
    en: 'ID of the WeChat Pay public key (PUB_KEY_ID_…), or serial number of the platform certificate; several, separated by commas, while it is replaced',
  }),
  WECHATPAY_PUBLIC_KEY: setting(
    publicKeysSetting,
    undefined,
    {
      zh: '微信支付公钥或平台证书；多个以逗号分隔，顺序与 ID 相同',
      en: 'WeChat Pay public key, or the platform certificate; several separated by commas, in the order of the IDs',
    },
    'secret',
  ),
  WECHATPAY_ENDPOINT: setting(optionalUrl(['http:', 'https:']), 'https://api.mch.weixin.qq.com', {
    zh: '微信支付接口地址',
    en: 'Base URL of WeChat Pay',
  }),
  STRIPE_SECRET_KEY: setting(
    optionalHeaderText,
    undefined,
    { zh: 'Stripe 密钥', en: 'Stripe secret key' },
    'secret',
  ),
  STRIPE_WEBHOOK_SECRET: setting(
    optionalHeaderText,
    undefined,
    { zh: 'Stripe Webhook 签名密钥（whsec_…）', en: 'Signing secret of the Stripe webhook (whsec_…)' },
    'secret',
  ),
  STRIPE_ENDPOINT: setting(optionalUrl(['http:', 'https:']), 'https://api.stripe.com', {
    zh: 'Stripe 接口地址',
    en: 'Base URL of Stripe',
  }),
  TRANSFER_DETAILS: setting(optionalText, undefined, {
    zh: '银行转账的收款信息，显示给付款人',
    en: 'Bank details for transfers, shown to the payer',
  }),
} as const

/** The settings that `usesSandboxOnly` depends on. */
interface GatewayLists {
  readonly SMS_GATEWAYS: readonly string[]
  readonly IDENTITY_GATEWAYS: readonly string[]
  readonly DOMAIN_GATEWAYS: readonly string[]
}

function usesSandboxOnly(config: GatewayLists): boolean {
  const gateways = [...config.SMS_GATEWAYS, ...config.IDENTITY_GATEWAYS, ...config.DOMAIN_GATEWAYS]
  return gateways.every((name) => name === 'sandbox')
}

/** The payment methods that are in use. */
export function enabledProviders(
  config: GatewayLists & { readonly PAYMENTS: readonly PaymentProviderName[] | undefined },
): readonly PaymentProviderName[] {
  return config.PAYMENTS ?? (usesSandboxOnly(config) ? ['sandbox'] : [])
}

/** Whether real money moves through it without an operator. */
export function isRealProvider(name: PaymentProviderName): boolean {
  return name !== 'sandbox' && name !== 'transfer'
}

/** What each provider cannot work without. */
export const paymentRequirements = {
  alipay: ['ALIPAY_APP_ID', 'ALIPAY_PRIVATE_KEY', 'ALIPAY_PUBLIC_KEY'],
  wechatpay: [
    'WECHATPAY_MCH_ID',
    'WECHATPAY_APP_ID',
    'WECHATPAY_SERIAL',
    'WECHATPAY_PRIVATE_KEY',
    'WECHATPAY_API_V3_KEY',
    'WECHATPAY_PUBLIC_KEY_ID',
    'WECHATPAY_PUBLIC_KEY',
  ],
  stripe: ['STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRET'],
} as const

/** The sandbox cashier gives credits away, so it must not be open where they are worth money. */
export function paymentProblems(config: SettingValues<typeof paymentSettings> & GatewayLists): string[] {
  const problems: string[] = []
  const chosen = config.PAYMENTS ?? []
  if (chosen.includes('sandbox')) {
    const real = chosen.filter(isRealProvider)
    if (real.length > 0) {
      problems.push(
        `PAYMENTS 中 sandbox 不能与 ${real.join('、')} 同时使用 / sandbox cannot be used together with ${real.join(', ')}`,
      )
    }
    const lists = [config.SMS_GATEWAYS, config.IDENTITY_GATEWAYS, config.DOMAIN_GATEWAYS]
    if (lists.every(Array.isArray) && !usesSandboxOnly(config)) {
      problems.push(
        'PAYMENTS=sandbox 只能在所有网关都是 sandbox 时使用 / sandbox needs every gateway to be the sandbox',
      )
    }
  }
  const { WECHATPAY_PUBLIC_KEY: keys, WECHATPAY_PUBLIC_KEY_ID: ids } = config
  if (chosen.includes('wechatpay') && keys && ids && splitKeys(keys).length !== splitKeys(ids).length) {
    problems.push(
      'WECHATPAY_PUBLIC_KEY 与 WECHATPAY_PUBLIC_KEY_ID 的个数不同 / WECHATPAY_PUBLIC_KEY and WECHATPAY_PUBLIC_KEY_ID must have the same number of items',
    )
  }
  const { ALIPAY_PRIVATE_KEY: own, ALIPAY_PUBLIC_KEY: vendor } = config
  if (chosen.includes('alipay') && own && vendor && isOwnPublicKey(own, vendor)) {
    problems.push(
      "ALIPAY_PUBLIC_KEY 是应用公钥，必须是支付宝公钥 / is the app's own public key, Alipay's public key is required",
    )
  }
  return problems
}

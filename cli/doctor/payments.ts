// Checks the keys and certificates of payment providers, and asks each provider about an order that does not exist.
import { dayMs, formatDay } from '../../contract/time.ts'
import { type Config, publicUrlOf } from '../../server/config.ts'
import { isOwnPublicKey, readCertificate, splitKeys } from '../../server/payments/keys.ts'
import type { PaymentOrder, PaymentProvider, PaymentStatus } from '../../server/payments/port.ts'
import { createProviders } from '../../server/payments/providers.ts'
import { isRealProvider } from '../../server/payments/settings.ts'
import { type Finding, ok, reportProblem } from './finding.ts'

const check = 'payments'
/** A new certificate takes days to get. */
const soonMs = 30 * dayMs

export async function checkPayments(config: Config): Promise<Finding[]> {
  const providers = [...createProviders(config, () => publicUrlOf(config)).values()].filter(({ name }) =>
    isRealProvider(name),
  )
  if (providers.length === 0) return []
  const names = new Set(providers.map(({ name }) => name))
  return [
    ...(names.has('alipay') ? checkAlipayKey(config, Date.now()) : []),
    ...(names.has('wechatpay') ? checkWechatpayKeys(config, Date.now()) : []),
    ...(names.has('stripe') ? checkStripeKey(config) : []),
    ...checkNotifyUrl(publicUrlOf(config)),
    ...(await Promise.all(providers.map(askProvider))),
  ]
}

export function checkAlipayKey({ ALIPAY_PUBLIC_KEY: key = '' }: Partial<Config>, now: number): Finding[] {
  return checkValidity('ALIPAY_PUBLIC_KEY', key, now)
}

export function checkWechatpayKeys(config: Partial<Config>, now: number): Finding[] {
  const { WECHATPAY_PRIVATE_KEY: own = '', WECHATPAY_PUBLIC_KEY: keys = '' } = config
  const { WECHATPAY_PUBLIC_KEY_ID: ids = '', WECHATPAY_SERIAL: serial = '' } = config
  const given = splitKeys(keys)
  const findings = splitKeys(ids).flatMap((id, index) =>
    checkWechatpayKey({ id, key: given[index] ?? '', own }, now),
  )
  if (!/^[\dA-Fa-f]{40}$/.test(serial)) {
    findings.push(
      problem(
        [
          'WECHATPAY_SERIAL 不是 40 位十六进制的证书序列号',
          'WECHATPAY_SERIAL is not a serial number of 40 hexadecimal digits',
        ],
        ['填商户 API 证书的序列号', 'use the serial number of the merchant API certificate'],
      ),
    )
  }
  return findings
}

function checkWechatpayKey(
  { id, key, own }: { readonly id: string; readonly key: string; readonly own: string },
  now: number,
): Finding[] {
  const findings = checkValidity('WECHATPAY_PUBLIC_KEY', key, now)
  if (isOwnPublicKey(own, key)) {
    findings.push(
      problem(
        ['WECHATPAY_PUBLIC_KEY 是商户自己的公钥', "WECHATPAY_PUBLIC_KEY is the merchant's own key"],
        ['改为微信支付公钥或平台证书', 'use the WeChat Pay public key or the platform certificate'],
      ),
    )
  }
  const certificate = readCertificate(key)
  if (certificate && certificate.serialNumber.toUpperCase() !== id.toUpperCase()) {
    findings.push(
      problem(
        [
          'WECHATPAY_PUBLIC_KEY_ID 不是该平台证书的序列号',
          'WECHATPAY_PUBLIC_KEY_ID is not the serial of the certificate',
        ],
        [`改为 ${certificate.serialNumber}`, `set it to ${certificate.serialNumber}`],
      ),
    )
  }
  if (!certificate && !id.startsWith('PUB_KEY_ID_')) {
    findings.push(
      problem(
        [
          'WECHATPAY_PUBLIC_KEY_ID 不是微信支付公钥的 ID',
          'WECHATPAY_PUBLIC_KEY_ID is not the ID of a public key',
        ],
        ['填商户平台“微信支付公钥”处的 PUB_KEY_ID_…', 'use the PUB_KEY_ID_… of the merchant platform'],
      ),
    )
  }
  return findings
}

/** Keys do not expire, certificates do. */
function checkValidity(name: string, text: string, now: number): Finding[] {
  const certificate = readCertificate(text)
  if (!certificate) return []
  const [from, until] = [Date.parse(certificate.validFrom), Date.parse(certificate.validTo)]
  const fix = ['更换证书并重启', 'replace the certificate and restart'] as const
  if (now < from)
    return [problem([`${name} 的证书尚未生效：${formatDay(from)}`, 'the certificate is not valid yet'], fix)]
  if (now >= until)
    return [problem([`${name} 的证书已于 ${formatDay(until)} 过期`, 'the certificate has expired'], fix)]
  if (now < until - soonMs) return []
  const text2 = [`${name} 的证书将于 ${formatDay(until)} 过期`, 'the certificate expires soon'] as const
  return [reportProblem(check, 'warn', text2, fix)]
}

export function checkStripeKey(config: Partial<Config>): Finding[] {
  const { STRIPE_SECRET_KEY: key = '', STRIPE_WEBHOOK_SECRET: secret = '' } = config
  const findings: Finding[] = []
  if (!/^[sr]k_(live|test)_/.test(key)) {
    const [zh, en] = key.startsWith('pk_')
      ? ['是公开密钥', 'is a publishable key']
      : ['不是密钥', 'is not a secret key']
    findings.push(
      problem(
        [`STRIPE_SECRET_KEY ${zh}`, `STRIPE_SECRET_KEY ${en}`],
        ['填 sk_… 或 rk_… 开头的密钥', 'use a key that begins with sk_ or rk_'],
      ),
    )
  }
  if (!secret.startsWith('whsec_')) {
    findings.push(
      problem(
        ['STRIPE_WEBHOOK_SECRET 不以 whsec_ 开头', 'STRIPE_WEBHOOK_SECRET does not begin with whsec_'],
        ['填该 Webhook 端点的签名密钥', 'use the signing secret of the webhook endpoint'],
      ),
    )
  }
  return findings
}

function checkNotifyUrl(publicUrl: string): Finding[] {
  const { protocol, hostname } = new URL(publicUrl)
  if (protocol === 'https:' && hostname !== 'localhost' && !hostname.startsWith('127.')) return []
  const text = [
    `支付渠道无法通知 ${publicUrl}，只能靠查询得知支付`,
    'payment providers cannot reach PUBLIC_URL; payments are found by queries only',
  ] as const
  return [
    reportProblem(check, 'warn', text, [
      '设置公网 https 的 PUBLIC_URL',
      'set PUBLIC_URL to a public https address',
    ]),
  ]
}

/** No provider has such an order. */
const noOrder: PaymentOrder = {
  number: 'TDOCTOR0000000000',
  amount: 1,
  currency: 'CNY',
  package_name: 'doctor',
  pay_token: '',
  provider_ref: 'cs_test_doctor',
  provider_expires_at: 0,
  sandbox_paid_at: null,
}

/** How each provider says that there is no such order: then it accepted our signature. */
const unknownOrders: ReadonlySet<string> = new Set(['ORDER_NOT_EXIST', 'resource_missing'])

async function askProvider(provider: PaymentProvider): Promise<Finding> {
  const { name } = provider
  const status = await provider.query(noOrder)
  if (isAccepted(status)) return ok(check, `${name} 接受了签名的查询`, `${name} accepted a signed query`)
  const reason = 'reason' in status ? status.reason : status.kind
  const fix = fixes.find(({ pattern }) => pattern.test(reason)) ?? fixes.at(-1)!
  return problem([`${name} 没有接受查询：${reason}`, `${name} did not accept a query`], fix.text)
}

function isAccepted(status: PaymentStatus): boolean {
  return status.kind === 'unpaid' || (status.kind === 'unknown' && unknownOrders.has(status.reason))
}

const fixes: readonly { readonly pattern: RegExp; readonly text: readonly [string, string] }[] = [
  {
    pattern: /^unsigned_answer$/,
    text: [
      '响应的签名与所设公钥不符，或应用 ID、私钥不被接受：核对应用 ID、应用私钥与支付宝公钥属于同一环境',
      'the answer was not signed with the configured public key, or app ID and private key were refused: check that all three are of the same app and environment',
    ],
  },
  {
    pattern: /SIGN|invalid_request_error|http_401|api_key/i,
    text: [
      '签名或密钥不被接受：核对商户号、私钥与证书序列号，以及本机时钟',
      'signature or key was refused: check merchant, private key, serial number and the clock',
    ],
  },
  {
    pattern: /MCH|APPID|NO_AUTH/,
    text: [
      '商户号与 AppID 不符或未开通：核对设置与商户平台',
      'wrong merchant or app: check the settings and the merchant platform',
    ],
  },
  {
    pattern: /./,
    text: ['检查网络与接口地址', 'check the network and the address of the provider'],
  },
]

function problem(text: readonly [string, string], fix: readonly [string, string]): Finding {
  return reportProblem(check, 'fail', text, fix)
}

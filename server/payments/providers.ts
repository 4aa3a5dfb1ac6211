// The configured providers, created from the settings.
import type { KeyObject } from 'node:crypto'
import type { PaymentProviderName } from '../../contract/payments.ts'
import type { Config } from '../config.ts'
import { readPrivateKey, readPublicKey, splitKeys } from './keys.ts'
import type { PaymentProvider, ProviderAddresses } from './port.ts'
import { createAlipay } from './providers/alipay.ts'
import { createSandbox, createTransfer } from './providers/local.ts'
import { createStripe } from './providers/stripe.ts'
import { createWechatpay } from './providers/wechatpay.ts'
import { enabledProviders } from './settings.ts'

export const notifyPath = (name: string): string => `/payments/notify/${name}`
export const cashierPath = '/pay'

type Factory = (config: Config, addresses: ProviderAddresses) => PaymentProvider

/** The settings check at start that the keys are present and readable. */
const factories: Readonly<Record<PaymentProviderName, Factory>> = {
  alipay: (config, addresses) =>
    createAlipay({
      ...addresses,
      appId: config.ALIPAY_APP_ID ?? '',
      privateKey: readPrivateKey(config.ALIPAY_PRIVATE_KEY ?? '')!,
      publicKey: readPublicKey(config.ALIPAY_PUBLIC_KEY ?? '')!,
      endpoint: config.ALIPAY_ENDPOINT ?? '',
      timeoutMs: config.GATEWAY_TIMEOUT_MS,
    }),
  wechatpay: (config, addresses) =>
    createWechatpay({
      ...addresses,
      mchId: config.WECHATPAY_MCH_ID ?? '',
      appId: config.WECHATPAY_APP_ID ?? '',
      serial: config.WECHATPAY_SERIAL ?? '',
      privateKey: readPrivateKey(config.WECHATPAY_PRIVATE_KEY ?? '')!,
      apiV3Key: config.WECHATPAY_API_V3_KEY ?? '',
      publicKeys: wechatpayKeys(config),
      endpoint: config.WECHATPAY_ENDPOINT ?? '',
      timeoutMs: config.GATEWAY_TIMEOUT_MS,
    }),
  stripe: (config, addresses) =>
    createStripe({
      ...addresses,
      secretKey: config.STRIPE_SECRET_KEY ?? '',
      webhookSecret: config.STRIPE_WEBHOOK_SECRET ?? '',
      endpoint: config.STRIPE_ENDPOINT ?? '',
      timeoutMs: config.GATEWAY_TIMEOUT_MS,
    }),
  transfer: createTransfer,
  sandbox: (_config, addresses) => createSandbox(addresses),
}

function wechatpayKeys(config: Config): ReadonlyMap<string, KeyObject> {
  const keys = splitKeys(config.WECHATPAY_PUBLIC_KEY ?? '')
  return new Map(
    splitKeys(config.WECHATPAY_PUBLIC_KEY_ID ?? '').map((id, index) => [id, readPublicKey(keys[index]!)!]),
  )
}

export type Providers = ReadonlyMap<PaymentProviderName, PaymentProvider>

export function createProviders(config: Config, publicUrl: () => string): Providers {
  return new Map(
    enabledProviders(config).map((name) => [
      name,
      factories[name](config, {
        notifyUrl: () => publicUrl() + notifyPath(name),
        returnUrl: (number) => `${publicUrl()}/console/orders?open=${number}`,
        cashierUrl: (token) => `${publicUrl()}${cashierPath}/${token}`,
      }),
    ]),
  )
}

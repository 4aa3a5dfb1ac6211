// Which signature a message is sent with, and whether the account may use it.
import type { Account } from '../accounts/store.ts'
import type { Config } from '../config.ts'
import type { Queries } from '../db/database.ts'
import { invalidField } from '../http/errors.ts'
import { isApproved } from './signature-store.ts'

type SignatureSettings = Pick<Config, 'SMS_SIGNATURES' | 'SMS_GATEWAYS' | 'SMS_SIGN_NAME'>

/** At a real provider all accounts share our vendor account, so only reviewed signatures are sent there by default. */
export function signatureRule(config: SignatureSettings): 'approved' | 'any' {
  if (config.SMS_SIGNATURES !== undefined) return config.SMS_SIGNATURES
  return config.SMS_GATEWAYS.some((name) => name !== 'sandbox') ? 'approved' : 'any'
}

/**
 * Returns the signature to send with: the given one, else the account's, else the platform's. Throws 1002 when the account may
 * not use the given one. Queries only for a signature that is neither the account's default nor the platform's.
 */
export async function requireUsableSignature(
  queries: Queries,
  config: SignatureSettings,
  account: Pick<Account, 'id' | 'sign_name'>,
  signName: string | undefined,
): Promise<string> {
  if (signName === undefined) return account.sign_name ?? config.SMS_SIGN_NAME
  if (signName === account.sign_name || signName === config.SMS_SIGN_NAME) return signName
  if (signatureRule(config) === 'any' || (await isApproved(queries, account.id, signName))) return signName
  throw invalidField('sign_name', { zh: '签名未通过审核', en: 'The signature is not approved' })
}

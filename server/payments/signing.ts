// SHA256withRSA signatures, as Alipay and WeChat Pay use them.
import { createSign, createVerify, type KeyObject } from 'node:crypto'

export function signRsa(key: KeyObject, text: string): string {
  return createSign('RSA-SHA256').update(text, 'utf8').sign(key, 'base64')
}

/** False for anything that is not a valid signature. Never throws. */
export function verifyRsa(key: KeyObject, text: string | Buffer, signature: string): boolean {
  if (!/^[A-Za-z\d+/]{40,2000}={0,2}$/.test(signature)) return false
  try {
    return createVerify('RSA-SHA256').update(text).verify(key, signature, 'base64')
  } catch {
    return false
  }
}

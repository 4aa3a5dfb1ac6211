// Reads RSA keys as vendors hand them out: PEM or bare base64, PKCS#8, PKCS#1, SPKI or a certificate.
import { createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto'
import type { Parsed, Setting } from '../setting-parsers.ts'

/** Vendors refuse shorter keys. */
const minKeyBits = 2_048

/** Settings in one line have `\n` as two characters. */
function derOf(text: string): Buffer {
  const base64 = text.replaceAll('\\n', '\n').replaceAll(/-----[^-]+-----|\s/g, '')
  return /^[A-Za-z\d+/]+=*$/.test(base64) ? Buffer.from(base64, 'base64') : Buffer.alloc(0)
}

export function readPrivateKey(text: string): KeyObject | undefined {
  const key = derOf(text)
  for (const type of ['pkcs8', 'pkcs1'] as const) {
    try {
      return requireRsa(createPrivateKey({ key, format: 'der', type }))
    } catch {
      // The next form.
    }
  }
  return undefined
}

export function readPublicKey(text: string): KeyObject | undefined {
  const key = derOf(text)
  const forms = [
    () => createPublicKey({ key, format: 'der', type: 'spki' }),
    () => createPublicKey({ key, format: 'der', type: 'pkcs1' }),
    () => new X509Certificate(key).publicKey,
  ]
  for (const form of forms) {
    try {
      return requireRsa(form())
    } catch {
      // The next form.
    }
  }
  return undefined
}

function requireRsa(key: KeyObject): KeyObject {
  const bits = key.asymmetricKeyDetails?.modulusLength ?? 0
  if (key.asymmetricKeyType !== 'rsa' || bits < minKeyBits) throw new Error('no RSA key')
  return key
}

type Parse = Setting<string | undefined>['parse']

export const privateKeySetting: Parse = (text): Parsed<string> =>
  readPrivateKey(text)
    ? { value: text }
    : {
        problem: `须为至少 ${minKeyBits} 位的 RSA 私钥 / must be an RSA private key of at least ${minKeyBits} bits`,
      }

export const publicKeySetting: Parse = (text): Parsed<string> =>
  readPublicKey(text)
    ? { value: text }
    : {
        problem: `须为至少 ${minKeyBits} 位的 RSA 公钥 / must be an RSA public key of at least ${minKeyBits} bits`,
      }

/** Whether the public key belongs to the private one: then it is not the vendor's. */
export function isOwnPublicKey(privateKey: string, publicKey: string): boolean {
  const own = readPrivateKey(privateKey)
  const other = readPublicKey(publicKey)
  if (!own || !other) return false
  const encoding = { format: 'der', type: 'spki' } as const
  return createPublicKey(own).export(encoding).equals(other.export(encoding))
}

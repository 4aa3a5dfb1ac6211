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
      // Not in this form: try the next one.
    }
  }
  return undefined
}

export function readPublicKey(text: string): KeyObject | undefined {
  // Node derives a public key from a private one; here it is a mistake.
  if (readPrivateKey(text)) return undefined
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
      // Not in this form: try the next one.
    }
  }
  return undefined
}

/** Undefined for a key or anything else. */
export function readCertificate(text: string): X509Certificate | undefined {
  try {
    return new X509Certificate(derOf(text))
  } catch {
    return undefined
  }
}

/** What was given instead of the key that is needed. */
function describeWrongKey(text: string): readonly [string, string] | undefined {
  if (readCertificate(text)) return ['这是证书', 'this is a certificate']
  const key = derOf(text)
  const forms = [
    () => createPrivateKey({ key, format: 'der', type: 'pkcs8' }),
    () => createPrivateKey({ key, format: 'der', type: 'pkcs1' }),
    () => createPrivateKey({ key, format: 'der', type: 'sec1' }),
    () => createPublicKey({ key, format: 'der', type: 'spki' }),
    () => createPublicKey({ key, format: 'der', type: 'pkcs1' }),
  ]
  for (const form of forms) {
    try {
      const { type, asymmetricKeyType, asymmetricKeyDetails } = form()
      const kind = `${asymmetricKeyType ?? ''} ${asymmetricKeyDetails?.modulusLength ?? ''}`.trim()
      return type === 'private'
        ? [`这是私钥（${kind}）`, `this is a private key (${kind})`]
        : [`这是公钥（${kind}）`, `this is a public key (${kind})`]
    } catch {
      // Not in this form: try the next one.
    }
  }
  return undefined
}

function keyProblem(text: string, zh: string, en: string): Parsed<string> {
  const given = describeWrongKey(text)
  const problem = `必须是至少 ${minKeyBits} 位的 RSA ${zh}${given ? `，${given[0]}` : ''} / must be an RSA ${en} of at least ${minKeyBits} bits${given ? `, ${given[1]}` : ''}`
  return { problem }
}

function requireRsa(key: KeyObject): KeyObject {
  const bits = key.asymmetricKeyDetails?.modulusLength ?? 0
  if (key.asymmetricKeyType !== 'rsa' || bits < minKeyBits) throw new Error('no RSA key')
  return key
}

type ParseKey = Setting<string | undefined>['parse']

export const privateKeySetting: ParseKey = (text): Parsed<string> =>
  readPrivateKey(text) ? { value: text } : keyProblem(text, '私钥', 'private key')

export const publicKeySetting: ParseKey = (text): Parsed<string> =>
  readPublicKey(text) ? { value: text } : keyProblem(text, '公钥', 'public key')

/** The items of a setting that takes several keys or their IDs, separated by commas. */
export function splitKeys(text: string): string[] {
  return text.split(',').map((item) => item.trim())
}

export const publicKeysSetting: ParseKey = (text): Parsed<string> => {
  const wrong = splitKeys(text).find((key) => !readPublicKey(key))
  return wrong === undefined ? { value: text } : keyProblem(wrong, '公钥', 'public key')
}

/** Whether the public key belongs to the private one: then it is not the vendor's. */
export function isOwnPublicKey(privateKey: string, publicKey: string): boolean {
  const own = readPrivateKey(privateKey)
  const other = readPublicKey(publicKey)
  if (!own || !other) return false
  const encoding = { format: 'der', type: 'spki' } as const
  return createPublicKey(own).export(encoding).equals(other.export(encoding))
}

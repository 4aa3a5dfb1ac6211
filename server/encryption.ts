// Encrypts text that the database keeps and that a copy of the database must not reveal, and compares secrets.
import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  hash,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'

export interface TextCipher {
  encrypt(text: string): string
  /** Undefined when the text was encrypted with another secret or was changed. */
  decrypt(encrypted: string): string | undefined
}

const nonceBytes = 12
const tagBytes = 16

/** For what only this service can have written. */
export function requireDecrypted(cipher: TextCipher, encrypted: string): string {
  const text = cipher.decrypt(encrypted)
  if (text === undefined) throw new Error('a stored secret cannot be decrypted with this SECRET_KEY')
  return text
}

/** Each purpose has its own key. */
export function createTextCipher(secretKey: string, purpose: string): TextCipher {
  const key = createSecretKey(Buffer.from(hkdfSync('sha256', secretKey, '', purpose, 32)))
  return {
    encrypt(text) {
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv('aes-256-gcm', key, nonce)
      const bytes = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), bytes]).toString('base64')
    },
    decrypt(encrypted) {
      try {
        const bytes = Buffer.from(encrypted, 'base64')
        const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes))
        decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes))
        const text = Buffer.concat([decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()])
        return text.toString('utf8')
      } catch {
        return undefined
      }
    },
  }
}

/** Digests have equal lengths, so the comparison takes constant time and does not reveal the length of the secret. */
export function isSameSecret(given: string, expected: string): boolean {
  return timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', expected, 'buffer'))
}

// Encrypts stored responses: they may contain phone numbers or birthdays.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import type { StoredResponse } from '../operation.ts'

export interface ResponseCipher {
  encrypt(response: StoredResponse): string
  /** Undefined when the text was encrypted with another secret. */
  decrypt(text: string): StoredResponse | undefined
}

export function createResponseCipher(secretKey: string): ResponseCipher {
  const key = Buffer.from(hkdfSync('sha256', secretKey, '', 'tollgate stored answers', 32))
  return {
    encrypt(response) {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', key, nonce)
      const text = Buffer.concat([cipher.update(JSON.stringify(response), 'utf8'), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64')
    },
    decrypt(encrypted) {
      try {
        const bytes = Buffer.from(encrypted, 'base64')
        const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12))
        decipher.setAuthTag(bytes.subarray(12, 28))
        const text = Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()])
        return JSON.parse(text.toString('utf8')) as StoredResponse
      } catch {
        return undefined
      }
    },
  }
}

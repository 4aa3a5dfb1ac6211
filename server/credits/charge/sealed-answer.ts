// Stored answers may hold phone numbers or birthdays, so they rest encrypted under the installation's secret.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import type { StoredAnswer } from '../operation.ts'

export interface AnswerSeal {
  seal(answer: StoredAnswer): string
  /** Undefined when the text was sealed under another secret. */
  open(sealed: string): StoredAnswer | undefined
}

export function answerSeal(secretKey: string): AnswerSeal {
  const key = Buffer.from(hkdfSync('sha256', secretKey, '', 'tollgate stored answers', 32))
  return {
    seal(answer) {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', key, nonce)
      const text = Buffer.concat([cipher.update(JSON.stringify(answer), 'utf8'), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64')
    },
    open(sealed) {
      try {
        const bytes = Buffer.from(sealed, 'base64')
        const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12))
        decipher.setAuthTag(bytes.subarray(12, 28))
        const text = Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()])
        return JSON.parse(text.toString('utf8')) as StoredAnswer
      } catch {
        return undefined
      }
    },
  }
}

// Encrypts stored responses: they may contain phone numbers or birthdays.
import { createTextCipher } from '../../encryption.ts'
import type { StoredResponse } from '../operation.ts'

export interface ResponseCipher {
  encrypt(response: StoredResponse): string
  /** Undefined when the text was encrypted with another secret. */
  decrypt(text: string): StoredResponse | undefined
}

export function createResponseCipher(secretKey: string): ResponseCipher {
  const cipher = createTextCipher(secretKey, 'tollgate stored answers')
  return {
    encrypt: (response) => cipher.encrypt(JSON.stringify(response)),
    decrypt(encrypted) {
      const text = cipher.decrypt(encrypted)
      return text === undefined ? undefined : (JSON.parse(text) as StoredResponse)
    },
  }
}

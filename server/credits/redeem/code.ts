// Redeem codes: format, stored hash, and the masked form that is shown later.
import { createHmac } from 'node:crypto'
import { randomText } from '../../random.ts'

/** No look-alikes: codes are read out over the phone. */
const alphabet = 'ABCDEFGHJKMNPQRSTUVWXYZ23456789'
const length = 16
const pattern = new RegExp(`^[${alphabet}]{${length}}$`)

/** `TG-ABCD-EFGH-JKMN-PQRS`, about 79 random bits. */
export function generateRedeemCode(): string {
  const random = randomText(alphabet, length)
  return `TG-${(random.match(/.{4}/g) ?? []).join('-')}`
}

/** Returns the 16 characters of the code in any spelling; undefined when it is not a code. */
export function readRedeemCode(typed: string): string | undefined {
  if (typed.length > 100) return undefined
  const plain = typed
    .normalize('NFKC')
    .toUpperCase()
    .replaceAll(/[\s\-–—_]/g, '')
  const code = plain.startsWith('TG') && plain.length === length + 2 ? plain.slice(2) : plain
  return pattern.test(code) ? code : undefined
}

export function hashRedeemCode(secret: string, code: string): string {
  return createHmac('sha256', secret).update(code).digest('hex')
}

export function maskRedeemCode(code: string): string {
  return `TG-${code.slice(0, 2)}••-••••-••••-••${code.slice(-2)}`
}

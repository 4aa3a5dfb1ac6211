// Redeem codes (卡密): how they look, how they are stored, what is shown of them later.
import { createHmac, randomInt } from 'node:crypto'

/** No look-alikes: somebody reads these to somebody else over the phone. */
const alphabet = 'ABCDEFGHJKMNPQRSTUVWXYZ23456789'
const length = 16
const pattern = new RegExp(`^[${alphabet}]{${length}}$`)

/** `TG-ABCD-EFGH-JKMN-PQRS`, about 79 bits of chance. */
export function makeRedeemCode(): string {
  const random = Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('')
  return `TG-${(random.match(/.{4}/g) ?? []).join('-')}`
}

/** The code's own characters, however it was typed; undefined when it cannot be one. */
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

export function hintOfRedeemCode(code: string): string {
  return `TG-${code.slice(0, 2)}••-••••-••••-••${code.slice(-2)}`
}

// Time-based one-time passwords (RFC 6238) with the parameters that every authenticator app supports: SHA-1, 6 digits, 30 s.
import { createHmac, randomBytes } from 'node:crypto'
import { isSameSecret } from '../encryption.ts'

const stepMs = 30_000
const digits = 6
/** RFC 4226 recommends 160 bits. */
const secretBytes = 20
const base32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** A new secret in base32, without padding. */
export function generateTotpSecret(): string {
  return encodeBase32(randomBytes(secretBytes))
}

export function stepAt(now: number): number {
  return Math.floor(now / stepMs)
}

/** The code of a time step; `length` is 8 only in the vectors of the RFC. */
export function totpCode(secret: Buffer, step: number, length: number = digits): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac('sha1', secret).update(counter).digest()
  const offset = mac.at(-1)! & 0x0f
  const value = (mac.readUInt32BE(offset) & 0x7fff_ffff) % 10 ** length
  return String(value).padStart(length, '0')
}

/** The step whose code this is: the present one, the one before or the one after. The work is the same for every code. */
export function findTotpStep(secret: string, code: string, now: number): number | undefined {
  const bytes = decodeBase32(secret)
  const present = stepAt(now)
  let found: number | undefined
  for (const step of [present - 1, present, present + 1]) {
    if (isSameSecret(code, totpCode(bytes, step))) found = step
  }
  return found
}

/** The text of the QR code that an authenticator app scans. */
export function totpUri(issuer: string, account: string, secret: string): string {
  const [name, label] = [encodeURIComponent(issuer), encodeURIComponent(account)]
  return `otpauth://totp/${name}:${label}?secret=${secret}&issuer=${name}&algorithm=SHA1&digits=${digits}&period=${stepMs / 1000}`
}

function encodeBase32(bytes: Buffer): string {
  let text = ''
  let bits = 0
  let value = 0
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xffff
    bits += 8
    while (bits >= 5) {
      bits -= 5
      text += base32[(value >>> bits) & 31]
    }
  }
  return bits > 0 ? text + base32[(value << (5 - bits)) & 31] : text
}

export function decodeBase32(text: string): Buffer {
  const bytes: number[] = []
  let bits = 0
  let value = 0
  for (const letter of text) {
    value = ((value << 5) | base32.indexOf(letter)) & 0xfff
    bits += 5
    if (bits < 8) continue
    bits -= 8
    bytes.push((value >>> bits) & 0xff)
  }
  return Buffer.from(bytes)
}

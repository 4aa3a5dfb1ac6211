// API keys: `tg_`, 43 random base62 characters, and a 6-character checksum that rejects a mistyped key without a look-up.
import { hash, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const randomLength = 43
const checksumLength = 6
const pattern = /^tg_[0-9A-Za-z]{49}$/

export function generateApiKey(): string {
  let random = ''
  for (let i = 0; i < randomLength; i++) random += alphabet[randomInt(alphabet.length)]
  return `tg_${random}${checksum(random)}`
}

export function isWellFormedKey(key: string): boolean {
  if (!pattern.test(key)) return false
  const random = key.slice(3, 3 + randomLength)
  return checksum(random) === key.slice(3 + randomLength)
}

/** The stored form. A key has 256 random bits, so a plain hash is enough: it cannot be found by trying. */
export function hashKey(key: string): string {
  return hash('sha256', key, 'hex')
}

/** The form that is shown after the key was created. */
export function formatKeyHint(key: string): string {
  return `${key.slice(0, 7)}••••••${key.slice(-4)}`
}

function checksum(random: string): string {
  let rest = crc32(random)
  let text = ''
  for (let i = 0; i < checksumLength; i++) {
    text = alphabet[rest % alphabet.length] + text
    rest = Math.floor(rest / alphabet.length)
  }
  return text
}

// API keys: `tg_`, 43 random base62 characters, and a 6-character checksum that lets a mistyped key be refused without a look-up.
import { hash, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const randomLength = 43
const checksumLength = 6
const pattern = /^tg_[0-9A-Za-z]{49}$/

export function makeKey(): string {
  let random = ''
  for (let i = 0; i < randomLength; i++) random += alphabet[randomInt(alphabet.length)]
  return `tg_${random}${checksum(random)}`
}

export function isWellFormedKey(key: string): boolean {
  if (!pattern.test(key)) return false
  const random = key.slice(3, 3 + randomLength)
  return checksum(random) === key.slice(3 + randomLength)
}

/** What is stored. A key carries 256 bits of chance, so a plain hash cannot be searched. */
export function hashKey(key: string): string {
  return hash('sha256', key, 'hex')
}

/** What is shown of a key after the first time. */
export function hintOfKey(key: string): string {
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

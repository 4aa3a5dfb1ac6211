// API keys: `tg_`, 43 random base62 characters, and a 6-character checksum that rejects invented keys without a look-up.
//
// The checksum is keyed with a secret of the installation, so that only it can compute it. Keys from before 0.2.0
// have a plain checksum and stay valid.
import { createHmac, hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { base62, randomText } from '../random.ts'

const randomLength = 43
const checksumLength = 6
const pattern = /^tg_[0-9A-Za-z]{49}$/

export function generateApiKey(checksumSecret: string): string {
  const random = randomText(base62, randomLength)
  return `tg_${random}${keyedChecksum(random, checksumSecret)}`
}

/** `issued`: only this installation can have created it. `possible`: from before checksums were keyed, or invented. */
export type KeyForm = 'issued' | 'possible' | 'malformed'

export function formOfKey(key: string, checksumSecret: string): KeyForm {
  if (!pattern.test(key)) return 'malformed'
  const random = key.slice(3, 3 + randomLength)
  const checksum = key.slice(3 + randomLength)
  if (checksum === keyedChecksum(random, checksumSecret)) return 'issued'
  return checksum === toBase62(crc32(random)) ? 'possible' : 'malformed'
}

/** The stored form. A key has 256 random bits, so a plain hash is enough: it cannot be found by trying. */
export function hashKey(key: string): string {
  return hash('sha256', key, 'hex')
}

/** The form that is shown after the key was created. */
export function formatKeyHint(key: string): string {
  return `${key.slice(0, 7)}••••••${key.slice(-4)}`
}

function keyedChecksum(random: string, secret: string): string {
  return toBase62(createHmac('sha256', secret).update(random).digest().readUIntBE(0, 6))
}

/** The last six digits. */
function toBase62(value: number): string {
  let rest = value
  let text = ''
  for (let i = 0; i < checksumLength; i++) {
    text = base62[rest % base62.length] + text
    rest = Math.floor(rest / base62.length)
  }
  return text
}

// Unpredictable texts: keys, codes, numbers of orders.
import { randomInt } from 'node:crypto'

export const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

export function randomText(letters: string, length: number): string {
  return Array.from({ length }, () => letters[randomInt(letters.length)]).join('')
}

export function randomDigits(length: number): string {
  return randomText('0123456789', length)
}

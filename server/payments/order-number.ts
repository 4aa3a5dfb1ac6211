// Numbers of orders: the second, and ten random characters; 25 letters and digits in all.
import { formatTime } from '../../contract/time.ts'
import { randomText } from '../random.ts'

const letters = '0123456789ABCDEFGHJKLMNPQRSTUVWXYZ'

export function createOrderNumber(): string {
  const second = formatTime(Date.now()).replaceAll(/\D/g, '')
  return `T${second}${randomText(letters, 10)}`
}

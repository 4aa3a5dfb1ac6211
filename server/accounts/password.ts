// Passwords: hashed with argon2id, at least eight characters, none of the common ones.
import { hash, verify } from '@node-rs/argon2'
import { maxPasswordLength, minPasswordLength } from '../../contract/console/limits.ts'
import type { Text } from '../../contract/text.ts'
import { randomText } from '../random.ts'
import { inTurn } from './password-turns.ts'

const common = new Set(
  `00000000 11111111 12121212 123123123 12341234 12344321 12345678 123456789 1234567890 0123456789 123456abc 1234qwer
  1q2w3e4r 1q2w3e4r5t 1qaz2wsx 5201314520 52013145 66666666 87654321 88888888 987654321 99999999 a1234567 a12345678
  a123456789 aa123456 aa123456789 abc12345 abc123456 abcd1234 abcdefgh admin123 admin1234 administrator asdfasdf
  asdfghjk asdfghjkl baseball changeme computer dearbook football iloveyou internet letmein1 iloveyou1 p@ssw0rd
  p@ssword passw0rd password password! password1 password12 password123 princess q1w2e3r4 qazwsxedc qq123456 qwer1234
  qwerty12 qwerty123 qwertyui qwertyuiop root1234 starwars sunshine superman test1234 tollgate trustno1 welcome1
  welcome123 woaini123 woaini1314 woaini520 wodemima xiaoming zaq12wsx zxcvbnm1 zxcvbnm123`.split(/\s+/),
)

/** Returns why a new password is not acceptable. */
export function passwordProblem(password: string, username: string): Text | undefined {
  if ([...password].length < minPasswordLength) {
    return {
      zh: `密码至少 ${minPasswordLength} 个字符`,
      en: `the password needs at least ${minPasswordLength} characters`,
    }
  }
  if (password.length > maxPasswordLength) return { zh: '密码过长', en: 'the password is too long' }
  const plain = password.toLowerCase()
  if (common.has(plain) || plain === username.toLowerCase() || /^(.)\1*$/u.test(plain)) {
    return { zh: '密码过于常见', en: 'the password is too common' }
  }
  return undefined
}

let cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

export function hashPassword(password: string, share: string): Promise<string> {
  // argon2id is the library's default; a test checks it.
  return inTurn(share, () => hash(password, cost))
}

/** For test processes only: they create thousands of accounts. No setting enables it, and it throws in production. */
export function lowerPasswordCostForTests(): void {
  if (process.env['NODE_ENV'] === 'production')
    throw new Error('passwords need their full cost in production')
  cost = { memoryCost: 8, timeCost: 1, parallelism: 1 }
}

export async function verifyPassword(stored: string, password: string, share: string): Promise<boolean> {
  if (password.length > maxPasswordLength) return false
  return inTurn(share, () => verify(stored, password))
}

/** Generates a password of about 95 random bits without look-alike characters. */
export function generatePassword(): string {
  return randomText('ABCDEFGHJKMNPQRSTUVWXYZabcdefghjkmnpqrstuvwxyz23456789', 16)
}

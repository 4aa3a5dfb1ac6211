// Checks an account's password, at sign-in and for changes that need it again. Guesses are limited.
import { hashPassword, verifyPassword } from '../accounts/password.ts'
import { type Account, findPasswordHash } from '../accounts/store.ts'
import type { Database } from '../db/database.ts'
import { networkOf } from '../http/address.ts'
import type { AttemptKey } from '../limits/port.ts'
import type { GuessLimits } from './guess-limits.ts'
import { ConsoleProblem, invalidFields } from './problem.ts'

/**
 * Wrong passwords in 15 minutes. The first limit stops one guesser without locking out an owner at another address; the
 * others stop guesses from many addresses, and for many names.
 */
const maxForNameAtAddress = 10
const maxByName = 50
const maxByAddress = 60

export interface PasswordChecks {
  /** An unknown user and a wrong password fail alike, after the same work. */
  signIn(name: string, account: Account | undefined, password: string, address: string): Promise<void>
  /** Checks the password of a signed-in user; a problem is reported at `field`. */
  confirm(account: Account, password: string, address: string, field: string): Promise<void>
}

export function createPasswordChecks(db: Database, limits: GuessLimits): PasswordChecks {
  const dummyHash = hashPassword('not the password of any account')

  function keysOf(username: string, address: string): readonly [AttemptKey, ...AttemptKey[]] {
    const name = username.toLowerCase().slice(0, 100)
    const network = networkOf(address)
    return [
      { key: `both ${network} ${name}`, max: maxForNameAtAddress },
      { key: `name ${name}`, max: maxByName },
      { key: `address ${network}`, max: maxByAddress },
    ]
  }

  async function isCorrect(account: Account | undefined, password: string): Promise<boolean> {
    const stored = account && (await findPasswordHash(db, account.id))
    const matches = await verifyPassword(stored ?? (await dummyHash), password)
    return matches && stored !== undefined
  }

  return {
    async signIn(name, account, password, address) {
      const keys = keysOf(name, address)
      const guess = await limits.begin(keys)
      if (await isCorrect(account, password)) return guess.right(keys[0].key)
      await guess.wrong()
      throw new ConsoleProblem('wrong_credentials', {
        zh: '用户名或密码错误',
        en: 'Wrong user name or password',
      })
    },
    async confirm(account, password, address, field) {
      const keys = keysOf(account.username, address)
      const guess = await limits.begin(keys)
      if (await isCorrect(account, password)) return guess.right(keys[0].key)
      await guess.wrong()
      throw invalidFields({ [field]: { zh: '密码错误', en: 'Wrong password' } })
    },
  }
}

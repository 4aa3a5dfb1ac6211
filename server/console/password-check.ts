// Whether a password is the account's own, for signing in and for steps that ask for it again. Guessing is limited.
import { hashPassword, verifyPassword } from '../accounts/password.ts'
import { type Account, findPasswordHash } from '../accounts/store.ts'
import type { Database } from '../db/database.ts'
import { networkOf } from '../http/address.ts'
import type { AttemptKey } from '../limits/port.ts'
import type { GuessLimits } from './guess-limits.ts'
import { ConsoleProblem, invalidFields } from './problem.ts'

/**
 * Wrong passwords in a quarter of an hour. The first limit stops one guesser without locking the owner out who signs in
 * from elsewhere; the other two stop those who go through many names, or come from many addresses.
 */
const mostForNameAtAddress = 10
const mostByName = 50
const mostByAddress = 60

export interface PasswordChecks {
  /** Throws the same for an unknown user as for a wrong password, after the same work. */
  signIn(name: string, account: Account | undefined, password: string, address: string): Promise<void>
  /** Asks a signed-in user again; what is wrong is said at this field. */
  confirm(account: Account, password: string, address: string, field: string): Promise<void>
}

export function passwordChecks(db: Database, limits: GuessLimits): PasswordChecks {
  const dummyHash = hashPassword('nobody has this password')

  function keysOf(username: string, address: string): readonly [AttemptKey, ...AttemptKey[]] {
    const name = username.toLowerCase().slice(0, 100)
    const network = networkOf(address)
    return [
      { key: `both ${network} ${name}`, max: mostForNameAtAddress },
      { key: `name ${name}`, max: mostByName },
      { key: `address ${network}`, max: mostByAddress },
    ]
  }

  async function isRight(account: Account | undefined, password: string): Promise<boolean> {
    const stored = account && (await findPasswordHash(db, account.id))
    const matches = await verifyPassword(stored ?? (await dummyHash), password)
    return matches && stored !== undefined
  }

  return {
    async signIn(name, account, password, address) {
      const keys = keysOf(name, address)
      const guess = await limits.begin(keys)
      if (await isRight(account, password)) return guess.right(keys[0].key)
      await guess.wrong()
      throw new ConsoleProblem('wrong_credentials', {
        zh: '用户名或密码错误',
        en: 'Wrong user name or password',
      })
    },
    async confirm(account, password, address, field) {
      const keys = keysOf(account.username, address)
      const guess = await limits.begin(keys)
      if (await isRight(account, password)) return guess.right(keys[0].key)
      await guess.wrong()
      throw invalidFields({ [field]: { zh: '密码错误', en: 'Wrong password' } })
    },
  }
}

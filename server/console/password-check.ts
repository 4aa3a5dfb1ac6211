// Checks an account's password, at sign-in and for changes that need it again. Guesses are limited.
import type { AccountActor } from '../audit/audit.ts'
import { hashPassword, verifyPassword } from '../accounts/password.ts'
import { knownShare, requirePasswordCapacity, systemShare } from '../accounts/password-turns.ts'
import { hasSignedInFrom } from '../accounts/sign-in-store.ts'
import { type Account, findPasswordHash } from '../accounts/store.ts'
import type { Database } from '../db/database.ts'
import { networkOf, siteOf } from '../http/address.ts'
import { networkKeys } from '../http/network-keys.ts'
import type { AttemptKey } from '../limits/port.ts'
import type { Guess, GuessLimits } from './guess-limits.ts'
import { invalidFields, wrongCredentials } from './problem.ts'

/**
 * Wrong passwords in 15 minutes. The first limit stops one guesser without locking out an owner at another address; the
 * others stop guesses from many addresses, and for many names. Networks that the account signed in from have a limit by name of
 * their own, so that guesses from elsewhere do not lock out its owner.
 */
const maxForNameAtAddress = 10
const maxByName = 50
/** An IPv6 /48 has more than one network, because several customers of a provider may share it. */
const maxByAddress = { perNetwork: 60, perSite: 240 }

/** An account whose password was verified, with the hash that was stored at that time. */
export interface VerifiedPassword {
  readonly account: Account
  readonly passwordHash: string
}

export interface PasswordChecks {
  /** An unknown user and a wrong password fail alike, after the same work. */
  signIn(
    name: string,
    account: Account | undefined,
    password: string,
    address: string,
  ): Promise<VerifiedPassword>
  /** Checks the password of a signed-in user; a problem is reported at `field`. The actor's changes fail if it has changed. */
  confirm(account: Account, password: string, address: string, field: string): Promise<AccountActor>
}

interface PasswordGuess {
  readonly name: string
  readonly account: Account | undefined
  readonly password: string
  readonly address: string
  /** From a network that the account signed in from before, or in a session. */
  readonly isKnown: boolean
}

export function createPasswordChecks(db: Database, limits: GuessLimits): PasswordChecks {
  const dummyHash = hashPassword('not the password of any account', systemShare)

  /** An account is counted by its id, so that the owner of a similar name cannot reset the counter. */
  function keysOf(
    name: string,
    account: Account | undefined,
    address: string,
    isKnown: boolean,
  ): readonly [AttemptKey, ...AttemptKey[]] {
    const target = account ? `account ${account.id}` : `name ${name.slice(0, 100)}`
    return [
      { key: `both ${networkOf(address)} ${target}`, max: maxForNameAtAddress },
      { key: isKnown ? `known ${siteOf(address)} ${target}` : target, max: maxByName },
      ...networkKeys(address, maxByAddress, 'address '),
    ]
  }

  /** The account's hash; undefined when the password is wrong or there is no account. */
  async function findVerified(
    account: Account | undefined,
    password: string,
    share: string,
  ): Promise<string | undefined> {
    const stored = account && (await findPasswordHash(db, account.id))
    const matches = await verifyPassword(stored ?? (await dummyHash), password, share)
    return matches ? stored : undefined
  }

  /** Counts the guess and checks it. A guess that was refused because of others does not count. */
  async function check({ name, account, password, address, isKnown }: PasswordGuess): Promise<{
    readonly guess: Guess
    readonly forgive: string
    readonly passwordHash: string | undefined
  }> {
    const share = account && isKnown ? knownShare(`account ${account.id}`) : siteOf(address)
    requirePasswordCapacity(share)
    const keys = keysOf(name, account, address, isKnown)
    const guess = await limits.begin(keys)
    const passwordHash = await findVerified(account, password, share).catch(async (error: unknown) => {
      await guess.right()
      throw error
    })
    return { guess, forgive: keys[0].key, passwordHash }
  }

  return {
    async signIn(name, account, password, address) {
      const isKnown = await hasSignedInFrom(db, account?.id ?? 0, address)
      const { guess, forgive, passwordHash } = await check({ name, account, password, address, isKnown })
      if (account && passwordHash !== undefined) {
        await guess.right(forgive)
        return { account, passwordHash }
      }
      await guess.wrong()
      throw wrongCredentials()
    },
    async confirm(account, password, address, field) {
      const name = account.username
      const { guess, forgive, passwordHash } = await check({
        name,
        account,
        password,
        address,
        isKnown: true,
      })
      if (passwordHash !== undefined) {
        await guess.right(forgive)
        return { kind: 'account', accountId: account.id, passwordHash }
      }
      await guess.wrong()
      throw invalidFields({ [field]: { zh: '密码错误', en: 'Wrong password' } })
    },
  }
}

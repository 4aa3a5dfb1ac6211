// The verified mail address of an account, and password recovery through it.
import { createHmac, randomBytes } from 'node:crypto'
import { minuteMs } from '../../contract/time.ts'
import { mailCodeLength, mailTokenMs } from '../../contract/console/limits.ts'
import type { Language, Text } from '../../contract/text.ts'
import { recordOwnChange, requireSession } from '../audit/audit.ts'
import { findUsername } from '../audit/store.ts'
import type { Database, Tx } from '../db/database.ts'
import { createTextCipher, isSameSecret } from '../encryption.ts'
import { AppError, invalidField } from '../http/errors.ts'
import { randomDigits } from '../random.ts'
import {
  countAttempt,
  countByMail,
  deleteMail,
  deleteMailTokens,
  findAccountsByMail,
  findMail,
  findRecovery,
  insertMailToken,
  lockVerification,
  type MailToken,
  replaceMail,
} from './mail-store.ts'
import {
  addressChangedMail,
  newPlaceMail,
  recoveryCodeMail,
  type MailText,
  type SignInOrigin,
  recoveryMail,
  verificationMail,
} from './mail-text.ts'
import { hashKey } from './key.ts'
import { hashPassword, passwordProblem } from './password.ts'
import { countRecoveryCodes } from './second-factor-store.ts'
import { deleteSessions, type Session } from './session-store.ts'
import { updateAccount } from './store.ts'

export interface AccountMail {
  find(accountId: number): Promise<string | undefined>
  /** Sends a code to the address; false when the mail server refused it. */
  begin(session: Session, address: string, language: Language): Promise<boolean>
  /** Verifies the address with the code. False when the code is wrong, too old or was tried too often. */
  verify(session: Session, code: string): Promise<boolean>
  remove(session: Session): Promise<void>
  /** Sends a link to the accounts with this address, after the response: a known address takes no longer than an unknown one. */
  sendRecovery(address: string, language: Language): void
  /** Sets a new password and ends all sessions. Throws when the link is invalid or was used. */
  recover(token: string, password: string, share: string): Promise<void>
  /** Reports a sign-in from a new device or place, if the account has an address. */
  reportNewPlace(account: MailAccount, from: SignInOrigin): void
  /** Reports the use of a recovery code, if the account has an address. */
  reportRecoveryCode(account: MailAccount, from: SignInOrigin): void
  /** Resolves when no mail is being sent. */
  idle(): Promise<void>
}

interface MailAccount {
  readonly id: number
  readonly username: string
}

export interface AccountMailOptions {
  readonly db: Database
  readonly secretKey: string
  readonly publicUrl: () => string
  /** Undefined without MAIL_URL. Resolves to whether the mail server accepted the mail. */
  readonly send: ((to: string, mail: MailText) => Promise<boolean>) | undefined
  readonly onError: (error: unknown) => void
}

const maxAttempts = 5
/** Accounts that one address recovers. */
const maxAccountsPerAddress = 5
/** Mails in progress; more are dropped, and the user requests them again. */
const maxSending = 50

export function createAccountMail(options: AccountMailOptions): AccountMail {
  const { db, secretKey } = options
  const cipher = createTextCipher(secretKey, 'mail addresses')
  const keyed = (...parts: readonly (string | number)[]) =>
    createHmac('sha256', `${secretKey} mail`).update(parts.join(' ')).digest('hex')
  const addressHash = (address: string) => keyed('address', address.toLowerCase())
  const sending = new Set<Promise<unknown>>()

  function inBackground(work: () => Promise<unknown>): void {
    if (!options.send || sending.size >= maxSending) return
    const running = work()
      .catch(options.onError)
      .finally(() => sending.delete(running))
    sending.add(running)
  }

  async function find(accountId: number): Promise<string | undefined> {
    const row = await findMail(db, accountId)
    return row && cipher.decrypt(row.address)
  }

  async function isPresentAddress(tx: Tx, token: MailToken): Promise<boolean> {
    const row = await findMail(tx, token.account_id)
    const [present, wanted] = [row?.address, token.address].map((text) => text && cipher.decrypt(text))
    return present !== undefined && wanted !== undefined && addressHash(present) === addressHash(wanted)
  }

  async function issueRecovery(account: MailAccount, address: string): Promise<string> {
    const token = randomBytes(32).toString('base64url')
    await db.write((tx) =>
      insertMailToken(tx, {
        account_id: account.id,
        purpose: 'recover',
        token_hash: hashKey(token),
        address: cipher.encrypt(address),
      }),
    )
    return `${options.publicUrl()}/console/recover#${token}`
  }

  return {
    find,

    async begin(session, address, language) {
      const code = randomDigits(mailCodeLength)
      const { account_id: accountId } = session
      await db.write(async (tx) => {
        await requireSession(tx, session.id)
        await insertMailToken(tx, {
          account_id: accountId,
          purpose: 'verify',
          token_hash: keyed('verify', accountId, code),
          address: cipher.encrypt(address),
        })
      })
      return (await options.send?.(address, verificationMail(code, language))) ?? false
    },

    async verify(session, code) {
      const { account_id: accountId } = session
      const given = keyed('verify', accountId, code.trim())
      const old = await find(accountId)
      const changed = await db.write(async (tx) => {
        await requireSession(tx, session.id)
        const token = await lockVerification(tx, accountId)
        if (!token || token.attempts >= maxAttempts) return undefined
        await countAttempt(tx, token.id)
        if (!isSameSecret(given, token.token_hash)) return undefined
        const address = cipher.decrypt(token.address)
        if (address === undefined) return undefined
        // Only the owner of the mailbox gets here, so the address of another user is not revealed.
        if ((await countByMail(tx, addressHash(address), accountId)) >= maxAccountsPerAddress)
          throw tooManyAccounts()
        await replaceMail(tx, accountId, token.address, addressHash(address))
        await deleteMailTokens(tx, accountId)
        const username = await recordOwnChange(tx, accountId, 'mail.change')
        return { address, username }
      })
      if (changed && old !== undefined && old !== changed.address)
        inBackground(async () => options.send?.(old, addressChangedMail(changed.username)))
      return changed !== undefined
    },

    async remove(session) {
      const { account_id: accountId } = session
      const old = await find(accountId)
      const username = await db.write(async (tx) => {
        await requireSession(tx, session.id)
        await deleteMail(tx, accountId)
        await deleteMailTokens(tx, accountId)
        return recordOwnChange(tx, accountId, 'mail.remove')
      })
      if (old !== undefined) inBackground(async () => options.send?.(old, addressChangedMail(username)))
    },

    sendRecovery(address, language) {
      inBackground(async () => {
        const accounts = await findAccountsByMail(db, addressHash(address), maxAccountsPerAddress)
        if (accounts.length === 0) return
        const links: { username: string; url: string }[] = []
        for (const account of accounts)
          links.push({ username: account.username, url: await issueRecovery(account, address) })
        await options.send?.(address, recoveryMail(links, language))
      })
    },

    async recover(token, password, share) {
      const tokenHash = hashKey(token)
      const found = await findRecovery(db, tokenHash)
      if (!found) throw invalidLink()
      const username = await findUsername(db, found.account_id)
      const problem = passwordProblem(password, username)
      if (problem) throw invalidField('new_password', problem)
      const passwordHash = await hashPassword(password, share)
      await db.write(async (tx) => {
        const { account_id: accountId } = found
        // Deleting the row decides which of two uses comes first.
        if (!(await findRecovery(tx, tokenHash)) || !(await deleteMailTokens(tx, accountId, tokenHash)))
          throw invalidLink()
        // A link may have been on its way when the address was removed or replaced.
        if (!(await isPresentAddress(tx, found))) throw invalidLink()
        await updateAccount(tx, accountId, { password_hash: passwordHash })
        await deleteSessions(tx, accountId)
        await recordOwnChange(tx, accountId, 'account.recover_password')
      })
    },

    reportNewPlace(account, from) {
      inBackground(async () => {
        const address = await find(account.id)
        if (address !== undefined)
          await options.send?.(address, newPlaceMail(account.username, from, Date.now()))
      })
    },

    reportRecoveryCode(account, from) {
      inBackground(async () => {
        const address = await find(account.id)
        if (address === undefined) return
        const codesLeft = await countRecoveryCodes(db, account.id)
        await options.send?.(address, recoveryCodeMail(account.username, from, Date.now(), codesLeft))
      })
    },

    async idle() {
      await Promise.all(sending)
    },
  }
}

function invalidLink(): AppError {
  const minutes = mailTokenMs / minuteMs
  const text: Text = {
    zh: `链接无效、已使用或已超过 ${minutes} 分钟，请重新找回密码`,
    en: `The link is invalid, was used, or is older than ${minutes} minutes; request a new one`,
  }
  return new AppError(1002, text)
}

function tooManyAccounts(): AppError {
  const text: Text = {
    zh: `一个邮箱最多用于 ${maxAccountsPerAddress} 个账户`,
    en: `An email address can be used by at most ${maxAccountsPerAddress} accounts`,
  }
  return invalidField('code', text)
}

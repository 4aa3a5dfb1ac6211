// The rules of second factors: enrolment, codes that are accepted once, recovery codes.
import { createHmac } from 'node:crypto'
import { recoveryCodeCount, type SecondFactorKind } from '../../contract/console/limits.ts'
import { type Actor, recordChange, recordOwnChange, requireSession } from '../audit/audit.ts'
import type { Database, Tx } from '../db/database.ts'
import { createTextCipher, requireDecrypted } from '../encryption.ts'
import { randomText } from '../random.ts'
import {
  countRecoveryCodes,
  deleteSecondFactor,
  enableSecondFactor,
  findSecondFactor,
  insertEnrolment,
  replaceRecoveryCodes,
  useRecoveryCode,
  useStep,
} from './second-factor-store.ts'
import { deleteSessions, type Session } from './session-store.ts'
import { lockAccount } from './store.ts'
import { findTotpStep, generateTotpSecret } from './totp.ts'

export interface SecondFactorState {
  readonly enabledAt: number | null
  readonly codesLeft: number
}

export interface SecondFactors {
  state(accountId: number): Promise<SecondFactorState>
  /** Begins an enrolment and returns its secret; undefined when the second factor is enabled already. */
  enrol(session: Session): Promise<string | undefined>
  /** Returns the recovery codes, which are stored only as hashes; undefined when the code is wrong. Ends other sessions. */
  enable(session: Session, code: string): Promise<readonly string[] | undefined>
  /** Uses the code up. Undefined when it is wrong or was used before. */
  use(accountId: number, code: string): Promise<Exclude<SecondFactorKind, 'none'> | undefined>
  renewCodes(session: Session): Promise<readonly string[]>
  disable(session: Session): Promise<void>
}

/** Without the letters and digits that look alike. */
const codeLetters = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789'
const codeLength = 10

export function createSecondFactors(
  db: Database,
  secretKey: string,
  clock: () => number = Date.now,
): SecondFactors {
  const cipher = createTextCipher(secretKey, 'second factors')
  const codeSecret = `${secretKey} recovery codes`
  const hashOf = (accountId: number, code: string) =>
    createHmac('sha256', codeSecret).update(`${accountId} ${code}`).digest('hex')

  async function replaceCodes(tx: Tx, accountId: number): Promise<readonly string[]> {
    const codes = Array.from({ length: recoveryCodeCount }, generateRecoveryCode)
    await replaceRecoveryCodes(
      tx,
      accountId,
      codes.map((code) => hashOf(accountId, normalize(code))),
    )
    return codes
  }

  return {
    async state(accountId) {
      const row = await findSecondFactor(db, accountId)
      return { enabledAt: row?.enabled_at ?? null, codesLeft: await countRecoveryCodes(db, accountId) }
    },

    async enrol(session) {
      const secret = generateTotpSecret()
      const isBegun = await db.write(async (tx) => {
        await requireSession(tx, session.id)
        return insertEnrolment(tx, session.account_id, cipher.encrypt(secret))
      })
      return isBegun ? secret : undefined
    },

    enable(session, code) {
      const { account_id: accountId } = session
      return db.write(async (tx) => {
        await requireSession(tx, session.id)
        // So that no session begins without the second factor while it is enabled.
        await lockAccount(tx, accountId)
        const row = await findSecondFactor(tx, accountId)
        const step = row && findTotpStep(requireDecrypted(cipher, row.secret), normalize(code), clock())
        if (step === undefined || !(await enableSecondFactor(tx, accountId, row!.secret, step)))
          return undefined
        const codes = await replaceCodes(tx, accountId)
        await deleteSessions(tx, accountId, session.id)
        await recordOwnChange(tx, accountId, 'second_factor.enable')
        return codes
      })
    },

    use(accountId, given) {
      const code = normalize(given)
      const hash = hashOf(accountId, code)
      return db.write(async (tx) => {
        const row = await findSecondFactor(tx, accountId)
        if (row?.enabled_at === null || row === undefined) return undefined
        const step = findTotpStep(requireDecrypted(cipher, row.secret), code, clock())
        if (step !== undefined) return (await useStep(tx, accountId, step)) ? 'totp' : undefined
        if (!(await useRecoveryCode(tx, accountId, hash))) return undefined
        await recordOwnChange(tx, accountId, 'second_factor.use_recovery_code')
        return 'recovery'
      })
    },

    renewCodes(session) {
      return db.write(async (tx) => {
        await requireSession(tx, session.id)
        await recordOwnChange(tx, session.account_id, 'second_factor.renew_codes')
        return replaceCodes(tx, session.account_id)
      })
    },

    disable(session) {
      return db.write(async (tx) => {
        await requireSession(tx, session.id)
        await deleteSecondFactor(tx, session.account_id)
        await deleteSessions(tx, session.account_id, session.id)
        await recordOwnChange(tx, session.account_id, 'second_factor.disable')
      })
    },
  }
}

/** By an operator, for a user who has lost both the device and the recovery codes. False when there was none. */
export function removeSecondFactor(
  db: Database,
  actor: Actor,
  account: { readonly id: number; readonly username: string },
): Promise<boolean> {
  return db.write(async (tx) => {
    if (!(await deleteSecondFactor(tx, account.id))) return false
    await deleteSessions(tx, account.id)
    await recordChange(tx, actor, 'second_factor.disable', account.username)
    return true
  })
}

/** Apps and people write codes with spaces, hyphens and small letters. */
function normalize(code: string): string {
  return code.replaceAll(/[\s-]/g, '').toUpperCase()
}

function generateRecoveryCode(): string {
  const letters = randomText(codeLetters, codeLength)
  return `${letters.slice(0, codeLength / 2)}-${letters.slice(codeLength / 2)}`
}

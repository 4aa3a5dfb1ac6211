// The stop list of an account: a number that unsubscribed gets no more messages with that signature.
import { signNameProblem } from '../../contract/sign-name.ts'
import { type Actor, recordChange } from '../audit/audit.ts'
import { isPhoneNumber, maxStopsPerAccount } from '../../contract/sms-text.ts'
import { maskPhone } from '../../contract/masking.ts'
import type { Text } from '../../contract/text.ts'
import { type Account, lockAccount } from '../accounts/store.ts'
import type { Database, Queries } from '../db/database.ts'
import { invalidField } from '../http/errors.ts'
import { invalidPhone } from './send-parameters.ts'
import { countStops, findStoppedNumbers, insertStop, removeStops } from './stop-store.ts'

/** The message of a refused send, and of a rejected item of a batch. */
export const numberStopped: Text = { zh: '号码已退订', en: 'The number has unsubscribed' }

/** Those of the numbers that must not get a message with this signature. Queries only if the account has a stop list. */
export async function findStopped(
  queries: Queries,
  account: Pick<Account, 'id' | 'has_stops'>,
  signName: string,
  phones: readonly string[],
): Promise<ReadonlySet<string>> {
  if (account.has_stops === 0) return new Set()
  return new Set(await findStoppedNumbers(queries, account.id, signName, phones))
}

export async function requireNotStopped(
  queries: Queries,
  account: Pick<Account, 'id' | 'has_stops'>,
  signName: string,
  phone: string,
): Promise<void> {
  if (account.has_stops === 0) return
  if ((await findStopped(queries, account, signName, [phone])).size === 0) return
  throw invalidField('phone_number', numberStopped)
}

export interface StopInput {
  readonly phone: string
  /** Left out: all signatures. */
  readonly signName?: string | undefined
}

/** False when the number is on the list already. */
export async function addStop(
  db: Database,
  actor: Actor,
  account: Pick<Account, 'id' | 'username'>,
  input: StopInput,
): Promise<boolean> {
  const phone = requirePhone(input.phone)
  const signName = requireSignName(input.signName)
  return db.write(async (tx) => {
    // For the limit: inserts at the same time do not see each other's rows.
    await lockAccount(tx, account.id)
    if ((await countStops(tx, account.id)) >= maxStopsPerAccount) {
      throw invalidField('phone_number', {
        zh: `退订名单最多 ${maxStopsPerAccount} 个号码`,
        en: `a stop list has ${maxStopsPerAccount} numbers at most`,
      })
    }
    const added = await insertStop(tx, {
      account_id: account.id,
      phone,
      sign_name: signName ?? '',
      source: actor.kind === 'account' ? 'account' : 'operator',
      reply_id: null,
    })
    if (added) await recordChange(tx, actor, 'stop.add', account.username, detailsOf(phone, signName))
    return added
  })
}

/** Without a signature the number is removed for all of them. Returns how many entries were removed. */
export async function removeStop(
  db: Database,
  actor: Actor,
  account: Pick<Account, 'id' | 'username'>,
  input: StopInput,
): Promise<number> {
  const phone = requirePhone(input.phone)
  return db.write(async (tx) => {
    const removed = await removeStops(tx, account.id, { phone, signName: input.signName })
    if (removed > 0)
      await recordChange(tx, actor, 'stop.remove', account.username, detailsOf(phone, input.signName))
    return removed
  })
}

function detailsOf(phone: string, signName: string | undefined) {
  return { phone: maskPhone(phone), ...(signName !== undefined && { name: signName }) }
}

function requirePhone(given: string): string {
  const phone = given.trim()
  if (isPhoneNumber(phone)) return phone
  const { text } = invalidPhone
  throw invalidField('phone_number', { zh: `手机号${text.zh}`, en: `the phone number ${text.en}` })
}

function requireSignName(given: string | undefined): string | undefined {
  const signName = given?.trim() || undefined
  const problem = signName === undefined ? undefined : signNameProblem(signName)
  if (problem) throw invalidField('sign_name', problem)
  return signName
}

// Changes an account together with its caps, in one transaction.
import { type ApiType, apiTypes, type CapPeriod, isApiType, maxGrant } from '../../contract/credits.ts'
import type { Text } from '../../contract/text.ts'
import { printable } from '../../contract/values.ts'
import {
  type AccountInput,
  accountProblems,
  changeAccount,
  type FurtherChange,
} from '../accounts/accounts.ts'
import type { Account } from '../accounts/store.ts'
import type { Actor } from '../audit/audit.ts'
import type { Database } from '../db/database.ts'
import { updateCaps } from './caps-store.ts'

/** Credits by type. Types that are not named have no cap. */
export type Caps = Partial<Readonly<Record<ApiType, number>>>

export interface CapsInput {
  /** Null removes all daily caps. */
  readonly dailyCap?: Readonly<Record<string, number>> | null | undefined
  readonly monthlyCap?: Readonly<Record<string, number>> | null | undefined
}

/** Throws one error that names every problem. Returns how many sessions ended. */
export function changeAccountAndCaps(
  db: Database,
  actor: Actor,
  account: Account,
  { dailyCap, monthlyCap, ...input }: AccountInput & CapsInput,
): Promise<number> {
  const further = readCaps(account.id, { dailyCap, monthlyCap })
  return changeAccount(db, actor, account, input, undefined, further)
}

/** By field; empty when the change is possible. */
export function changeProblems(
  account: Account,
  { dailyCap, monthlyCap, ...input }: AccountInput & CapsInput,
): Readonly<Record<string, Text>> {
  return { ...accountProblems(account, input), ...readCaps(account.id, { dailyCap, monthlyCap }).problems }
}

function readCaps(accountId: number, { dailyCap, monthlyCap }: CapsInput): FurtherChange {
  const problems: Record<string, Text> = {}
  const given: { readonly period: CapPeriod; readonly caps: Caps }[] = []
  const details: Record<string, string | null> = {}
  const read = (
    field: string,
    period: CapPeriod,
    caps: Readonly<Record<string, number>> | null | undefined,
  ) => {
    if (caps === undefined) return
    const problem = caps === null ? undefined : capsProblem(caps)
    if (problem) problems[field] = problem
    given.push({ period, caps: caps ?? {} })
    details[field] = caps && formatCaps(caps)
  }
  read('daily_cap', 'day', dailyCap)
  read('monthly_cap', 'month', monthlyCap)
  return {
    problems,
    details,
    async write(tx) {
      for (const { period, caps } of given) await updateCaps(tx, accountId, period, caps)
    },
  }
}

function capsProblem(caps: Readonly<Record<string, number>>): Text | undefined {
  const entries = Object.entries(caps)
  const wrong = entries.filter(
    ([type, cap]) => !isApiType(type) || !Number.isSafeInteger(cap) || cap < 0 || cap > maxGrant,
  )
  if (entries.length > 0 && wrong.length === 0) return undefined
  const types = apiTypes.join(', ')
  const which =
    wrong.length === 0
      ? ''
      : ` ${wrong
          .slice(0, 5)
          .map(([type]) => printable(type))
          .join(', ')}`
  return {
    zh: `上限${which} 无效：类型为 ${types}，数值为 0 至 ${maxGrant} 的整数`,
    en: `the cap${which} is invalid: the types are ${types}, the values integers from 0 to ${maxGrant}`,
  }
}

function formatCaps(caps: Readonly<Record<string, number>>): string {
  return Object.entries(caps)
    .map(([type, cap]) => `${type}=${cap}`)
    .join(',')
}

// One-time codes: created here, sent in a template, stored as a keyed hash, checked once.
import { createHmac } from 'node:crypto'
import { sms } from '../../contract/sms.ts'
import { codeLimits } from '../../contract/sms-text.ts'
import { countCharacters } from '../../contract/values.ts'
import { type Caller, requireNotExpired, requireNotSuspended } from '../accounts/authenticate.ts'
import { requireStillAllowed } from '../accounts/still-allowed-store.ts'
import type { Charge } from '../credits/operation.ts'
import type { Queries, Tx } from '../db/database.ts'
import { isSameSecret } from '../encryption.ts'
import { type Call, readCallParameters } from '../http/call.ts'
import { AppError, invalidField } from '../http/errors.ts'
import { type InvalidParameter, parameterError } from '../http/parameters.ts'
import { type ApiResponse, envelope } from '../http/responses.ts'
import { longerThan } from '../http/value-problems.ts'
import type { Services } from '../services.ts'
import { type CodeKey, findWait, lockValidCode, replaceCode, updateAttempts } from './code-store.ts'
import type { UsableTemplate } from './templates.ts'
import { findProblems, findRangeProblems } from './send-parameters.ts'

/** A code between its creation and its end. The code itself is only in the message. */
export interface NewCode {
  readonly purpose: string
  readonly hash: string
  readonly ttlMs: number
}

/** In records, instead of the code. */
export const hiddenCode = '******'

const pauseMs = codeLimits.pauseS * 1000

export type HashCode = (key: CodeKey, code: string) => string

export function createCodeHash(secretFor: Services['secretFor']): HashCode {
  const secret = secretFor('sms codes')
  return ({ account_id: accountId, phone, purpose }, code) =>
    createHmac('sha256', secret)
      .update(JSON.stringify([accountId, phone, purpose, code]))
      .digest('base64url')
}

/** The values of a template that has `code` and at most `minutes`; throws for any other one. */
export function codeVariables(
  template: Pick<UsableTemplate, 'variables'>,
  code: string,
  ttlS: number,
): ReadonlyMap<string, string> {
  const { variables } = template
  if (!variables.includes('code') || variables.some((name) => name !== 'code' && name !== 'minutes')) {
    throw invalidField('template_code', {
      zh: '模板的变量必须是 code，可另有 minutes',
      en: 'the variables of the template must be code and, if any other, minutes',
    })
  }
  const values = new Map([['code', code]])
  if (variables.includes('minutes')) values.set('minutes', String(Math.ceil(ttlS / 60)))
  return values
}

/** Throws one error that names everything missing or invalid. */
export function readSendCode(call: Call) {
  const { parameters } = sms.operations.sendCode
  const { values, missing, invalid } = readCallParameters(call, parameters)
  const problems = [
    ...invalid,
    ...findProblems(values),
    ...findRangeProblems(parameters, values),
    ...purposeProblems(values.purpose),
  ]
  if (missing.length > 0 || problems.length > 0) throw parameterError(missing, problems)
  return values
}

function readCheckCode(call: Call) {
  const { values, missing, invalid } = readCallParameters(call, sms.operations.checkCode.parameters)
  const problems = [...invalid, ...findProblems(values), ...purposeProblems(values.purpose)]
  if (missing.length > 0 || problems.length > 0) throw parameterError(missing, problems)
  return values
}

function purposeProblems(purpose: string | undefined): InvalidParameter[] {
  const { purposeLength } = codeLimits
  if (purpose === undefined || countCharacters(purpose, purposeLength) <= purposeLength) return []
  return [{ name: 'purpose', text: longerThan(purposeLength) }]
}

/** A check before the charge that saves most rejected calls a transaction. `storeCodes` decides. */
export async function requirePause(queries: Queries, key: CodeKey): Promise<void> {
  const waitMs = await findWait(queries, key, pauseMs)
  if (waitMs > 0) throw tooSoon(waitMs)
}

/** Stores the codes of a batch of charges, or throws and so rolls the transaction back. */
export async function storeCodes(
  tx: Tx,
  items: readonly {
    readonly item: { readonly accountId: number; readonly phone: string; readonly code?: NewCode | undefined }
    readonly result: Charge
  }[],
): Promise<void> {
  const rows = items.flatMap(({ item: { accountId, phone, code }, result }) =>
    code === undefined
      ? []
      : {
          account_id: accountId,
          phone,
          purpose: code.purpose,
          hash: code.hash,
          attempts_left: codeLimits.attempts,
          operation_id: result.operationId,
          sent_at: result.at,
          expires_at: result.at + code.ttlMs,
        },
  )
  for (const row of rows.toSorted(compareKeys)) {
    if (!(await replaceCode(tx, row, pauseMs))) throw tooSoon(await findWait(tx, row, pauseMs))
  }
}

/** The order in which every transaction locks codes. */
export function compareKeys(one: CodeKey, other: CodeKey): number {
  if (one.account_id !== other.account_id) return one.account_id - other.account_id
  if (one.phone !== other.phone) return one.phone < other.phone ? -1 : 1
  return one.purpose < other.purpose ? -1 : one.purpose === other.purpose ? 0 : 1
}

function tooSoon(waitMs: number): AppError {
  const wait = Math.max(1, Math.ceil(waitMs / 1000))
  return new AppError(
    1002,
    {
      zh: `发送过于频繁，请 ${wait} 秒后再试`,
      en: `Too many codes to this number, try again in ${wait} s`,
    },
    { retryAfter: wait },
  )
}

/** Checks a code. The right one is used up; after five wrong ones the code is invalid. */
export function createCodeCheck(
  { db }: Pick<Services, 'db'>,
  hash: HashCode,
): (call: Call, caller: Caller) => Promise<ApiResponse> {
  return async (call, caller) => {
    const { account } = caller
    const { phone_number: phone, code, purpose = '' } = readCheckCode(call)
    requireNotSuspended(account)
    requireNotExpired(account, 403)
    const key = { account_id: account.id, phone, purpose }
    const given = hash(key, code)
    const result = await db.write(async (tx) => {
      await requireStillAllowed(tx, call, caller, 403)
      const valid = await lockValidCode(tx, key)
      if (!valid) return { verified: false, attempts_left: 0 }
      const verified = isSameSecret(given, valid.hash)
      const attemptsLeft = verified ? 0 : valid.attempts_left - 1
      await updateAttempts(tx, key, attemptsLeft)
      return { verified, attempts_left: attemptsLeft }
    })
    return envelope(result)
  }
}

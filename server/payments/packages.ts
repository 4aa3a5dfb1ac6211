// The rules of packages: what an operator may sell.
import { apiTypes, type ApiType, isApiType, maxGrant } from '../../contract/credits.ts'
import {
  currencies,
  formatMinor,
  packageCodePattern,
  parseMinor,
  paymentLimits,
} from '../../contract/payments.ts'
import type { Text } from '../../contract/text.ts'
import { isStorableText } from '../../contract/values.ts'
import { type Actor, recordChange } from '../audit/audit.ts'
import type { Database } from '../db/database.ts'
import { AppError, invalidInput } from '../http/errors.ts'
import {
  countPackages,
  deletePackage,
  insertPackage,
  lockPackage,
  type PackageRow,
  updatePackage,
} from './package-store.ts'

export type CreditAmounts = Readonly<Partial<Record<ApiType, number>>>

export interface PackageInput {
  readonly name?: string | undefined
  readonly credits?: CreditAmounts | undefined
  /** `99.00` */
  readonly price?: string | undefined
  readonly currency?: string | undefined
  readonly hidden?: boolean | undefined
}

export async function addPackage(
  db: Database,
  actor: Actor,
  code: string,
  input: PackageInput,
): Promise<void> {
  if (!new RegExp(packageCodePattern).test(code)) {
    throw invalidInput({
      code: {
        zh: `必须是 1 至 ${paymentLimits.packageCode} 个字母、数字、- 或 _`,
        en: `must have 1 to ${paymentLimits.packageCode} letters, digits, - or _`,
      },
    })
  }
  const values = readValues({ currency: 'CNY', hidden: false, ...withoutUndefined(input) })
  await db.write(async (tx) => {
    if ((await countPackages(tx)) >= paymentLimits.packages) throw tooMany()
    if (!(await insertPackage(tx, code, values))) {
      throw invalidInput({ code: { zh: '套餐编码已存在', en: 'the package code is taken' } })
    }
    await recordChange(tx, actor, 'package.add', code, describe(values))
  })
}

/**
 * What is left out stays. Orders that exist keep their price and credits. The credits are replaced only while they are those of
 * `creditsBefore`, if it is given.
 */
export async function changePackage(
  db: Database,
  actor: Actor,
  code: string,
  input: PackageInput,
  creditsBefore?: CreditAmounts,
): Promise<void> {
  await db.write(async (tx) => {
    const old = await lockPackage(tx, code)
    if (!old) throw packageNotFound()
    const current = creditsOf(old)
    if (input.credits && creditsBefore && apiTypes.some((type) => creditsBefore[type] !== current[type]))
      throw changedMeanwhile()
    const given = withoutUndefined(input)
    const values = readValues({
      name: old.name,
      credits: current,
      currency: old.currency,
      hidden: old.hidden === 1,
      ...given,
      price: given.price ?? formatMinor(old.price),
    })
    await updatePackage(tx, code, values)
    await recordChange(tx, actor, 'package.set', code, describe(values))
  })
}

export async function removePackage(db: Database, actor: Actor, code: string): Promise<void> {
  await db.write(async (tx) => {
    if (!(await deletePackage(tx, code))) throw packageNotFound()
    await recordChange(tx, actor, 'package.remove', code)
  })
}

export function creditsOf({ credits }: Pick<PackageRow, 'credits'>): CreditAmounts {
  return JSON.parse(credits) as CreditAmounts
}

function withoutUndefined(input: PackageInput): PackageInput {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined))
}

/** All problems in one error. */
function readValues(input: PackageInput) {
  const problems: Record<string, Text> = {}
  const name = input.name?.trim() ?? ''
  if (name === '' || name.length > paymentLimits.packageName || !isStorableText(name)) {
    problems['name'] = {
      zh: `必须是 1 至 ${paymentLimits.packageName} 个字符`,
      en: `must have 1 to ${paymentLimits.packageName} characters`,
    }
  }
  const price = parseMinor(input.price?.trim() ?? '')
  if (price === undefined || price < 1 || price > paymentLimits.price) {
    problems['price'] = {
      zh: `必须是 0.01 至 ${formatMinor(paymentLimits.price)} 的金额，最多两位小数`,
      en: `must be an amount from 0.01 to ${formatMinor(paymentLimits.price)} with at most two decimals`,
    }
  }
  const currency = currencies.find((one) => one === input.currency?.trim().toUpperCase())
  if (currency === undefined) {
    problems['currency'] = {
      zh: `必须是 ${currencies.join('、')}`,
      en: `must be one of ${currencies.join(', ')}`,
    }
  }
  const credits = Object.entries(input.credits ?? {})
  const isValid = ([type, amount]: [string, number]) =>
    isApiType(type) && Number.isSafeInteger(amount) && amount > 0 && amount <= maxGrant
  if (credits.length === 0 || !credits.every(isValid)) {
    problems['credits'] = {
      zh: `必须至少有一种额度（${apiTypes.join('、')}），数量为 1 至 ${maxGrant}`,
      en: `needs at least one credit type (${apiTypes.join(', ')}) with an amount from 1 to ${maxGrant}`,
    }
  }
  if (Object.keys(problems).length > 0) throw invalidInput(problems)
  return {
    name,
    credits: JSON.stringify(Object.fromEntries(credits)),
    price: price!,
    currency: currency!,
    hidden: input.hidden === true ? 1 : 0,
  }
}

function describe(values: ReturnType<typeof readValues>) {
  return { ...values, hidden: values.hidden === 1 }
}

function changedMeanwhile(): AppError {
  return new AppError(
    1005,
    {
      zh: '套餐的额度已被他人修改，请刷新后重试',
      en: 'The credits of the package have been changed meanwhile; reload and try again',
    },
    { status: 409 },
  )
}

function tooMany(): AppError {
  return new AppError(1002, {
    zh: `最多 ${paymentLimits.packages} 个套餐`,
    en: `there can be at most ${paymentLimits.packages} packages`,
  })
}

export function packageNotFound(): AppError {
  return new AppError(1002, { zh: '套餐不存在', en: 'no such package' }, { status: 404 })
}

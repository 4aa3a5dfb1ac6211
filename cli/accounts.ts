// The commands `account` and `key`.
import { type OperatorRole, operatorRoles } from '../contract/console/roles.ts'
import { formatTime } from '../contract/time.ts'
import { clearKey, requireAccount, resetKey } from '../server/accounts/accounts.ts'
import { type Account, listAccounts } from '../server/accounts/store.ts'
import { removeSecondFactor } from '../server/accounts/second-factor.ts'
import { ownPrices } from '../server/accounts/prices.ts'
import { changeAccountAndCaps, changeProblems } from '../server/credits/caps.ts'
import { findUsage, type Usage } from '../server/credits/caps-store.ts'
import { createCredits } from '../server/credits/credits.ts'
import { createAccountWithCredits } from '../server/credits/create-account.ts'
import {
  cliActor,
  type Command,
  type Flags,
  secretFlag,
  UsageError,
  table,
  textFlag,
  yesOrNo,
} from './command.ts'
import { parseCredits } from './credits.ts'

/** The fields of an account without secrets. */
function describe(account: Account) {
  return {
    username: account.username,
    // `operator` has always been the name of an owner here.
    role:
      account.role === 'operator' && account.operator_role !== 'owner' ? account.operator_role : account.role,
    ...(account.role === 'operator' && { operator_role: account.operator_role }),
    key: account.key_hint,
    expires: account.expires_on,
    suspended: account.suspended === 1,
    sms: account.sms_enabled === 1,
    sign_name: account.sign_name,
    alert_percents: account.alert_percents,
    created_at: formatTime(account.created_at),
  }
}

function roleOf(operatorRole: OperatorRole | undefined) {
  return operatorRole ? ({ role: 'operator', operatorRole } as const) : ({ role: 'account' } as const)
}

/** What the API key and the account are limited to, in the words of the flags. */
function describeLimits(account: Account, usage: readonly Usage[]) {
  const capsOf = (name: 'dailyCap' | 'monthlyCap') => {
    const caps = usage.flatMap((one) => (one[name] === null ? [] : [[one.apiType, one[name]] as const]))
    return caps.length === 0 ? 'none' : Object.fromEntries(caps)
  }
  return {
    scopes: account.scopes?.split(',') ?? 'all',
    allow_ips: account.allow_ips?.split(',') ?? 'any',
    daily_cap: capsOf('dailyCap'),
    monthly_cap: capsOf('monthlyCap'),
    prices: account.prices === null ? 'default' : ownPrices(account.prices),
  }
}

/** `word` means no limit. */
function listOf(flags: Flags, name: string, word: string): readonly string[] | null | undefined {
  const given = textFlag(flags, name)
  return given === undefined ? undefined : given.trim() === word ? null : given.split(',')
}

/** Numbers by name from `sms=500,short_link=3`. Text that is not a number becomes NaN, which no rule accepts. */
function numbersOf(
  flags: Flags,
  name: string,
  word: string,
): Readonly<Record<string, number>> | null | undefined {
  const items = listOf(flags, name, word)
  if (!items) return items
  const numbers = new Map<string, number>()
  for (const item of items.filter((one) => one.trim() !== '')) {
    const [key = '', ...rest] = item.split('=').map((part) => part.trim())
    const value = rest.join('=')
    numbers.set(key, numbers.has(key) ? Number.NaN : wholeNumber(value))
  }
  return Object.fromEntries(numbers)
}

/** NaN for anything else, such as `1e3` or `0x10`. */
function wholeNumber(given: string): number {
  return /^\d{1,15}$/.test(given.trim()) ? Number(given) : Number.NaN
}

export const accountCommands: readonly Command[] = [
  {
    name: 'account create',
    usage:
      'NAME [--password P|-] [--expires YYYY-MM-DD] [--credits sms=100,short_link=100] [--role owner|finance|support|auditor]',
    text: {
      zh: '创建账户，密码与密钥仅显示一次；--password - 从标准输入读取密码，不会出现在 ps 中',
      en: 'create an account; password and API key are shown once; --password - reads stdin, hidden from ps',
    },
    minWords: 1,
    maxWords: 1,
    startsEmpty: true,
    flags: {
      password: { type: 'string' },
      expires: { type: 'string' },
      credits: { type: 'string' },
      role: { type: 'string' },
    },
    async run({ installation, words, flags }) {
      const given = textFlag(flags, 'role') ?? 'account'
      // `operator` is another name for an owner.
      const operatorRole = given === 'operator' ? 'owner' : operatorRoles.find((one) => one === given)
      if (given !== 'account' && operatorRole === undefined) {
        const roles = ['account', ...operatorRoles, 'operator'].join(', ')
        throw new UsageError(`--role 只能是 ${roles} 之一 / must be one of ${roles}`)
      }
      const grants = parseCredits(textFlag(flags, 'credits') ?? '')
      const username = words[0]!
      const expires = textFlag(flags, 'expires')
      const made = await createAccountWithCredits(
        installation.db,
        cliActor,
        {
          username,
          password: await secretFlag(flags, 'password'),
          expiresOn: expires,
          ...roleOf(operatorRole),
        },
        grants,
      )
      return {
        json: { username: made.username, password: made.password, api_key: made.apiKey },
        text: `username  ${made.username}\npassword  ${made.password}\napi_key   ${made.apiKey}`,
      }
    },
  },
  {
    name: 'account set',
    usage:
      'NAME [--expires YYYY-MM-DD|never] [--suspended yes|no] [--sms yes|no] [--sign-name S] [--password P|-] [--2fa off]' +
      '\n      [--scopes all|sms:read,…] [--allow-ips any|203.0.113.0/24,…] [--daily-cap none|sms=500,…]' +
      ' [--monthly-cap none|…]\n      [--prices default|generate=2,…] [--alert-percents none|20,5]',
    text: {
      zh: '修改账户、密钥权限、用量上限与价格；--password - 从标准输入读取；--2fa off 关闭两步验证',
      en: 'change an account; --password - reads stdin; --2fa off removes a lost second factor',
    },
    minWords: 1,
    maxWords: 1,
    flags: {
      expires: { type: 'string' },
      suspended: { type: 'string' },
      sms: { type: 'string' },
      'sign-name': { type: 'string' },
      password: { type: 'string' },
      '2fa': { type: 'string' },
      scopes: { type: 'string' },
      'allow-ips': { type: 'string' },
      'daily-cap': { type: 'string' },
      'monthly-cap': { type: 'string' },
      prices: { type: 'string' },
      'alert-percents': { type: 'string' },
    },
    async run({ installation: { db }, words, flags }) {
      const account = await requireAccount(db, words[0]!)
      const problems: string[] = []
      const flag = (name: string) => {
        try {
          return yesOrNo(flags, name)
        } catch (error) {
          problems.push((error as UsageError).message)
          return undefined
        }
      }
      const percents = listOf(flags, 'alert-percents', 'none')
      const change = {
        expires: textFlag(flags, 'expires'),
        suspended: flag('suspended'),
        smsEnabled: flag('sms'),
        signName: textFlag(flags, 'sign-name'),
        password: await secretFlag(flags, 'password'),
        scopes: listOf(flags, 'scopes', 'all'),
        allowIps: listOf(flags, 'allow-ips', 'any'),
        dailyCap: numbersOf(flags, 'daily-cap', 'none'),
        monthlyCap: numbersOf(flags, 'monthly-cap', 'none'),
        prices: numbersOf(flags, 'prices', 'default'),
        alertPercents: percents === null ? [] : percents?.map(wholeNumber),
      }
      const secondFactor = textFlag(flags, '2fa')
      if (secondFactor !== undefined && secondFactor !== 'off') {
        problems.push('--2fa 只能是 off，启用必须本人在控制台操作 / must be off: only the user can enable it')
      }
      for (const [name, { zh, en }] of Object.entries(changeProblems(account, change))) {
        problems.push(`${name}: ${zh} / ${en}`)
      }
      if (problems.length > 0) throw new UsageError(problems.join('; '))
      const isUnchanged = Object.values(change).every((value) => value === undefined)
      if (isUnchanged && secondFactor === undefined) {
        throw new UsageError('没有要修改的内容，用 --help 查看 / nothing to change, see --help')
      }
      if (!isUnchanged) await changeAccountAndCaps(db, cliActor, account, change)
      if (secondFactor === 'off' && !(await removeSecondFactor(db, cliActor, account)) && isUnchanged) {
        throw new UsageError(`${account.username} 未启用两步验证 / has no second factor`)
      }
      const changed = await requireAccount(db, account.username)
      const facts = { ...describe(changed), ...describeLimits(changed, await findUsage(db, account.id)) }
      return { json: facts, text: list(facts) }
    },
  },
  {
    name: 'account list',
    usage: '',
    text: { zh: '列出账户', en: 'list accounts' },
    minWords: 0,
    maxWords: 0,
    flags: {},
    async run({ installation: { db } }) {
      const accounts = (await listAccounts(db)).map(describe)
      return {
        json: { accounts },
        text: table(
          ['username', 'role', 'key', 'expires', 'suspended', 'sms'],
          accounts.map((one) => [one.username, one.role, one.key, one.expires, one.suspended, one.sms]),
        ),
      }
    },
  },
  {
    name: 'account show',
    usage: 'NAME',
    text: { zh: '查看账户与额度', en: 'show an account and its credits' },
    minWords: 1,
    maxWords: 1,
    flags: {},
    async run({ installation: { db, secretKey }, words }) {
      const account = await requireAccount(db, words[0]!)
      const balances = await createCredits(db, secretKey).balances(account.id)
      const usage = await findUsage(db, account.id)
      const facts = { ...describe(account), ...describeLimits(account, usage) }
      const used = (apiType: string) => usage.find((one) => one.apiType === apiType)
      const shown = {
        ...facts,
        credits: balances.map((one) => ({
          ...one,
          used_today: used(one.api_type)?.usedToday ?? 0,
          used_this_month: used(one.api_type)?.usedThisMonth ?? 0,
        })),
      }
      const credits = table(
        ['api_type', 'total', 'used', 'remaining', 'used_today', 'used_this_month'],
        shown.credits.map((one) => [
          one.api_type,
          one.total,
          one.used,
          one.remaining,
          one.used_today,
          one.used_this_month,
        ]),
      )
      return { json: shown, text: `${list(facts)}\n\n${credits}` }
    },
  },
  {
    name: 'key reset',
    usage: 'NAME',
    text: { zh: '重置密钥，旧密钥立即失效', en: 'create a new API key; the old one is invalid immediately' },
    minWords: 1,
    maxWords: 1,
    flags: {},
    async run({ installation: { db }, words }) {
      const account = await requireAccount(db, words[0]!)
      const key = await resetKey(db, cliActor, account.id)
      return { json: { username: account.username, api_key: key }, text: key }
    },
  },
  {
    name: 'key clear',
    usage: 'NAME',
    text: {
      zh: '清除密钥，账户不能再调用接口',
      en: 'remove the API key; the account can no longer call the API',
    },
    minWords: 1,
    maxWords: 1,
    flags: {},
    async run({ installation: { db }, words }) {
      const account = await requireAccount(db, words[0]!)
      await clearKey(db, cliActor, account.id)
      return {
        json: { username: account.username, api_key: null },
        text: `${account.username}: 密钥已清除 / key cleared`,
      }
    },
  },
]

function list(facts: Readonly<Record<string, unknown>>): string {
  return table(
    ['', ''],
    Object.entries(facts).map(([name, fact]) => [name, textOf(fact)]),
  ).trim()
}

function textOf(fact: unknown): string | undefined {
  if (fact === null || fact === undefined) return undefined
  if (Array.isArray(fact)) return fact.join(',')
  if (typeof fact !== 'object') return typeof fact === 'string' ? fact : JSON.stringify(fact)
  return Object.entries(fact)
    .map(([name, value]) => `${name}=${value}`)
    .join(',')
}

// The commands `account` and `key`.
import { formatTime } from '../contract/time.ts'
import { changeAccount, clearKey, requireAccount, resetKey } from '../server/accounts/accounts.ts'
import { type Account, listAccounts } from '../server/accounts/store.ts'
import { removeSecondFactor } from '../server/accounts/second-factor.ts'
import { createCredits } from '../server/credits/credits.ts'
import { createAccountWithCredits } from '../server/credits/create-account.ts'
import { cliActor, type Command, secretFlag, UsageError, table, textFlag, yesOrNo } from './command.ts'
import { parseCredits } from './credits.ts'

/** The fields of an account without secrets. */
function describe(account: Account) {
  return {
    username: account.username,
    role: account.role,
    key: account.key_hint,
    expires: account.expires_on,
    suspended: account.suspended === 1,
    sms: account.sms_enabled === 1,
    sign_name: account.sign_name,
    created_at: formatTime(account.created_at),
  }
}

export const accountCommands: readonly Command[] = [
  {
    name: 'account create',
    usage:
      'NAME [--password P|-] [--expires YYYY-MM-DD] [--credits sms=100,short_link=100] [--role operator]',
    text: {
      zh: '创建账户，密码与密钥仅显示一次；--password - 从标准输入读取密码，不会出现在 ps 中',
      en: 'create an account; password and API key are shown once; --password - reads stdin, hidden from ps',
    },
    minWords: 1,
    maxWords: 1,
    flags: {
      password: { type: 'string' },
      expires: { type: 'string' },
      credits: { type: 'string' },
      role: { type: 'string' },
    },
    async run({ installation, words, flags }) {
      const role = textFlag(flags, 'role') ?? 'account'
      if (role !== 'account' && role !== 'operator') {
        throw new UsageError('--role 只能是 account 或 operator / must be account or operator')
      }
      const grants = parseCredits(textFlag(flags, 'credits') ?? '')
      const username = words[0]!
      const expires = textFlag(flags, 'expires')
      const made = await createAccountWithCredits(
        installation.db,
        cliActor,
        { username, password: await secretFlag(flags, 'password'), expiresOn: expires, role },
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
      'NAME [--expires YYYY-MM-DD|never] [--suspended yes|no] [--sms yes|no] [--sign-name S] [--password P|-] [--2fa off]',
    text: {
      zh: '修改账户；--password - 从标准输入读取密码；--2fa off 关闭两步验证（丢失手机与恢复码时）',
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
    },
    async run({ installation: { db }, words, flags }) {
      const account = await requireAccount(db, words[0]!)
      const change = {
        expires: textFlag(flags, 'expires'),
        suspended: yesOrNo(flags, 'suspended'),
        smsEnabled: yesOrNo(flags, 'sms'),
        signName: textFlag(flags, 'sign-name'),
        password: await secretFlag(flags, 'password'),
      }
      const secondFactor = textFlag(flags, '2fa')
      if (secondFactor !== undefined && secondFactor !== 'off') {
        throw new UsageError(
          '--2fa 只能是 off，启用须本人在控制台操作 / must be off: only the user can enable it',
        )
      }
      const isUnchanged = Object.values(change).every((value) => value === undefined)
      if (isUnchanged && secondFactor === undefined) {
        throw new UsageError('没有要修改的内容，用 --help 查看 / nothing to change, see --help')
      }
      if (!isUnchanged) await changeAccount(db, cliActor, account, change)
      if (secondFactor === 'off' && !(await removeSecondFactor(db, cliActor, account)) && isUnchanged) {
        throw new UsageError(`${account.username} 未启用两步验证 / has no second factor`)
      }
      const changed = describe(await requireAccount(db, account.username))
      return { json: changed, text: list(changed) }
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
      const shown = { ...describe(account), credits: balances }
      const credits = table(
        ['api_type', 'total', 'used', 'remaining'],
        balances.map((one) => [one.api_type, one.total, one.used, one.remaining]),
      )
      return { json: shown, text: `${list(describe(account))}\n\n${credits}` }
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

function list(facts: Readonly<Record<string, string | boolean | null>>): string {
  return table(['', ''], Object.entries(facts)).trim()
}

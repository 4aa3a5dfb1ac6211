// The command `token`: operator tokens.
import { tokenScopes } from '../contract/console/roles.ts'
import { formatTime } from '../contract/time.ts'
import { listTokens } from '../server/accounts/operator-token-store.ts'
import { createToken, revokeToken } from '../server/accounts/operators.ts'
import { type Account, findByUsername, listAccounts } from '../server/accounts/store.ts'
import { tokenPurpose } from '../server/console/token-access.ts'
import type { Database } from '../server/db/database.ts'
import { deriveSecret } from '../server/runtime/installation.ts'
import { cliActor, type Command, idOf, table, textFlag, UsageError } from './command.ts'

export const tokenCommands: readonly Command[] = [
  {
    name: 'token create',
    usage: 'NAME --scopes all|accounts:read,credits:write,… [--expires YYYY-MM-DD] [--operator USER]',
    text: {
      zh: '创建管理员令牌，仅显示一次；权限不超过 --operator（默认最早的所有者）的角色',
      en: 'create an operator token, shown once; it has no more rights than --operator (default: the first owner)',
    },
    minWords: 1,
    maxWords: 1,
    flags: { scopes: { type: 'string' }, expires: { type: 'string' }, operator: { type: 'string' } },
    async run({ installation: { db, secretKey }, words, flags }) {
      const name = words[0]!
      const given = textFlag(flags, 'scopes')
      if (given === undefined) {
        throw new UsageError(`缺少 --scopes，可选 all,${tokenScopes.join(',')} / --scopes is missing`)
      }
      const operator = await operatorFor(db, name, textFlag(flags, 'operator'))
      const scopes = given.trim() === 'all' ? tokenScopes : given.split(',')
      const secret = deriveSecret(secretKey, tokenPurpose)
      const expiresOn = textFlag(flags, 'expires')
      const input = { name, scopes, expires_on: expiresOn }
      const created = await createToken(db, cliActor, operator, input, secret)
      const { id, scopes: stored } = created.token
      return {
        json: {
          id,
          name,
          operator: operator.username,
          scopes: stored.split(','),
          expires_on: expiresOn ?? null,
          token: created.secret,
        },
        text: `id     ${id}\ntoken  ${created.secret}`,
      }
    },
  },
  {
    name: 'token list',
    usage: '',
    text: { zh: '列出管理员令牌', en: 'list operator tokens' },
    minWords: 0,
    maxWords: 0,
    flags: {},
    async run({ installation: { db } }) {
      const tokens = (await listTokens(db)).map((token) => ({
        id: token.id,
        name: token.name,
        operator: token.username,
        scopes: token.scopes.split(','),
        hint: token.hint,
        created_at: formatTime(token.created_at),
        used_at: token.used_at === null ? null : formatTime(token.used_at),
        expires_on: token.expires_on,
      }))
      return {
        json: { tokens },
        text: table(
          ['id', 'name', 'operator', 'hint', 'created_at', 'used_at', 'expires_on', 'scopes'],
          tokens.map((one) => [
            one.id,
            one.name,
            one.operator,
            one.hint,
            one.created_at,
            one.used_at,
            one.expires_on,
            one.scopes.join(','),
          ]),
        ),
      }
    },
  },
  {
    name: 'token revoke',
    usage: 'ID',
    text: { zh: '吊销管理员令牌，立即生效', en: 'revoke an operator token, effective immediately' },
    minWords: 1,
    maxWords: 1,
    flags: {},
    async run({ installation: { db }, words }) {
      const id = idOf(words[0]!)
      if (!(await revokeToken(db, cliActor, id))) {
        throw new UsageError(`令牌 ${id} 不存在 / there is no token ${id}`)
      }
      return { json: { id, revoked: true }, text: `${id}: 已吊销 / revoked` }
    },
  },
]

/** The operator that was named, else the one with the name of the token, else the first owner. */
async function operatorFor(db: Database, name: string, given: string | undefined): Promise<Account> {
  const named = await findByUsername(db, given ?? name)
  if (given !== undefined && named?.role !== 'operator') {
    throw new UsageError(`${given} 不是管理员 / is not an operator`)
  }
  if (named?.role === 'operator') return named
  const owner = (await listAccounts(db)).find(
    (one) => one.role === 'operator' && one.operator_role === 'owner' && one.suspended === 0,
  )
  if (!owner) throw new UsageError('没有所有者账户 / there is no owner')
  return owner
}

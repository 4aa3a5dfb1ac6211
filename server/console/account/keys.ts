// The account's API key: create, reset, clear. The whole key is only in the response that creates it.
import { dayMs } from '../../../contract/time.ts'
import { keyRoutes } from '../../../contract/console/key.ts'
import { clearKey, createFirstKey, resetKey } from '../../accounts/accounts.ts'
import { formatKeyHint } from '../../accounts/key.ts'
import type { Services } from '../../services.ts'
import type { AccountActor } from '../../audit/audit.ts'
import { confirmedUser } from '../confirmation.ts'
import type { Api, SignedInRequest } from '../routes.ts'
import type { PasswordChecks } from '../password-check.ts'
import { conflict } from '../problem.ts'
import { findKeyUse } from '../../request-log/store.ts'

export function keyPages(api: Api, { db, config }: Services, passwords: PasswordChecks): void {
  async function confirm(request: SignedInRequest, password: string | undefined): Promise<AccountActor> {
    return password === undefined || config.PASSWORD_LOGIN === 'off'
      ? confirmedUser(request)
      : passwords.confirm(request.user, password, request.address, 'password')
  }

  api.account(keyRoutes.state, async ({ account }) => {
    const { last, count } = await findKeyUse(db, account.id, Date.now() - dayMs)
    return {
      hint: account.key_hint,
      created_at: account.key_created_at,
      calls_24h: count,
      last_call_at: last,
    }
  })

  api.account(keyRoutes.generate, async ({ signedIn }) => {
    const key = await createFirstKey(db, signedIn.session)
    if (key === undefined) {
      throw conflict('已有密钥，请改用重置', 'There is a key already; reset it instead')
    }
    return { api_key: key, hint: formatKeyHint(key) }
  })

  api.account(keyRoutes.reset, async (request, input) => {
    const key = await resetKey(db, await confirm(request, input.password), request.user.id)
    return { api_key: key, hint: formatKeyHint(key) }
  })

  api.account(keyRoutes.clear, async (request, input) => {
    await clearKey(db, await confirm(request, input.password), request.user.id)
    return {}
  })
}

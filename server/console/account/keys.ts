// The account's API key: create, reset, clear. The whole key is only in the response that creates it.
import { dayMs } from '../../../contract/time.ts'
import { keyRoutes } from '../../../contract/console/key.ts'
import type { KeyLimits } from '../../../contract/console/responses/key.ts'
import { clearKey, createFirstKey, resetKey } from '../../accounts/accounts.ts'
import { isAllowedAddress, readAllowList } from '../../accounts/key-limits.ts'
import { type Account, findById } from '../../accounts/store.ts'
import { changeAccountAndCaps } from '../../credits/caps.ts'
import { findUsage } from '../../credits/caps-store.ts'
import type { Queries } from '../../db/database.ts'
import { formatKeyHint } from '../../accounts/key.ts'
import type { Services } from '../../services.ts'
import type { AccountActor } from '../../audit/audit.ts'
import { confirmedUser } from '../confirmation.ts'
import type { SignedInRequest } from '../access.ts'
import type { Api } from '../routes.ts'
import { guessLimits } from '../guess-limits.ts'
import type { PasswordChecks } from '../password-check.ts'
import { conflict } from '../problem.ts'
import { toFieldErrors } from './sign-in.ts'
import { findKeyUse } from '../../request-log/store.ts'

/** Changes of the key and its limits in 15 minutes. Each is a row of the audit log. */
const maxKeyChanges = 60

export function keyPages(api: Api, { db, config, limits }: Services, passwords: PasswordChecks): void {
  const changes = guessLimits(limits.attempts, 'key changes')

  async function confirm(request: SignedInRequest, password: string | undefined): Promise<AccountActor> {
    const actor =
      password === undefined || config.PASSWORD_LOGIN === 'off'
        ? confirmedUser(request)
        : await passwords.confirm(request.user, password, request.address, 'password')
    await countChange(request)
    return actor
  }

  const countChange = ({ user }: SignedInRequest) =>
    changes.begin([{ key: `account ${user.id}`, max: maxKeyChanges }])

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

  api.account(keyRoutes.limits, async ({ account, address }) => ({
    ...(await describeLimits(db, account)),
    address,
  }))

  api.account(keyRoutes.changeLimits, async (request, input) => {
    const actor = confirmedUser(request)
    const read = readAllowList(input.allow_ips ?? null)
    const list = 'value' in read ? read.value : null
    const excludesOwn = list !== null && !isAllowedAddress(list, request.address)
    if (excludesOwn && input.excludes_own_address !== true) {
      throw conflict(
        `您当前的地址 ${request.address} 不在列表中`,
        `Your present address ${request.address} is not on the list`,
      )
    }
    await countChange(request)
    await changeAccountAndCaps(db, actor, request.user, {
      scopes: input.scopes,
      allowIps: input.allow_ips,
      dailyCap: emptyToNull(input.daily_cap),
      monthlyCap: emptyToNull(input.monthly_cap),
    }).catch((error: unknown) => {
      throw toFieldErrors(error)
    })
    const changed = await findById(db, request.user.id)
    return describeLimits(db, changed ?? request.user)
  })
}

/** A form without a value in any field means no limit. */
export function emptyToNull<T extends object>(values: T | null | undefined): T | null | undefined {
  return values && Object.keys(values).length === 0 ? null : values
}

export async function describeLimits(queries: Queries, account: Account): Promise<KeyLimits> {
  return {
    scopes: account.scopes?.split(',') ?? null,
    allow_ips: account.allow_ips?.split(',') ?? null,
    usage: (await findUsage(queries, account.id)).map((one) => ({
      api_type: one.apiType,
      daily_cap: one.dailyCap,
      monthly_cap: one.monthlyCap,
      used_today: one.usedToday,
      used_this_month: one.usedThisMonth,
    })),
  }
}

// Accounts for operators: search, create, change, grant and take credits.
import { signNameProblem } from '../../../contract/sign-name.ts'
import { apiTypes } from '../../../contract/credits.ts'
import { operatorRoutes } from '../../../contract/console/operator.ts'
import type { AccountDetail, AccountRow } from '../../../contract/console/responses/operator.ts'
import { formatDay } from '../../../contract/time.ts'
import { oneLine } from '../../../contract/values.ts'
import { changeAccount } from '../../accounts/accounts.ts'
import { ownPrices } from '../../accounts/prices.ts'
import { generatePassword } from '../../accounts/password.ts'
import { type Account, findById } from '../../accounts/store.ts'
import { changeAccountAndCaps } from '../../credits/caps.ts'
import { createAccountWithoutKey } from '../../credits/create-account.ts'
import type { Queries } from '../../db/database.ts'
import type { Services } from '../../services.ts'
import { requireWriter, type SignedInRequest } from '../access.ts'
import type { Api } from '../routes.ts'
import { requireConfirmation } from '../confirmation.ts'
import { operatorOf } from '../operator-actor.ts'
import { pageRows, rangeOf, toPage } from '../fields.ts'
import { sum } from '../account/home.ts'
import { describeLimits, emptyToNull } from '../account/keys.ts'
import { describeAccount } from '../account/me.ts'
import { ConsoleProblem, invalidFields, notFound } from '../problem.ts'
import { findCounts, findNewest } from '../../request-log/store.ts'
import { countSessions } from '../../accounts/session-store.ts'
import { toFieldErrors } from '../account/sign-in.ts'
import { searchAccounts } from '../../accounts/search-store.ts'
import type { AccountRateLimit } from '../../../contract/console/values.ts'

/** What a key may do and what calls cost: a stolen session must not change it. */
const confirmedChanges = ['scopes', 'allow_ips', 'daily_cap', 'monthly_cap', 'prices'] as const

export function accountPages(api: Api, services: Services): void {
  const { db, credits, config } = services

  async function rowOf(account: Account): Promise<AccountRow> {
    return {
      ...describeAccount(account),
      balances: await credits.balances(account.id),
      last_call_at: (await findNewest(db, account.id))?.at ?? null,
    }
  }

  async function detailOf(id: number): Promise<AccountDetail> {
    const account = await findById(db, id)
    if (!account) throw notFound()
    const week = rangeOf({}, { byDefault: 7, max: 7 })
    const counts = await findCounts(db, id, week.from, week.to)
    const platform = config.RATE_LIMIT
    return {
      ...(await rowOf(account)),
      rate_limit: rateLimitOf(account),
      limits: await describeLimits(db, account),
      own_prices: account.prices === null ? null : ownPrices(account.prices),
      platform_rate_limit: platform ? { per_second: platform.perSecond, burst: platform.burst } : null,
      calls_7d: sum(counts.map((one) => one.calls)),
      failed_7d: sum(counts.map((one) => one.calls - one.succeeded)),
      sessions: await countSessions(db, id),
    }
  }

  api.operator(operatorRoutes.accounts, async (_request, input) => {
    const page = pageRows(input)
    const { rows, total } = await searchAccounts(db, {
      q: input.q?.trim(),
      state: input.state,
      today: formatDay(Date.now()),
      sort: input.sort ?? 'created',
      order: input.order ?? 'desc',
      ...page,
    })
    return toPage(page, await Promise.all(rows.map(rowOf)), total)
  })

  api.operator(operatorRoutes.account, (request) => detailOf(request.id()))

  api.operator(operatorRoutes.createAccount, async (request, input) => {
    if (input.credits) requireConfirmation(request)
    const username = input.username.trim()
    const given = apiTypes.flatMap((type) => {
      const count = input.credits?.[type]
      return count === undefined ? [] : [{ apiType: type, amount: count, note: oneLine(input.note) }]
    })
    if (given.length > 0) requireWriter(request, 'credits')
    const created = await createAccountWithoutKey(
      db,
      operatorOf(request, input),
      { username, password: input.password, expiresOn: input.expires_on ?? undefined },
      given,
    ).catch((error: unknown) => {
      throw toFieldErrors(error)
    })
    return { account: await detailOf(created.id), password: created.password }
  })

  api.operator(operatorRoutes.changeAccount, async (request, input) => {
    if (confirmedChanges.some((name) => input[name] !== undefined)) requireConfirmation(request)
    // A price of 0 is worth any number of credits, and a default signature is approved at once.
    if (input.prices !== undefined) requireWriter(request, 'credits')
    if (input.sign_name) requireWriter(request, 'reviews')
    const account = await requireAccount(db, request)
    // People decide who has the rights of an operator.
    if (input.suspended === false && request.signedIn.token && account.role === 'operator')
      throw operatorByToken()
    const problem = input.sign_name ? signNameProblem(input.sign_name) : undefined
    if (problem) throw invalidFields({ sign_name: problem })
    if (input.suspended === true && account.id === request.user.id) {
      throw invalidFields({ suspended: { zh: '不能停用自己', en: 'You cannot suspend yourself' } })
    }
    await changeAccountAndCaps(db, operatorOf(request, input), account, {
      expires: input.expires_on === undefined ? undefined : (input.expires_on ?? 'never'),
      suspended: input.suspended,
      smsEnabled: input.sms_enabled,
      signName: input.sign_name === undefined ? undefined : (input.sign_name ?? ''),
      rateLimit: input.rate_limit && {
        perSecond: input.rate_limit.per_second,
        burst: input.rate_limit.burst,
      },
      scopes: input.scopes,
      allowIps: input.allow_ips,
      dailyCap: emptyToNull(input.daily_cap),
      monthlyCap: emptyToNull(input.monthly_cap),
      prices: emptyToNull(input.prices),
      pricesBefore: input.prices_before,
    }).catch((error: unknown) => {
      throw toFieldErrors(error)
    })
    return detailOf(account.id)
  })

  api.operator(operatorRoutes.resetPassword, async (request, input) => {
    requireConfirmation(request)
    const account = await requireAccount(db, request)
    // Whoever has the password of an operator has all the operator's rights, not only those of the token.
    if (request.signedIn.token && account.role === 'operator') throw operatorByToken()
    const created = generatePassword()
    const ownSession = account.id === request.user.id ? request.signedIn.session.id : undefined
    await changeAccount(db, operatorOf(request, input), account, { password: created }, ownSession)
    return { password: created }
  })

  api.operator(operatorRoutes.changeCredits, async (request, input) => {
    requireConfirmation(request)
    const account = await requireAccount(db, request)
    return credits[input.direction]({
      accountId: account.id,
      apiType: input.api_type,
      amount: input.amount,
      note: oneLine(input.note),
      actor: operatorOf(request, input),
    }).catch((error: unknown) => {
      throw toFieldErrors(error)
    })
  })
}

/** The account that the path names. */
export async function requireAccount(queries: Queries, request: SignedInRequest): Promise<Account> {
  const account = await findById(queries, request.id())
  if (!account) throw notFound()
  return account
}

function operatorByToken(): ConsoleProblem {
  return new ConsoleProblem('forbidden', {
    zh: '令牌不能重置管理员的密码，也不能恢复已停用的管理员',
    en: 'A token cannot reset the password of an operator, nor reactivate one',
  })
}

function rateLimitOf(account: Account): AccountRateLimit | null {
  const [perSecond, burst] = account.rate_limit?.split(',').map(Number) ?? []
  return perSecond && burst ? { per_second: perSecond, burst } : null
}

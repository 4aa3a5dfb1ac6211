// Accounts in the operator's hands: found, made, changed, given and deprived of credits. Every change says why.
import { Type } from 'typebox'
import { apiTypes } from '../../../contract/credits.ts'
import {
  type AccountDetail,
  type AccountRateLimit,
  type AccountRow,
  operatorRoutes,
} from '../../../contract/console/operator.ts'
import { formatDay } from '../../../contract/time.ts'
import { changeAccount, signNameProblem } from '../../accounts/accounts.ts'
import { generatePassword } from '../../accounts/password.ts'
import { type Account, findById } from '../../accounts/store.ts'
import { createAccountWithoutKey } from '../../credits/create-account.ts'
import { AppError } from '../../http/errors.ts'
import type { Services } from '../../services.ts'
import type { Api, SignedInAsk } from '../routes.ts'
import { operatorOf } from '../audit-entry.ts'
import { amount, apiType, day, note, nothing, oneLine, page, password, rangeOf } from '../fields.ts'
import { sum } from '../account/home.ts'
import { describeAccount } from '../account/me.ts'
import { invalidFields, notFound } from '../problem.ts'
import { findCounts, findNewest } from '../../request-log/store.ts'
import { countSessions } from '../../accounts/session-store.ts'
import { toFieldErrors } from '../account/sign-in.ts'
import { searchAccounts } from '../../accounts/search-store.ts'

const query = Type.Object({
  ...page,
  q: Type.Optional(Type.String({ maxLength: 200 })),
  state: Type.Optional(Type.Enum(['active', 'expired', 'suspended', 'operator'])),
  sort: Type.Optional(Type.Enum(['created', 'username', 'expires'])),
  order: Type.Optional(Type.Enum(['asc', 'desc'])),
})

const newAccount = Type.Object({
  username: Type.String({ minLength: 1, maxLength: 200 }),
  password: Type.Optional(password),
  expires_on: Type.Optional(Type.Union([day, Type.Null()])),
  credits: Type.Optional(
    Type.Object({
      short_link: Type.Optional(amount),
      sms: Type.Optional(amount),
      id_verification: Type.Optional(amount),
      domain_check: Type.Optional(amount),
    }),
  ),
  note,
})

const accountChange = Type.Object({
  expires_on: Type.Optional(Type.Union([day, Type.Null()])),
  suspended: Type.Optional(Type.Boolean()),
  sms_enabled: Type.Optional(Type.Boolean()),
  sign_name: Type.Optional(Type.Union([Type.String({ maxLength: 100 }), Type.Null()])),
  rate_limit: Type.Optional(
    Type.Union(
      [
        Type.Object({
          per_second: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
          burst: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
        }),
        Type.Null(),
      ],
      { wants: { zh: '须为两个正整数：每秒与突发', en: 'Must be two whole numbers: a second, and burst' } },
    ),
  ),
  note,
})

const creditChange = Type.Object({ api_type: apiType, direction: Type.Enum(['grant', 'take']), amount, note })

export function accountPages(api: Api, services: Services): void {
  const { db, credits, config } = services

  async function requireAccount(ask: SignedInAsk): Promise<Account> {
    const account = await findById(db, ask.id())
    if (!account) throw notFound()
    return account
  }

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
    const week = rangeOf({}, { usual: 7, most: 7 })
    const counts = await findCounts(db, id, week.from, week.to)
    const platform = config.RATE_LIMIT
    return {
      ...(await rowOf(account)),
      rate_limit: rateLimitOf(account),
      platform_rate_limit: platform ? { per_second: platform.perSecond, burst: platform.burst } : null,
      calls_7d: sum(counts.map((one) => one.calls)),
      failed_7d: sum(counts.map((one) => one.calls - one.succeeded)),
      sessions: await countSessions(db, id),
    }
  }

  api.operator(operatorRoutes.accounts, query, async (_ask, sent) => {
    const size = sent.size ?? 20
    const number = sent.page ?? 1
    const { rows, total } = await searchAccounts(db, {
      q: sent.q?.trim(),
      state: sent.state,
      today: formatDay(Date.now()),
      sort: sent.sort ?? 'created',
      order: sent.order ?? 'desc',
      limit: size,
      offset: (number - 1) * size,
    })
    return { items: await Promise.all(rows.map(rowOf)), total, page: number, size }
  })

  api.operator(operatorRoutes.account, nothing, (ask) => detailOf(ask.id()))

  api.operator(operatorRoutes.createAccount, newAccount, async (ask, sent) => {
    const username = sent.username.trim()
    const given = apiTypes.flatMap((type) => {
      const count = sent.credits?.[type]
      return count === undefined ? [] : [{ apiType: type, amount: count, note: oneLine(sent.note) }]
    })
    const made = await createAccountWithoutKey(
      db,
      operatorOf(ask, sent),
      { username, password: sent.password, expiresOn: sent.expires_on ?? undefined },
      given,
    ).catch((error: unknown) => {
      throw toFieldErrors(error)
    })
    return { account: await detailOf(made.id), password: made.password }
  })

  api.operator(operatorRoutes.changeAccount, accountChange, async (ask, sent) => {
    const account = await requireAccount(ask)
    const problem = sent.sign_name ? signNameProblem(sent.sign_name) : undefined
    if (problem) throw invalidFields({ sign_name: problem })
    if (sent.suspended === true && account.id === ask.user.id) {
      throw invalidFields({ suspended: { zh: '不能停用自己', en: 'You cannot suspend yourself' } })
    }
    await changeAccount(db, operatorOf(ask, sent), account, {
      expires: sent.expires_on === undefined ? undefined : (sent.expires_on ?? 'never'),
      suspended: sent.suspended,
      smsEnabled: sent.sms_enabled,
      signName: sent.sign_name === undefined ? undefined : (sent.sign_name ?? ''),
      rateLimit: sent.rate_limit && {
        perSecond: sent.rate_limit.per_second,
        burst: sent.rate_limit.burst,
      },
    }).catch((error: unknown) => {
      throw toFieldErrors(error)
    })
    return detailOf(account.id)
  })

  api.operator(operatorRoutes.resetPassword, Type.Object({ note }), async (ask, sent) => {
    const account = await requireAccount(ask)
    const made = generatePassword()
    const ownSession = account.id === ask.user.id ? ask.signedIn.session.id : undefined
    await changeAccount(db, operatorOf(ask, sent), account, { password: made }, ownSession)
    return { password: made }
  })

  api.operator(operatorRoutes.changeCredits, creditChange, async (ask, sent) => {
    const account = await requireAccount(ask)
    return credits[sent.direction]({
      accountId: account.id,
      apiType: sent.api_type,
      amount: sent.amount,
      note: oneLine(sent.note),
      actor: operatorOf(ask, sent),
    }).catch((error: unknown) => {
      throw error instanceof AppError ? invalidFields({ amount: error.text }) : error
    })
  })
}

function rateLimitOf(account: Account): AccountRateLimit | null {
  const [perSecond, burst] = account.rate_limit?.split(',').map(Number) ?? []
  return perSecond && burst ? { per_second: perSecond, burst } : null
}

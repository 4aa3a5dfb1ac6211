// Sign-in, sign-up and sign-out; the sessions and the password of an account.
import { sessionRoutes } from '../../../contract/console/session.ts'
import { signUpNameProblem } from '../../../contract/usernames.ts'
import { changeAccount, createAccount } from '../../accounts/accounts.ts'
import type { AccountMail } from '../../accounts/mail.ts'
import type { SecondFactors } from '../../accounts/second-factor.ts'
import { requirePasswordCapacity } from '../../accounts/password-turns.ts'
import { findById, findByUsername } from '../../accounts/store.ts'
import { siteOf } from '../../http/address.ts'
import { AppError } from '../../http/errors.ts'
import { networkKeys } from '../../http/network-keys.ts'
import type { Services } from '../../services.ts'
import { type ConsoleRequest, unauthenticated } from '../access.ts'
import type { Api } from '../routes.ts'
import { recordOwnChange, systemActor } from '../../audit/audit.ts'
import { insertAudit } from '../../audit/store.ts'
import { describeMe } from './me.ts'
import { guessLimits } from '../guess-limits.ts'
import type { PasswordChecks } from '../password-check.ts'
import type { SecondStep } from '../second-step.ts'
import { ConsoleProblem, invalidFields } from '../problem.ts'
import { deleteSession, deleteSessions, listSessions } from '../../accounts/session-store.ts'
import type { Sessions } from '../sessions.ts'

/** New accounts in 15 minutes. */
const maxSignUps = { perNetwork: 10, perSite: 40 }

/** Names in 15 minutes that were taken: who tries more wants to find out who has an account. */
const maxTakenNames = { perNetwork: 30, perSite: 120 }

/** Recovery mails in 15 minutes: to one address, and requested by one network. */
const maxRecoveriesOfAddress = 3
const maxRecoveries = { perNetwork: 10, perSite: 40 }

/** Wrong links in 15 minutes. */
const maxWrongLinks = { perNetwork: 40, perSite: 160 }

export interface SessionParts {
  readonly sessions: Sessions
  readonly passwords: PasswordChecks
  readonly secondStep: SecondStep
  readonly secondFactors: SecondFactors
  readonly mail: AccountMail
  readonly version: string
}

export function sessionPages(api: Api, services: Services, parts: SessionParts): void {
  const { db, config, limits } = services
  const { sessions, passwords, secondStep, secondFactors, mail } = parts
  const signUps = guessLimits(limits.attempts, 'sign-up')
  const takenNames = guessLimits(limits.attempts, 'taken name')
  const recoveries = guessLimits(limits.attempts, 'recovery')
  const recoveryTokens = guessLimits(limits.attempts, 'recovery token')
  const passwordLogin = config.PASSWORD_LOGIN === 'on'
  const canSignUp = passwordLogin && config.SIGN_UP === 'on'
  const canRecover = passwordLogin && Boolean(config.MAIL_URL)

  async function meOf(request: ConsoleRequest) {
    const { signedIn } = request
    return signedIn && describeMe(services, signedIn, signedIn.user, request.language)
  }

  api.open(sessionRoutes.start, async (request) => ({
    version: parts.version,
    public_url: services.publicUrl(),
    sign_up: canSignUp,
    password_login: passwordLogin,
    oidc: Boolean(config.OIDC_ISSUER),
    recovery: canRecover,
    sandbox: [
      ...(config.SMS_GATEWAYS.includes('sandbox') ? (['sms'] as const) : []),
      ...(config.IDENTITY_GATEWAYS.includes('sandbox') ? (['identity'] as const) : []),
      ...(config.DOMAIN_GATEWAYS.includes('sandbox') ? (['domain_check'] as const) : []),
    ],
    prices: config.PRICES,
    domain_max_urls: config.DOMAIN_MAX_URLS,
    me: (await meOf(request)) ?? null,
  }))

  api.enrolling(sessionRoutes.me, (request) =>
    describeMe(services, request.signedIn, request.account, request.language),
  )

  api.open(sessionRoutes.signIn, async (request, input) => {
    if (!passwordLogin) throw passwordLoginOff()
    const username = input.username.trim()
    const found = await findByUsername(db, username)
    const { account, passwordHash } = await passwords.signIn(username, found, input.password, request.address)
    const proof = { method: 'password', passwordHash } as const
    const { enabledAt } = await secondFactors.state(account.id)
    if (enabledAt !== null) throw secondStep.begin(request.reply, account, proof)
    const verified = { account, proof, secondFactor: 'none' } as const
    const signedIn = await sessions.begin(request.raw, request.reply, verified, request.address)
    return describeMe(services, signedIn, account, request.language)
  })

  api.open(sessionRoutes.secondStep, async (request, { code }) => {
    const verified = await secondStep.finish(request.raw, request.reply, code)
    const signedIn = await sessions.begin(request.raw, request.reply, verified, request.address)
    return describeMe(services, signedIn, verified.account, request.language)
  })

  api.open(sessionRoutes.requestRecovery, async (request, input) => {
    if (!canRecover) throw recoveryOff()
    const address = input.mail.trim()
    await recoveries.begin([
      { key: `address ${address.toLowerCase()}`, max: maxRecoveriesOfAddress },
      ...networkKeys(request.address, maxRecoveries),
    ])
    mail.sendRecovery(address, request.language)
    return {}
  })

  api.open(sessionRoutes.recover, async (request, input) => {
    if (!canRecover) throw recoveryOff()
    const site = siteOf(request.address)
    requirePasswordCapacity(site)
    const guess = await recoveryTokens.begin(networkKeys(request.address, maxWrongLinks))
    await mail.recover(input.token, input.new_password, site).catch((error: unknown) => {
      throw toFieldErrors(error)
    })
    await guess.right()
    return {}
  })

  api.open(sessionRoutes.signUp, async (request, input) => {
    if (!canSignUp) {
      throw new ConsoleProblem('forbidden', { zh: '未开放注册', en: 'Sign-up is closed' })
    }
    const nameProblem = signUpNameProblem(input.username.trim())
    if (nameProblem) throw invalidFields({ username: nameProblem })
    const site = siteOf(request.address)
    requirePasswordCapacity(site)
    const tried = await takenNames.begin(networkKeys(request.address, maxTakenNames))
    const counted = await signUps
      .begin(networkKeys(request.address, maxSignUps))
      .catch(async (error: unknown) => {
        await tried.right()
        throw error
      })
    const username = input.username.trim()
    const account = { username, password: input.password, share: site }
    const created = await createAccount(db, systemActor, account, {
      write: (tx) => insertAudit(tx, { actor: username, action: 'account.sign_up', target: username }),
    }).catch(async (error: unknown) => {
      await counted.right()
      if (!isAboutName(error)) await tried.right()
      throw toFieldErrors(error)
    })
    await tried.right()
    const user = await findById(db, created.id)
    if (!user) throw unauthenticated()
    const proof = { method: 'password', passwordHash: created.passwordHash } as const
    const verified = { account: user, proof, secondFactor: 'none' } as const
    const signedIn = await sessions.begin(request.raw, request.reply, verified, request.address)
    return describeMe(services, signedIn, user, request.language)
  })

  // Works for suspended accounts and ended sessions too.
  api.open(sessionRoutes.signOut, async (request) => {
    if (request.signedIn) sessions.requireToken(request.raw, request.signedIn)
    await sessions.end(request.raw, request.reply, request.signedIn)
    return {}
  })

  api.account(sessionRoutes.sessions, async (request) => {
    const rows = await listSessions(db, request.account.id)
    return {
      items: rows.map(({ id, created_at, seen_at, address, agent }) => ({
        id,
        current: id === request.signedIn.session.id,
        created_at,
        seen_at,
        address,
        agent,
      })),
    }
  })

  api.account(sessionRoutes.endOtherSessions, async (request) => ({
    ended: await db.write(async (tx) => {
      const ended = await deleteSessions(tx, request.user.id, request.signedIn.session.id)
      if (ended > 0) await recordOwnChange(tx, request.user.id, 'session.end_others', { ended })
      return ended
    }),
  }))

  api.account(sessionRoutes.endSession, async (request) => {
    const id = request.id()
    const isEnded = await db.write(async (tx) => {
      if (!(await deleteSession(tx, request.user.id, id))) return false
      await recordOwnChange(tx, request.user.id, 'session.end', { id })
      return true
    })
    if (!isEnded) {
      throw new ConsoleProblem('not_found', { zh: '会话已结束', en: 'The session has ended already' })
    }
    return {}
  })

  api.account(sessionRoutes.changePassword, async (request, input) => {
    if (!passwordLogin) throw passwordLoginOff()
    const actor = await passwords.confirm(
      request.user,
      input.current_password,
      request.address,
      'current_password',
    )
    const change = { password: input.new_password }
    const ended = await changeAccount(db, actor, request.user, change, request.signedIn.session.id).catch(
      (error: unknown) => {
        throw error instanceof AppError && error.fields ? invalidFields({ new_password: error.text }) : error
      },
    )
    return { ended }
  })
}

function passwordLoginOff(): ConsoleProblem {
  return new ConsoleProblem('forbidden', {
    zh: '平台已关闭密码登录，请使用统一登录',
    en: 'Signing in with a password is off; use single sign-on',
  })
}

function recoveryOff(): ConsoleProblem {
  return new ConsoleProblem('forbidden', {
    zh: '未开放找回密码，请联系平台管理员',
    en: 'Password recovery is not available; contact the operator',
  })
}

function isAboutName(error: unknown): boolean {
  return error instanceof AppError && error.fields?.['username'] !== undefined
}

/** Shows the problems of a rule beside the fields of the form. */
export function toFieldErrors(error: unknown): unknown {
  return error instanceof AppError && error.fields ? invalidFields(error.fields) : error
}

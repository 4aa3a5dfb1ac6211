// Signing in, up and out; the sessions of an account and its password.
import { Type } from 'typebox'
import { sessionRoutes } from '../../../contract/console/session.ts'
import { changeAccount, createAccount } from '../../accounts/accounts.ts'
import { findById, findByUsername } from '../../accounts/store.ts'
import { networkOf } from '../../http/address.ts'
import { AppError } from '../../http/errors.ts'
import type { Services } from '../../services.ts'
import { type Api, type Ask, unauthenticated } from '../routes.ts'
import { systemActor } from '../../audit/audit.ts'
import { insertAudit } from '../../audit/store.ts'
import { nothing, password } from '../fields.ts'
import { describeMe } from './me.ts'
import { guessLimits } from '../guess-limits.ts'
import type { PasswordChecks } from '../password-check.ts'
import { ConsoleProblem, invalidFields } from '../problem.ts'
import { deleteSession, deleteSessions, listSessions } from '../../accounts/session-store.ts'
import type { Sessions } from '../sessions.ts'

const credentials = Type.Object({ username: Type.String({ minLength: 1, maxLength: 200 }), password })

const passwordChange = Type.Object({ current_password: password, new_password: password })

/** New accounts from one address in a quarter of an hour. */
const signUpsByAddress = 10

export function sessionPages(
  api: Api,
  services: Services,
  parts: { sessions: Sessions; passwords: PasswordChecks; version: string },
): void {
  const { db, credits, config, limits } = services
  const { sessions, passwords } = parts
  const signUps = guessLimits(limits.attempts, 'sign-up')

  async function meOf(ask: Ask) {
    const { signedIn } = ask
    return signedIn && describeMe(credits, signedIn, signedIn.user, ask.language)
  }

  api.open(sessionRoutes.start, nothing, async (ask) => ({
    version: parts.version,
    public_url: services.publicUrl(),
    sign_up: config.SIGN_UP === 'on',
    sandbox: [
      ...(config.SMS_GATEWAYS.includes('sandbox') ? (['sms'] as const) : []),
      ...(config.IDENTITY_GATEWAYS.includes('sandbox') ? (['identity'] as const) : []),
      ...(config.DOMAIN_GATEWAYS.includes('sandbox') ? (['domain_check'] as const) : []),
    ],
    prices: config.PRICES,
    me: (await meOf(ask)) ?? null,
  }))

  api.account(sessionRoutes.me, nothing, (ask) =>
    describeMe(credits, ask.signedIn, ask.account, ask.language),
  )

  api.open(sessionRoutes.signIn, credentials, async (ask, sent) => {
    const username = sent.username.trim()
    const account = await findByUsername(db, username)
    await passwords.signIn(username, account, sent.password, ask.address)
    if (!account) throw unauthenticated()
    if (account.suspended === 1) {
      throw new ConsoleProblem('suspended', { zh: '账户已停用', en: 'The account is suspended' })
    }
    const signedIn = await sessions.begin(ask.request, ask.reply, account, ask.address)
    return describeMe(credits, signedIn, account, ask.language)
  })

  api.open(sessionRoutes.signUp, credentials, async (ask, sent) => {
    if (config.SIGN_UP !== 'on') {
      throw new ConsoleProblem('forbidden', { zh: '未开放注册', en: 'Sign-up is closed' })
    }
    const counted = await signUps.begin([{ key: networkOf(ask.address), max: signUpsByAddress }])
    const username = sent.username.trim()
    const account = { username, password: sent.password }
    const created = await createAccount(db, systemActor, account, {
      write: (tx) => insertAudit(tx, { actor: username, action: 'account.sign_up', target: username }),
    }).catch(async (error: unknown) => {
      await counted.right()
      throw toFieldErrors(error)
    })
    const user = await findById(db, created.id)
    if (!user) throw unauthenticated()
    const signedIn = await sessions.begin(ask.request, ask.reply, user, ask.address)
    return describeMe(credits, signedIn, user, ask.language)
  })

  // A suspended account can still leave, and so can whoever's session has just ended.
  api.open(sessionRoutes.signOut, nothing, async (ask) => {
    if (ask.signedIn) sessions.requireToken(ask.request, ask.signedIn)
    await sessions.end(ask.request, ask.reply)
    return {}
  })

  api.account(sessionRoutes.sessions, nothing, async (ask) => {
    const rows = await listSessions(db, ask.account.id)
    return {
      items: rows.map(({ id, created_at, seen_at, address, agent }) => ({
        id,
        current: id === ask.signedIn.session.id,
        created_at,
        seen_at,
        address,
        agent,
      })),
    }
  })

  api.account(sessionRoutes.endOtherSessions, nothing, async (ask) => ({
    ended: await db.write((tx) => deleteSessions(tx, ask.user.id, ask.signedIn.session.id)),
  }))

  api.account(sessionRoutes.endSession, nothing, async (ask) => {
    const id = ask.id()
    if (!(await db.write((tx) => deleteSession(tx, ask.user.id, id)))) {
      throw new ConsoleProblem('not_found', { zh: '会话已结束', en: 'The session has ended already' })
    }
    return {}
  })

  api.account(sessionRoutes.changePassword, passwordChange, async (ask, sent) => {
    await passwords.confirm(ask.user, sent.current_password, ask.address, 'current_password')
    const actor = { kind: 'account', accountId: ask.user.id } as const
    const change = { password: sent.new_password }
    const ended = await changeAccount(db, actor, ask.user, change, ask.signedIn.session.id).catch(
      (error: unknown) => {
        throw error instanceof AppError ? invalidFields({ new_password: error.text }) : error
      },
    )
    return { ended }
  })
}

/** Shows the problems of a rule beside the fields of the form. */
export function toFieldErrors(error: unknown): unknown {
  return error instanceof AppError && error.fields ? invalidFields(error.fields) : error
}

// Signing in and out, the current account, its sessions and its password.
import { type Static, Type } from 'typebox'
import { Empty, password, username } from './fields.ts'
import { type Day, type Moment, route } from './route.ts'
import type { ApiType, Prices } from '../credits.ts'
import type { Language } from '../text.ts'

export type Role = 'account' | 'operator'

export interface Balance {
  readonly api_type: ApiType
  readonly total: number
  readonly used: number
  readonly remaining: number
}

export interface AccountFacts {
  readonly id: number
  readonly username: string
  readonly role: Role
  readonly created_at: Moment
  /** The last valid day; null when the account never expires. */
  readonly expires_on: Day | null
  readonly expired: boolean
  readonly suspended: boolean
  readonly sms_enabled: boolean
  readonly sign_name: string | null
  /** `tg_abcd••••••wxyz`; null when there is no key. */
  readonly key_hint: string | null
  readonly key_created_at: Moment | null
}

export interface Me {
  /** The account that is shown: the user's, or the one an operator views (`view_as`). */
  readonly account: AccountFacts
  readonly balances: readonly Balance[]
  /** Who is signed in. Differs from `account` only while an operator views another account. */
  readonly user: { readonly id: number; readonly username: string; readonly role: Role }
  /** True while an operator views another account. */
  readonly read_only: boolean
  readonly csrf_token: string
  /** The latest time at which the session ends. */
  readonly session_ends_at: Moment
  /** The language of messages. */
  readonly language: Language
}

/** What the first page needs, whether or not the user is signed in. */
export interface Start {
  readonly version: string
  /** {base_url} of the public API, for samples. */
  readonly public_url: string
  /** Whether visitors can create accounts. */
  readonly sign_up: boolean
  /** Products that run on the sandbox gateway, which calls no provider. */
  readonly sandbox: readonly ('sms' | 'identity' | 'domain_check')[]
  /** Credits per call. */
  readonly prices: Prices
  readonly me: Me | null
}

export interface SessionFacts {
  readonly id: number
  /** The session of this request. */
  readonly current: boolean
  readonly created_at: Moment
  readonly seen_at: Moment
  readonly address: string
  /** The user agent, cut to 200 characters. */
  readonly agent: string
}

export const SignIn = Type.Object({ username, password })
export type SignIn = Static<typeof SignIn>

const PasswordChange = Type.Object({ current_password: password, new_password: password })

export const sessionRoutes = {
  start: route('GET', '/start', Empty).returns<Start>(),
  me: route('GET', '/me', Empty).returns<Me>(),
  signIn: route('POST', '/sign-in', SignIn).returns<Me>(),
  /** Only while `sign_up` is on. The new account is signed in. */
  signUp: route('POST', '/sign-up', SignIn).returns<Me>(),
  signOut: route('POST', '/sign-out', Empty).returns<Empty>(),
  sessions: route('GET', '/sessions', Empty).returns<{ readonly items: readonly SessionFacts[] }>(),
  endSession: route('POST', '/sessions/:id/end', Empty).returns<Empty>(),
  endOtherSessions: route('POST', '/sessions/end-others', Empty).returns<{ readonly ended: number }>(),
  /** Ends all other sessions. */
  changePassword: route('POST', '/password', PasswordChange).returns<{ readonly ended: number }>(),
} as const

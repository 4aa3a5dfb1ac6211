// Signing in and out, who I am, my sessions and my password.
import type { ApiType, Prices } from '../credits.ts'
import type { Language } from '../text.ts'
import { type Day, type Empty, type Moment, route } from './route.ts'

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
  /** Last valid day; null: never expires. */
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
  /** The account whose things are shown: one's own, or the one that is looked at (`view_as`). */
  readonly account: AccountFacts
  readonly balances: readonly Balance[]
  /** Who is signed in. The same as `account` unless an operator looks at another's. */
  readonly user: { readonly id: number; readonly username: string; readonly role: Role }
  /** True while another account is looked at. */
  readonly read_only: boolean
  readonly csrf_token: string
  /** When the session ends at the latest. */
  readonly session_ends_at: Moment
  /** In which language this answer would have put its messages. */
  readonly language: Language
}

/** All that the first page needs, without a 401 for those who are not signed in. */
export interface Start {
  readonly version: string
  /** {base_url} of the public interface, for samples. */
  readonly public_url: string
  /** Whether anybody may make an account. */
  readonly sign_up: boolean
  /** Products that run on the sandbox: no SMS is sent, no person and no platform asked. */
  readonly sandbox: readonly ('sms' | 'identity' | 'domain_check')[]
  /** Credits a call takes, as they are in force. */
  readonly prices: Prices
  readonly me: Me | null
}

export interface SignIn {
  readonly username: string
  readonly password: string
}

export interface SessionFacts {
  readonly id: number
  /** The one that asks. */
  readonly current: boolean
  readonly created_at: Moment
  readonly seen_at: Moment
  readonly address: string
  /** The browser's own words, cut to 200 characters. */
  readonly agent: string
}

export interface PasswordChange {
  readonly current_password: string
  readonly new_password: string
}

export const sessionRoutes = {
  start: route<Empty, Start>('GET', '/start'),
  me: route<Empty, Me>('GET', '/me'),
  signIn: route<SignIn, Me>('POST', '/sign-in'),
  /** Only while `sign_up` is on; signs in as well. */
  signUp: route<SignIn, Me>('POST', '/sign-up'),
  signOut: route<Empty, Empty>('POST', '/sign-out'),
  sessions: route<Empty, { readonly items: readonly SessionFacts[] }>('GET', '/sessions'),
  endSession: route<Empty, Empty>('POST', '/sessions/:id/end'),
  endOtherSessions: route<Empty, { readonly ended: number }>('POST', '/sessions/end-others'),
  /** Ends all other sessions. */
  changePassword: route<PasswordChange, { readonly ended: number }>('POST', '/password'),
} as const

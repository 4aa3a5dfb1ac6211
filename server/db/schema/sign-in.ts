// The tables of signing in: second factors, verified mail addresses, links to an OpenID provider, the list of sign-ins.
import type { SecondFactorKind, SignInMethod } from '../../../contract/console/limits.ts'
import type { Flag, Milliseconds } from './columns.ts'

export interface SignInTables {
  second_factor: SecondFactorTable
  recovery_code: RecoveryCodeTable
  account_mail: AccountMailTable
  mail_token: MailTokenTable
  oidc_link: OidcLinkTable
  sign_in: SignInTable
}

interface SecondFactorTable {
  account_id: number
  /** Encrypted. */
  secret: string
  /** The time step of the last accepted code: only a greater one is accepted. */
  last_step: number
  /** Null until a code has confirmed the enrolment. */
  enabled_at: Milliseconds | null
}

/** Unused codes; a code is deleted when it is used. */
interface RecoveryCodeTable {
  account_id: number
  /** Keyed hash. */
  code_hash: string
}

interface AccountMailTable {
  account_id: number
  /** Encrypted. */
  address: string
  /** Keyed hash, for finding accounts by address. */
  address_hash: string
  verified_at: Milliseconds
}

/** A code that verifies an address, or the link that sets a new password. Deleted when it is used. */
interface MailTokenTable {
  id: number
  account_id: number
  purpose: 'verify' | 'recover'
  token_hash: string
  /** Encrypted: the address that gets verified, or that the link was sent to. */
  address: string
  attempts: number
  created_at: Milliseconds
}

interface OidcLinkTable {
  issuer: string
  subject: string
  account_id: number
  /** What the provider calls the user, for display only. */
  name: string
  linked_at: Milliseconds
}

interface SignInTable {
  id: number
  account_id: number
  at: Milliseconds
  address: string
  /** The address range by which a known network is recognised. */
  network: string
  /** Province or country; empty when unknown. */
  place: string
  /** Browser and operating system. */
  device: string
  agent: string
  method: SignInMethod
  second_factor: SecondFactorKind
  /** The account had signed in before, but never from this device or network. */
  is_new: Flag
}

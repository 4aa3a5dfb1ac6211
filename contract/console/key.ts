// The API key: shown whole once, masked ever after.
import { type Empty, type Moment, route } from './route.ts'

export interface KeyState {
  readonly hint: string | null
  readonly created_at: Moment | null
  /** Calls with the key in the last 24 hours: what a reset or a clear would break. */
  readonly calls_24h: number
  readonly last_call_at: Moment | null
}

export interface NewKey {
  /** The whole key, this once. */
  readonly api_key: string
  readonly hint: string
}

export interface WithPassword {
  readonly password: string
}

export const keyRoutes = {
  state: route<Empty, KeyState>('GET', '/key'),
  /** Only while there is none: `conflict` otherwise. */
  generate: route<Empty, NewKey>('POST', '/key'),
  reset: route<WithPassword, NewKey>('POST', '/key/reset'),
  clear: route<WithPassword, Empty>('POST', '/key/clear'),
} as const

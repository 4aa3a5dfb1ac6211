// The API key. The whole key is in the response that creates it, and nowhere else.
import { Type } from 'typebox'
import { Empty, password } from './fields.ts'
import { type Moment, route } from './route.ts'
export interface KeyState {
  readonly hint: string | null
  readonly created_at: Moment | null
  /** Calls with the key in the last 24 hours, which a reset would break. */
  readonly calls_24h: number
  readonly last_call_at: Moment | null
}

export interface NewKey {
  readonly api_key: string
  readonly hint: string
}

const WithPassword = Type.Object({ password })

export const keyRoutes = {
  state: route('GET', '/key', Empty).returns<KeyState>(),
  /** `conflict` when the account has a key. */
  generate: route('POST', '/key', Empty).returns<NewKey>(),
  reset: route('POST', '/key/reset', WithPassword).returns<NewKey>(),
  clear: route('POST', '/key/clear', WithPassword).returns<Empty>(),
} as const

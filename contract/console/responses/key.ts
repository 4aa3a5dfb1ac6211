// Responses about the API key.
import { Type } from 'typebox'
import type { ResponseOf } from '../route.ts'
import { Empty } from '../fields.ts'
import { moment, orNull } from './fields.ts'

export const KeyState = Type.Object({
  hint: orNull(Type.String()),
  created_at: orNull(moment),
  /** Calls with the key in the last 24 hours, which a reset would break. */
  calls_24h: Type.Integer(),
  last_call_at: orNull(moment),
})
export type KeyState = ResponseOf<typeof KeyState>

const NewKey = Type.Object({
  api_key: Type.String(),
  hint: Type.String(),
})

export const keyResponses = {
  state: KeyState,
  generate: NewKey,
  reset: NewKey,
  clear: Empty,
}

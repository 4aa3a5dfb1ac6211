// The API key. The whole key is in the response that creates it, and nowhere else.
import { Type } from 'typebox'
import { route, withResponses } from './route.ts'
import { password, Empty } from './fields.ts'
import type { keyResponses } from './responses/key.ts'

/** Without the password, the user must have confirmed who they are. */
const WithPassword = Type.Object({ password: Type.Optional(password) })

export const keyRoutes = withResponses<typeof keyResponses>()({
  state: route('GET', '/key', Empty),
  /** `conflict` when the account has a key. */
  generate: route('POST', '/key', Empty),
  reset: route('POST', '/key/reset', WithPassword),
  clear: route('POST', '/key/clear', WithPassword),
})

// Operator pages about operators: roles and tokens. Owners only.
import { type Static, Type } from 'typebox'
import { Empty, note, Noted, optionalDay } from './fields.ts'
import { maxUsernameLength } from './limits.ts'
import type { operatorAdminResponses } from './responses/operators.ts'
import { operatorRoles, tokenScopes } from './roles.ts'
import { route, withResponses } from './route.ts'

export const maxTokenNameLength = 50

/** Tokens that are not revoked. */
export const maxTokens = 100

const NewOperator = Type.Object({
  username: Type.String({ minLength: 1, maxLength: maxUsernameLength }),
  role: Type.Enum([...operatorRoles]),
  note,
})

const RoleChange = Type.Object({ role: Type.Enum([...operatorRoles]), note })

const NewToken = Type.Object({
  name: Type.String({ minLength: 1, maxLength: maxTokenNameLength }),
  scopes: Type.Array(Type.Enum([...tokenScopes]), { minItems: 1, maxItems: tokenScopes.length }),
  /** The last valid day. */
  expires_on: optionalDay,
  note,
})
export type NewToken = Static<typeof NewToken>

export const operatorAdminRoutes = withResponses<typeof operatorAdminResponses>()({
  /** The password is shown only in this response. Needs a confirmation. */
  createOperator: route('POST', '/operator/operators', NewOperator),
  /** Changes the role of an operator. There is always an owner. */
  changeRole: route('PUT', '/operator/accounts/:id/role', RoleChange),
  tokens: route('GET', '/operator/tokens', Empty),
  /** The token is shown only in this response. */
  createToken: route('POST', '/operator/tokens', NewToken),
  revokeToken: route('POST', '/operator/tokens/:id/revoke', Noted),
})

// Responses about roles and tokens of operators.
import { Type } from 'typebox'
import { operatorRoles, tokenScopes } from '../roles.ts'
import type { ResponseOf } from '../route.ts'
import { day, Empty } from '../fields.ts'
import { listOf, moment, orNull } from './fields.ts'

const operatorRole = Type.Enum([...operatorRoles])

export const TokenFacts = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  /** The operator who created it. The token never has more rights than they have. */
  operator: Type.String(),
  scopes: Type.Array(Type.Enum([...tokenScopes])),
  /** `tgo_abcd••••••wxyz` */
  hint: Type.String(),
  created_at: moment,
  used_at: orNull(moment),
  /** The last valid day; null: valid until it is revoked. */
  expires_on: orNull(day),
  expired: Type.Boolean(),
})
export type TokenFacts = ResponseOf<typeof TokenFacts>

const CreatedOperator = Type.Object({
  account: Type.Object({ id: Type.Integer(), username: Type.String(), operator_role: operatorRole }),
  password: Type.String(),
})

export const operatorAdminResponses = {
  createOperator: CreatedOperator,
  changeRole: Type.Object({ role: operatorRole }),
  /** Newest first, without revoked ones. */
  tokens: listOf(TokenFacts),
  createToken: Type.Object({ token: TokenFacts, secret: Type.String() }),
  revokeToken: Empty,
}

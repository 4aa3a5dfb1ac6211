// Roles and tokens of operators, for owners.
import { operatorAdminRoutes } from '../../../contract/console/operators.ts'
import type { TokenFacts } from '../../../contract/console/responses/operators.ts'
import type { TokenScope } from '../../../contract/console/roles.ts'
import { createAccount } from '../../accounts/accounts.ts'
import { listTokens, type OperatorToken } from '../../accounts/operator-token-store.ts'
import { changeRole, createToken, isTokenExpired, revokeToken } from '../../accounts/operators.ts'
import type { Services } from '../../services.ts'
import { toFieldErrors } from '../account/sign-in.ts'
import { requireConfirmation } from '../confirmation.ts'
import { operatorOf } from '../operator-actor.ts'
import { notFound } from '../problem.ts'
import type { Api } from '../routes.ts'
import { tokenPurpose } from '../token-access.ts'
import { requireAccount } from './accounts.ts'

export function operatorPages(api: Api, services: Services): void {
  const { db } = services

  api.operator(operatorAdminRoutes.createOperator, async (request, input) => {
    requireConfirmation(request)
    const { id, username, password } = await createAccount(db, operatorOf(request, input), {
      username: input.username.trim(),
      role: 'operator',
      operatorRole: input.role,
    }).catch((error: unknown) => {
      throw toFieldErrors(error)
    })
    return { account: { id, username, operator_role: input.role }, password }
  })

  api.operator(operatorAdminRoutes.changeRole, async (request, input) => {
    requireConfirmation(request)
    const account = await requireAccount(db, request)
    await changeRole(db, operatorOf(request, input), account, input.role).catch((error: unknown) => {
      throw toFieldErrors(error)
    })
    return { role: input.role }
  })

  api.operator(operatorAdminRoutes.tokens, async () => ({
    items: (await listTokens(db)).map((token) => describeToken(token, token.username)),
  }))

  api.operator(operatorAdminRoutes.createToken, async (request, input) => {
    requireConfirmation(request)
    const { token, secret } = await createToken(
      db,
      operatorOf(request, input),
      request.user,
      input,
      services.secretFor(tokenPurpose),
    ).catch((error: unknown) => {
      throw toFieldErrors(error)
    })
    return { token: describeToken(token, request.user.username), secret }
  })

  api.operator(operatorAdminRoutes.revokeToken, async (request, input) => {
    requireConfirmation(request)
    if (!(await revokeToken(db, operatorOf(request, input), request.id()))) throw notFound()
    return {}
  })
}

function describeToken(token: OperatorToken, operator: string): TokenFacts {
  return {
    id: token.id,
    name: token.name,
    operator,
    scopes: token.scopes.split(',') as TokenScope[],
    hint: token.hint,
    created_at: token.created_at,
    used_at: token.used_at,
    expires_on: token.expires_on,
    expired: isTokenExpired(token),
  }
}

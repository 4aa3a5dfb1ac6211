// The account in console responses, without secrets.
import type { AccountFacts, Me } from '../../../contract/console/responses/session.ts'
import type { Language } from '../../../contract/text.ts'
import { isExpired } from '../../accounts/accounts.ts'
import type { Account } from '../../accounts/store.ts'
import { pricesOf } from '../../accounts/prices.ts'
import type { Services } from '../../services.ts'
import { absoluteMs } from '../../accounts/session-store.ts'
import { confirmWith } from '../confirmation.ts'
import type { SignedIn } from '../sessions.ts'

export function describeAccount(account: Account): AccountFacts {
  return {
    id: account.id,
    username: account.username,
    role: account.role,
    operator_role: operatorRoleOf(account),
    created_at: account.created_at,
    expires_on: account.expires_on,
    expired: isExpired(account),
    suspended: account.suspended === 1,
    sms_enabled: account.sms_enabled === 1,
    sign_name: account.sign_name,
    key_hint: account.key_hint,
    key_created_at: account.key_created_at,
  }
}

function operatorRoleOf({ role, operator_role: operatorRole }: Account) {
  return role === 'operator' ? operatorRole : null
}

export async function describeMe(
  { credits, config }: Pick<Services, 'credits' | 'config'>,
  signedIn: SignedIn,
  account: Account,
  language: Language,
): Promise<Me> {
  const { user, session, csrfToken, mustEnrol } = signedIn
  return {
    account: describeAccount(account),
    balances: await credits.balances(account.id),
    prices: pricesOf(account, config.PRICES),
    user: {
      id: user.id,
      username: user.username,
      role: user.role,
      operator_role: operatorRoleOf(user),
      must_enrol: mustEnrol,
    },
    confirm_with: confirmWith(signedIn),
    read_only: account.id !== user.id,
    csrf_token: csrfToken,
    session_ends_at: session.created_at + absoluteMs,
    language,
  }
}

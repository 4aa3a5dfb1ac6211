// Checks again, in the transaction of a free change, what the caller was allowed when the call began. A charge does the same for paid calls.
import type { Tx } from '../db/database.ts'
import { forUpdate } from '../db/dialect.ts'
import type { Call } from '../http/call.ts'
import { type Caller, requireNotExpired, requireNotSuspended, wrongCredentials } from './authenticate.ts'
import { requireKeyAllows } from './key-limits.ts'
import type { Account } from './store.ts'

type AccountState = Pick<Account, 'key_hash' | 'suspended' | 'expires_on' | 'scopes' | 'allow_ips'>

/** To be called first: accounts are locked before anything else. `expired` is the status for an expired account. */
export async function requireStillAllowed(
  tx: Tx,
  call: Call,
  { account, keyHash }: Caller,
  expired: 400 | 403,
): Promise<void> {
  const now = await tx.one<AccountState>(
    `SELECT key_hash, suspended, expires_on, scopes, allow_ips FROM account WHERE id = ?${forUpdate(tx, 'FOR SHARE')}`,
    [account.id],
  )
  if (!now || (keyHash !== undefined && keyHash !== now.key_hash)) throw wrongCredentials()
  if (keyHash !== undefined)
    requireKeyAllows(now, call.endpoint.operations[call.trace.action ?? '']?.scope, call.address)
  requireNotSuspended(now)
  requireNotExpired(now, expired)
}

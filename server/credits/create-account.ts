// Creates an account with its first credits, and its API key if wanted, in one transaction.
import type { Actor } from '../audit/audit.ts'
import type { AuditDetails } from '../audit/store.ts'
import type { ApiType } from '../../contract/credits.ts'
import { createAccount, type AccountWithSecrets, type NewAccountInput } from '../accounts/accounts.ts'
import { loadKeySecret } from '../accounts/key-secret-store.ts'
import { formatKeyHint, generateApiKey, hashKey } from '../accounts/key.ts'
import { replaceKey } from '../accounts/store.ts'
import type { Database, Tx } from '../db/database.ts'
import { requireAmount } from './credits.ts'
import { addCredits } from './store.ts'

export interface FirstGrant {
  readonly apiType: ApiType
  readonly amount: number
  readonly note?: string
}

export async function createAccountWithCredits(
  db: Database,
  actor: Actor,
  input: NewAccountInput,
  grants: readonly FirstGrant[],
): Promise<AccountWithSecrets & { readonly apiKey: string }> {
  for (const { amount } of grants) requireAmount(amount)
  const apiKey = generateApiKey(await loadKeySecret(db))
  const account = await createAccount(db, actor, input, {
    details: detailsOf(grants),
    async write(tx, accountId) {
      await addGrants(tx, accountId, grants)
      await replaceKey(tx, accountId, { hash: hashKey(apiKey), hint: formatKeyHint(apiKey) })
    },
  })
  return { ...account, apiKey }
}

/** As above, but the account holder creates the API key. */
export function createAccountWithoutKey(
  db: Database,
  actor: Actor,
  input: NewAccountInput,
  grants: readonly FirstGrant[],
): Promise<AccountWithSecrets> {
  for (const { amount } of grants) requireAmount(amount)
  return createAccount(db, actor, input, {
    details: detailsOf(grants),
    write: (tx, accountId) => addGrants(tx, accountId, grants),
  })
}

async function addGrants(tx: Tx, accountId: number, grants: readonly FirstGrant[]): Promise<void> {
  for (const { apiType, amount, note } of grants) {
    await addCredits(tx, { accountId, apiType, kind: 'grant', amount, note: note ?? null })
  }
}

function detailsOf(grants: readonly FirstGrant[]): AuditDetails {
  return Object.fromEntries(grants.map(({ apiType, amount }) => [apiType, amount]))
}

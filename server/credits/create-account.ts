// Creates an account with its first credits and its API key in one transaction.
import type { ApiType } from '../../contract/credits.ts'
import { createAccount, type CreatedAccount, type NewAccountInput } from '../accounts/accounts.ts'
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
  input: NewAccountInput,
  grants: readonly FirstGrant[],
  inSameTransaction?: (tx: Tx, id: number) => Promise<void>,
): Promise<CreatedAccount & { readonly apiKey: string }> {
  for (const { amount } of grants) requireAmount(amount)
  const apiKey = generateApiKey()
  const account = await createAccount(db, input, async (tx, accountId) => {
    for (const { apiType, amount, note } of grants) {
      await addCredits(tx, { accountId, apiType, kind: 'grant', amount, note: note ?? null })
    }
    await replaceKey(tx, accountId, { hash: hashKey(apiKey), hint: formatKeyHint(apiKey) })
    await inSameTransaction?.(tx, accountId)
  })
  return { ...account, apiKey }
}

// A new account with its first credits and its key, all of it or nothing.
import type { ApiType } from '../../contract/credits.ts'
import { createAccount, type CreatedAccount } from '../accounts/accounts.ts'
import { hashKey, hintOfKey, makeKey } from '../accounts/key.ts'
import { replaceKey } from '../accounts/store.ts'
import type { Database, Tx } from '../db/database.ts'
import { requireAmount } from './credits.ts'
import { addCredits } from './store.ts'

export interface FirstGrant {
  readonly apiType: ApiType
  readonly amount: number
  readonly note?: string
}

export async function openAccount(
  db: Database,
  wish: Parameters<typeof createAccount>[1],
  grants: readonly FirstGrant[],
  alongside?: (tx: Tx, id: number) => Promise<void>,
): Promise<CreatedAccount & { readonly apiKey: string }> {
  for (const { amount } of grants) requireAmount(amount)
  const apiKey = makeKey()
  const made = await createAccount(db, wish, async (tx, accountId) => {
    for (const { apiType, amount, note } of grants) {
      await addCredits(tx, { accountId, apiType, kind: 'grant', amount, note: note ?? null })
    }
    await replaceKey(tx, accountId, { hash: hashKey(apiKey), hint: hintOfKey(apiKey) })
    await alongside?.(tx, accountId)
  })
  return { ...made, apiKey }
}

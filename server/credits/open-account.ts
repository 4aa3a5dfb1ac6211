// A new account with its first credits and its key, all of it or nothing.
import type { ApiType } from '../../contract/credits.ts'
import { type AccountDraft, draftAccount, makeKeyRow, nameTaken } from '../accounts/accounts.ts'
import { insertAccount, replaceKey } from '../accounts/store.ts'
import type { Database } from '../db/database.ts'
import { requireAmount } from './credits.ts'
import { addCredits } from './store.ts'

export interface OpenedAccount {
  readonly id: number
  readonly username: string
  readonly password: string
  readonly apiKey: string
}

export async function openAccount(
  db: Database,
  wish: AccountDraft,
  grants: readonly { readonly apiType: ApiType; readonly amount: number; readonly note?: string }[],
): Promise<OpenedAccount> {
  for (const { amount } of grants) requireAmount(amount)
  const { row, password } = await draftAccount(wish)
  const { key, hash, hint } = makeKeyRow()
  const id = await db.write(async (tx) => {
    const accountId = await insertAccount(tx, row)
    if (accountId === undefined) throw nameTaken()
    for (const { apiType, amount, note } of grants) {
      await addCredits(tx, { accountId, apiType, kind: 'grant', amount, note: note ?? null })
    }
    await replaceKey(tx, accountId, { hash, hint })
    return accountId
  })
  return { id, username: wish.username, password, apiKey: key }
}

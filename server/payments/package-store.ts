// Packages of credits.
import { countRows } from '../db/count-rows.ts'
import type { Queries, Tx } from '../db/database.ts'
import { forUpdate } from '../db/dialect.ts'
import type { Tables } from '../db/schema.ts'

export type PackageRow = Readonly<Tables['credit_package']>

export function listPackages(queries: Queries): Promise<PackageRow[]> {
  return queries.all<PackageRow>('SELECT * FROM credit_package ORDER BY price, id')
}

export function findPackage(queries: Queries, code: string): Promise<PackageRow | undefined> {
  return queries.one<PackageRow>('SELECT * FROM credit_package WHERE code = ?', [code])
}

/** Locked until the transaction ends. */
export function lockPackage(tx: Tx, code: string): Promise<PackageRow | undefined> {
  return tx.one<PackageRow>(`SELECT * FROM credit_package WHERE code = ?${forUpdate(tx)}`, [code])
}

export function countPackages(queries: Queries): Promise<number> {
  return countRows(queries, 'credit_package')
}

type PackageValues = Pick<PackageRow, 'name' | 'credits' | 'price' | 'currency' | 'hidden'>

/** False when the code is taken. */
export async function insertPackage(tx: Tx, code: string, values: PackageValues): Promise<boolean> {
  const inserted = await tx.run(
    `INSERT INTO credit_package (code, name, credits, price, currency, hidden, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ${tx.now}) ON CONFLICT (code) DO NOTHING`,
    [code, values.name, values.credits, values.price, values.currency, values.hidden],
  )
  return inserted === 1
}

export async function updatePackage(tx: Tx, code: string, values: PackageValues): Promise<void> {
  await tx.run(
    'UPDATE credit_package SET name = ?, credits = ?, price = ?, currency = ?, hidden = ? WHERE code = ?',
    [values.name, values.credits, values.price, values.currency, values.hidden, code],
  )
}

export async function deletePackage(tx: Tx, code: string): Promise<boolean> {
  return (await tx.run('DELETE FROM credit_package WHERE code = ?', [code])) === 1
}

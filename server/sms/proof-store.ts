// The proof files of signatures.
import type { Queries, Tx } from '../db/database.ts'
import type { Tables } from '../db/schema.ts'

export type ProofRow = Tables['sms_signature_proof']

/** A file without its content. */
export type ListedProof = Omit<ProofRow, 'content'>

const listedColumns = 'id, signature_id, account_id, name, media_type, size, created_at'

/** Of these signatures, oldest first. */
export async function findProofs(queries: Queries, signatureIds: readonly number[]): Promise<ListedProof[]> {
  if (signatureIds.length === 0) return []
  return queries.kysely
    .selectFrom('sms_signature_proof')
    .select(['id', 'signature_id', 'account_id', 'name', 'media_type', 'size', 'created_at'])
    .where('signature_id', 'in', signatureIds)
    .orderBy('id')
    .execute()
}

export function findProof(queries: Queries, id: number): Promise<ProofRow | undefined> {
  return queries.one<ProofRow>('SELECT * FROM sms_signature_proof WHERE id = ?', [id])
}

export async function countProofs(
  queries: Queries,
  accountId: number,
  signatureId: number,
): Promise<{ files: number; bytes: number }> {
  const row = await queries.one<{ files: number; bytes: number | null }>(
    `SELECT SUM(CASE WHEN signature_id = ? THEN 1 ELSE 0 END) AS files, SUM(size) AS bytes
     FROM sms_signature_proof WHERE account_id = ?`,
    [signatureId, accountId],
  )
  return { files: Number(row?.files ?? 0), bytes: Number(row?.bytes ?? 0) }
}

export async function insertProof(tx: Tx, proof: Omit<ProofRow, 'id' | 'created_at'>): Promise<ListedProof> {
  const row = await tx.one<ListedProof>(
    `INSERT INTO sms_signature_proof (signature_id, account_id, name, media_type, size, content, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ${tx.now}) RETURNING ${listedColumns}`,
    [proof.signature_id, proof.account_id, proof.name, proof.media_type, proof.size, proof.content],
  )
  return row!
}

export async function deleteProof(tx: Tx, signatureId: number, id: number): Promise<boolean> {
  return (
    (await tx.run('DELETE FROM sms_signature_proof WHERE id = ? AND signature_id = ?', [id, signatureId])) ===
    1
  )
}

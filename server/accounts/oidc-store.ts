// The table of links between accounts and users of the OpenID provider.
import type { Queries, Tx } from '../db/database.ts'
import type { Tables } from '../db/schema.ts'

export type OidcLink = Readonly<Tables['oidc_link']>

const columns = 'issuer, subject, account_id, name, linked_at'

export function findOidcLink(
  queries: Queries,
  issuer: string,
  subject: string,
): Promise<OidcLink | undefined> {
  return queries.one<OidcLink>(`SELECT ${columns} FROM oidc_link WHERE issuer = ? AND subject = ?`, [
    issuer,
    subject,
  ])
}

export function listOidcLinks(queries: Queries, accountId: number): Promise<OidcLink[]> {
  return queries.all<OidcLink>(
    `SELECT ${columns} FROM oidc_link WHERE account_id = ? ORDER BY linked_at, subject`,
    [accountId],
  )
}

/** False when the subject is linked already. */
export async function insertOidcLink(tx: Tx, link: Omit<OidcLink, 'linked_at'>): Promise<boolean> {
  const inserted = await tx.run(
    `INSERT INTO oidc_link (issuer, subject, account_id, name, linked_at) VALUES (?, ?, ?, ?, ${tx.now})
     ON CONFLICT (issuer, subject) DO NOTHING`,
    [link.issuer, link.subject, link.account_id, link.name],
  )
  return inserted === 1
}

export async function deleteOidcLink(
  tx: Tx,
  accountId: number,
  issuer: string,
  subject: string,
): Promise<boolean> {
  const deleted = await tx.run('DELETE FROM oidc_link WHERE account_id = ? AND issuer = ? AND subject = ?', [
    accountId,
    issuer,
    subject,
  ])
  return deleted === 1
}

export async function deleteOidcSessions(tx: Tx, accountId: number): Promise<void> {
  await tx.run(`DELETE FROM console_session WHERE account_id = ? AND method = 'oidc'`, [accountId])
}

// Contact data and notes that operators keep about an account. Account holders do not see them.
import { type OperatorActor, recordChange } from '../audit/audit.ts'
import type { Queries, Tx } from '../db/database.ts'
import type { Tables } from '../db/schema.ts'

export type Contact = Readonly<Pick<Tables['account_contact'], 'company' | 'name' | 'phone' | 'mail'>>

export type AccountNote = Readonly<Pick<Tables['account_note'], 'id' | 'at' | 'author' | 'note'>>

/** Further notes delete the oldest ones. */
const maxNotes = 500

export function findContact(queries: Queries, accountId: number): Promise<Contact | undefined> {
  return queries.one<Contact>('SELECT company, name, phone, mail FROM account_contact WHERE account_id = ?', [
    accountId,
  ])
}

export async function setContact(
  tx: Tx,
  actor: OperatorActor,
  accountId: number,
  contact: Contact,
): Promise<void> {
  // The audit log says that it changed; the data itself is personal.
  await recordChange(tx, actor, 'account.contact', { accountId })
  await tx.run(
    `INSERT INTO account_contact (account_id, company, name, phone, mail, updated_at) VALUES (?, ?, ?, ?, ?, ${tx.now})
     ON CONFLICT (account_id) DO UPDATE SET company = excluded.company, name = excluded.name, phone = excluded.phone,
       mail = excluded.mail, updated_at = excluded.updated_at`,
    [accountId, contact.company, contact.name, contact.phone, contact.mail],
  )
}

export function findNotes(queries: Queries, accountId: number): Promise<AccountNote[]> {
  return queries.all<AccountNote>(
    `SELECT id, at, author, note FROM account_note WHERE account_id = ? ORDER BY id DESC LIMIT ${maxNotes}`,
    [accountId],
  )
}

/** The text is the actor's note. The audit log says that there is one; the text itself is personal. */
export async function insertNote(
  tx: Tx,
  actor: OperatorActor,
  accountId: number,
  author: string,
): Promise<void> {
  await recordChange(tx, { ...actor, note: '' }, 'account.note', { accountId })
  await tx.run(`INSERT INTO account_note (account_id, at, author, note) VALUES (?, ${tx.now}, ?, ?)`, [
    accountId,
    author,
    actor.note ?? '',
  ])
  await tx.run(
    `DELETE FROM account_note WHERE account_id = ? AND id < (SELECT MIN(id) FROM (SELECT id FROM account_note
       WHERE account_id = ? ORDER BY id DESC LIMIT ${maxNotes}) newest)`,
    [accountId, accountId],
  )
}

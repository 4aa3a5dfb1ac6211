// Chosen codes in the index of all codes.
import { bulkInsert, insertRows } from '../../db/bulk-insert.ts'
import type { Queries, Tx } from '../../db/database.ts'
import { idList } from '../../db/dialect.ts'
import type { Tables } from '../../db/schema.ts'
import type { Codes } from './store.ts'

export const chosenCodeInsert = bulkInsert(
  'link_code',
  { position: 'bigint', link_id: 'bigint', code: 'text' },
  'ON CONFLICT (position) DO NOTHING',
)

/** A chosen code is or was in use. */
export class ChosenCodeTaken extends Error {
  /** Positions in the list of links. */
  readonly indexes: readonly number[]

  constructor(indexes: readonly number[]) {
    super('a chosen code is taken')
    this.indexes = indexes
  }
}

export function requirePosition(codes: Codes, code: string): number {
  const position = codes.positionOf(code)
  if (position === undefined) throw new Error('a chosen code was not checked')
  return position
}

export async function insertChosenCode(tx: Tx, linkId: number, code: string, codes: Codes): Promise<string> {
  const position = requirePosition(codes, code)
  const row = { position, link_id: linkId, code: position < 0 ? code : null }
  if ((await insertRows(tx, chosenCodeInsert, [row])) === 0) throw new ChosenCodeTaken([0])
  return code
}

/** Which of these codes are or were in use. Texts that are no codes are not. */
export async function findTakenCodes(
  queries: Queries,
  chosen: readonly string[],
  codes: Codes,
): Promise<Set<string>> {
  const byPosition = new Map<number, string>()
  for (const code of chosen) {
    const position = codes.positionOf(code)
    if (position !== undefined) byPosition.set(position, code)
  }
  if (byPosition.size === 0) return new Set()
  const list = idList(queries, [...byPosition.keys()])
  const rows = await queries.all<Pick<Tables['link_code'], 'position'>>(
    `SELECT position FROM link_code WHERE position IN ${list.sql}`,
    [list.value],
  )
  return new Set(rows.map(({ position }) => byPosition.get(position)!))
}

// Searches for a part of a text. The case of ASCII letters is ignored, on both engines alike.
import { type RawBuilder, sql } from 'kysely'
import type { Queries } from './database.ts'

export function containsText(queries: Queries, column: string, text: string): RawBuilder<boolean> {
  return sql<boolean>`${sql.raw(searchableText(queries, column))} LIKE ${searchPattern(text)} ESCAPE '!'`
}

function searchableText({ engine }: Queries, column: string): string {
  // LIKE of SQLite ignores the case of ASCII letters itself. The collation C knows the case of no other letters.
  return engine === 'sqlite' ? column : `LOWER(${column} COLLATE "C")`
}

function searchPattern(text: string): string {
  const lower = text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
  return `%${lower.replaceAll(/[!%_]/g, '!$&')}%`
}

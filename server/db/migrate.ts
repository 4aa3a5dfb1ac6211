// Brings the schema up to date at start: the same list for both engines, one transaction, under a lock.
import type { ColumnBuilderCallback } from 'kysely'
import type { Database, Engine, Tx } from './database.ts'
import { lock } from './dialect.ts'
import { migrations } from './migrations/list.ts'

/** Where the engines' schema languages differ, and nowhere else. */
export interface ColumnTypes {
  /** A whole number that the database assigns, growing, never given out twice. */
  readonly identity: readonly ['integer' | 'bigint', ColumnBuilderCallback]
}

export type Migration = (tx: Tx, column: ColumnTypes) => Promise<void>

export interface NamedMigration {
  readonly name: string
  readonly run: Migration
}

const columnTypes: Record<Engine, ColumnTypes> = {
  sqlite: { identity: ['integer', (c) => c.primaryKey().autoIncrement()] },
  postgres: { identity: ['bigint', (c) => c.primaryKey().generatedByDefaultAsIdentity()] },
}

/** Any number will do, as long as every process asks for the same one. */
const migrationLock = 7_402_318

/** Applies what is missing and returns its names. A database from a newer version is refused. */
export async function migrate(db: Database): Promise<readonly string[]> {
  return db.write(async (tx) => {
    // SQLite's write transaction is the lock already.
    await lock(tx, migrationLock)
    await tx.kysely.schema
      .createTable('migration')
      .ifNotExists()
      .addColumn('name', 'text', (c) => c.primaryKey())
      .addColumn('applied_at', 'bigint', (c) => c.notNull())
      .execute()
    const q = tx.kysely
    const applied = new Set((await q.selectFrom('migration').select('name').execute()).map((row) => row.name))
    const known = new Set(migrations.map((migration) => migration.name))
    const unknown = [...applied].filter((name) => !known.has(name))
    if (unknown.length > 0) throw new SchemaTooNew(unknown)
    const missing = migrations.filter((migration) => !applied.has(migration.name))
    for (const migration of missing) {
      await migration.run(tx, columnTypes[tx.engine])
      await q.insertInto('migration').values({ name: migration.name, applied_at: Date.now() }).execute()
    }
    return missing.map((migration) => migration.name)
  })
}

export class SchemaTooNew extends Error {
  constructor(unknown: readonly string[]) {
    super(`the database was migrated by a newer version (${unknown.join(', ')})`)
    this.name = 'SchemaTooNew'
  }
}

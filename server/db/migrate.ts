// Brings the schema up to date at start: the same list for both engines, one transaction, under a lock.
import type { Text } from '../../contract/text.ts'
import type { Database } from './database.ts'
import { lock } from './dialect.ts'
import { migrations } from './migrations/list.ts'
import { columnTypes } from './migrations/migration.ts'
import type { Tables } from './schema.ts'

/** Any number, as long as every process uses the same one. */
const migrationLock = 7_402_318

/** Applies the missing migrations and returns their names. */
export async function migrate(db: Database): Promise<readonly string[]> {
  return db.write(async (tx) => {
    await lock(tx, migrationLock)
    await tx.run('CREATE TABLE IF NOT EXISTS migration (name text PRIMARY KEY, applied_at bigint NOT NULL)')
    const rows = await tx.all<Pick<Tables['migration'], 'name'>>('SELECT name FROM migration')
    const applied = rows.map(({ name }) => name)
    const problem = findSchemaProblem(applied)
    if (problem) throw new SchemaMismatch(problem)
    const missing = migrations.filter(({ name }) => !applied.includes(name))
    for (const migration of missing) {
      await migration.run(tx, columnTypes[tx.engine])
      await tx.run('INSERT INTO migration (name, applied_at) VALUES (?, ?)', [migration.name, Date.now()])
    }
    return missing.map(({ name }) => name)
  })
}

/** The first migration of the development versions before 0.2.0, which started over with the present list. */
const firstOldMigration = '0001-foundation'

/** Why this version cannot work on a database with these migrations; undefined when it can. */
export function findSchemaProblem(applied: readonly string[]): Text | undefined {
  if (applied.includes(firstOldMigration)) {
    return {
      zh: '数据库由开发版本创建，最后能读取它的版本是 0.1.0',
      en: 'the database was created by a development version; the last version that can read it is 0.1.0',
    }
  }
  const unknown = applied.filter((name) => !migrations.some((migration) => migration.name === name))
  if (unknown.length === 0) return undefined
  return {
    zh: `数据库由更新的版本升级过：${unknown.join(', ')}`,
    en: `the database was migrated by a newer version (${unknown.join(', ')})`,
  }
}

export class SchemaMismatch extends Error {
  readonly text: Text

  constructor(text: Text) {
    super(text.en)
    this.name = 'SchemaMismatch'
    this.text = text
  }
}

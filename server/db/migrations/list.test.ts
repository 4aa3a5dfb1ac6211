// A newer version migrates while processes of the previous version go on: what they use must stay.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { freshDatabase, onEachEngine } from '../../../test/support/engines.ts'
import type { Engine, Tx } from '../database.ts'
import { isNewer, oldestVersionAt } from '../migrate.ts'
import { migrations } from './list.ts'
import { columnTypes, type Migration } from './migration.ts'

/** The baselines of 0.2.0: no version before them works on their schema. */
const baselines = 7

/** The statements of a migration, which do not run. */
async function statementsOf(migration: Migration, engine: Engine): Promise<string[]> {
  const statements: string[] = []
  const record = async (sql: string) => {
    statements.push(sql.replaceAll(/\s+/g, ' '))
    return [] as never
  }
  const tx = { engine, now: '0', all: record, one: record, run: record, insert: record }
  await migration.run(tx as unknown as Tx, columnTypes[engine])
  return statements
}

/** What a version that does not know the change may fail on. */
function breakingParts(statements: readonly string[]): string[] {
  const created = statements.flatMap((sql) => /CREATE (?:UNLOGGED )?TABLE (\w+)/.exec(sql)?.[1] ?? [])
  const added = statements.flatMap((sql) => {
    const match = /ALTER TABLE (\w+) ADD COLUMN (\w+)(?!.*DEFAULT)/i.exec(sql)
    return match ? `${match[1]}.${match[2]}` : []
  })
  return statements.filter((sql) => {
    if (/\b(DROP (TABLE|COLUMN|CONSTRAINT|VIEW|FUNCTION)|RENAME|ALTER COLUMN|SET NOT NULL)\b/i.test(sql))
      return true
    if (/^TRUNCATE\b/i.test(sql)) return true
    const altered = /ALTER TABLE (\w+)/i.exec(sql)?.[1]
    if (altered !== undefined && !created.includes(altered)) {
      if (/\b(ADD CONSTRAINT|UNIQUE|PRIMARY KEY|REFERENCES|CHECK)\b/i.test(sql)) return true
      if (/NOT NULL/i.test(sql) && !/DEFAULT/i.test(sql)) return true
    }
    // Older versions leave a new column null, and nulls are never equal.
    const [, indexed, columns = ''] = /CREATE UNIQUE INDEX \w+ ON (\w+) \(([^)]*)\)/i.exec(sql) ?? []
    const isOld = (column: string) => !added.includes(`${indexed}.${column.trim()}`)
    return indexed !== undefined && !created.includes(indexed) && columns.split(',').every(isOld)
  })
}

describe('migrations', () => {
  for (const engine of ['sqlite', 'postgres'] as const) {
    it(`after the baselines only add, unless they name the oldest version that works with them (${engine})`, async () => {
      for (const migration of migrations.slice(baselines)) {
        if (migration.oldestVersion !== undefined) continue
        assert.deepEqual(breakingParts(await statementsOf(migration, engine)), [], migration.name)
      }
    })
  }

  it('the check finds what breaks the previous version', () => {
    for (const sql of [
      'DROP TABLE link',
      'ALTER TABLE link DROP COLUMN title',
      'ALTER TABLE link RENAME COLUMN title TO name',
      'ALTER TABLE link RENAME TO links',
      'ALTER TABLE link ALTER COLUMN title TYPE bigint',
      'ALTER TABLE link ADD COLUMN kind text NOT NULL',
      'ALTER TABLE link ADD COLUMN kind text UNIQUE',
      'ALTER TABLE link ADD CONSTRAINT c CHECK (id > 0)',
      'CREATE UNIQUE INDEX link_title ON link (title)',
    ]) {
      assert.deepEqual(breakingParts([sql]), [sql])
    }
    for (const sql of [
      'ALTER TABLE link ADD COLUMN kind text',
      `ALTER TABLE link ADD COLUMN kind text NOT NULL DEFAULT ''`,
      'CREATE INDEX link_title ON link (title)',
      'CREATE TABLE other (id text PRIMARY KEY, kind text NOT NULL)',
    ]) {
      assert.deepEqual(breakingParts([sql]), [])
    }
    const index = 'CREATE UNIQUE INDEX link_kind ON link (kind)'
    assert.deepEqual(breakingParts(['ALTER TABLE link ADD COLUMN kind text', index]), [])
  })

  it('are numbered without gaps, and the oldest version never decreases', () => {
    let oldest = '0.0.0'
    for (const [index, { name }] of migrations.entries()) {
      assert.equal(Number(name.slice(0, 4)), index + 1)
      const version = oldestVersionAt(migrations, name)
      assert.equal(isNewer(oldest, version), false, name)
      oldest = version
    }
  })

  it('compares versions by their numbers', () => {
    assert.deepEqual(
      ['0.2.0', '0.2.1', '0.10.0', '1.0.0', '0.1.9'].map((version) => isNewer(version, '0.2.0')),
      [false, true, true, true, false],
    )
    assert.equal(isNewer('not a version', '0.2.0'), true)
  })
})

onEachEngine('the oldest version', (engine) => {
  it('is recorded with each migration', async () => {
    await using fresh = await freshDatabase(engine)
    const rows = await fresh.db.all<{ name: string; oldest_version: string }>(
      'SELECT name, oldest_version FROM migration ORDER BY name',
    )
    assert.deepEqual(
      rows.map(({ name, oldest_version }) => [name, oldest_version]),
      migrations.map(({ name }) => [name, oldestVersionAt(migrations, name)]),
    )
  })
})

// Records with each migration which versions can work with it, and which processes of the service are running.
import type { Migration } from './migration.ts'

export const schemaCompatibility: Migration = {
  name: '0010-schema-compatibility',
  async run(tx) {
    // Null: only versions that know the migration.
    await tx.run('ALTER TABLE migration ADD COLUMN oldest_version text')
    // Not worth a log on PostgreSQL: every process writes its row again after a crash.
    const unlogged = tx.engine === 'postgres' ? 'UNLOGGED ' : ''
    await tx.run(`CREATE ${unlogged}TABLE service_process (
      id text PRIMARY KEY,
      version text NOT NULL,
      connections integer NOT NULL,
      seen_at bigint NOT NULL
    )`)
  },
}

// All migrations in order. Forward only: a landed file is never changed, the next one gets the next number.
import type { NamedMigration } from '../migrate.ts'
import { migration as foundation } from './0001-foundation.ts'
import { migration as shortlink } from './0010-shortlink.ts'

export const migrations: readonly NamedMigration[] = [
  { name: '0001-foundation', run: foundation },
  { name: '0010-shortlink', run: shortlink },
]

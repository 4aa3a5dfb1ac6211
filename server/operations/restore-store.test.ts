import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { freshDatabase } from '../../test/support/engines.ts'
import { restoreBackup } from './restore-store.ts'

it('names the version that can read a backup with another schema', async () => {
  await using fresh = await freshDatabase('sqlite')
  const file = join(fresh.storage.environment['DATA_DIR']!, 'old.backup')
  const restore = async (header: object) => {
    await writeFile(file, gzipSync(`${JSON.stringify(header)}\n`))
    await restoreBackup(fresh.db, file, { secretKey: 'secret', force: true })
  }
  const migrations = ['0001-foundation', '0010-shortlink']
  await assert.rejects(restore({ tollgate_backup: 1, migrations }), /version 0\.1\.0 can read it/)
  await assert.rejects(
    restore({
      tollgate_backup: 1,
      version: '0.9.0',
      migrations: ['0001-accounts-and-credits', '0099-later'],
    }),
    /version 0\.9\.0 can read it/,
  )
})

// Checkpoints of SQLite's log outside of commits.
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { join } from 'node:path'
import { it } from 'node:test'
import { freshDatabase } from '../../test/support/engines.ts'
import { until } from '../../test/support/until.ts'
import type { CheckpointRow } from './checkpoint-thread.ts'
import { commitsPerCheck, maxPages } from './checkpoint.ts'
import { findSetting, putSetting } from './setting-store.ts'
import { canReadLogSize, logSizeSql } from './sqlite-connection.ts'

it(
  'a thread copies a long log into the file, and the log starts again',
  { skip: !canReadLogSize },
  async () => {
    await using fresh = await freshDatabase('sqlite')
    using other = new DatabaseSync(join(fresh.storage.environment['DATA_DIR']!, 'tollgate.db'))
    const logSize = other.prepare(logSizeSql)
    const size = () => logSize.get() as unknown as CheckpointRow
    const write = (name: string, length: number) =>
      fresh.db.write((tx) => putSetting(tx, name, name.padEnd(length, '.')))

    let commits = 0
    while (size().log < maxPages) await write(`long ${(commits += 1)}`, 500_000)
    for (let i = 0; i < commitsPerCheck; i += 1) await write(`short ${i}`, 1)
    // Nothing more is written until the thread has copied the log; a commit would do it only at four times the size.
    await until(() => size().checkpointed >= maxPages || size().log < maxPages)

    await write('next', 1)
    await write('last', 1)
    assert.ok(size().log < maxPages)
    assert.equal((await findSetting(fresh.db, `long ${commits}`))?.length, 500_000)
    assert.equal(await findSetting(fresh.db, 'last'), 'last')
  },
)

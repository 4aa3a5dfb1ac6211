// Restores that must fail: other schemas, and damaged or forged files.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { lstat, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { it } from 'node:test'
import { promisify } from 'node:util'
import { gunzipSync, gzipSync } from 'node:zlib'
import { systemActor } from '../audit/audit.ts'
import { createAccount } from '../accounts/accounts.ts'
import type { Database } from '../db/database.ts'
import { putSetting } from '../db/setting-store.ts'
import { AppError } from '../http/errors.ts'
import { fingerprintName, fingerprintOf } from '../runtime/installation.ts'
import { freshDatabase, onEachEngine } from '../../test/support/engines.ts'
import { writeBackup } from './backup-store.ts'
import { restoreBackup } from './restore-store.ts'

const secretKey = 'the secret of this installation'

async function usernames(db: Database): Promise<string[]> {
  const rows = await db.all<{ username: string }>('SELECT username FROM account ORDER BY id')
  return rows.map(({ username }) => username)
}

onEachEngine('restore', (engine) => {
  it('names the version that can read a backup with another schema', async () => {
    await using fresh = await freshDatabase(engine)
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
    await assert.rejects(
      restore({ tollgate_backup: 2, version: '3.0.0', migrations: [] }),
      /version 3\.0\.0 can read it/,
    )
  })

  it('does not put a backup in the place of a device or a pipe', async (context) => {
    if (process.platform === 'win32') return context.skip('Windows has no named pipes in folders')
    await using fresh = await freshDatabase(engine)
    const pipe = join(fresh.storage.environment['DATA_DIR']!, 'pipe')
    await promisify(execFile)('mkfifo', [pipe])
    await assert.rejects(
      writeBackup(fresh.db, pipe),
      (error: unknown) => error instanceof AppError && /it is not a file/.test(error.text.en),
    )
    assert.ok((await lstat(pipe)).isFIFO())
  })

  it('69 rejects damaged, endless and forged files and changes nothing', async () => {
    await using fresh = await freshDatabase(engine)
    const { db } = fresh
    const file = join(fresh.storage.environment['DATA_DIR']!, 'file.backup')
    await db.write((tx) => putSetting(tx, fingerprintName, fingerprintOf(secretKey)))
    await createAccount(db, systemActor, { username: 'first' })
    await writeBackup(db, file)
    const whole = await readFile(file)
    await createAccount(db, systemActor, { username: 'second' })

    async function assertRejected(content: Uint8Array, pattern: RegExp, label: string): Promise<void> {
      await writeFile(file, content)
      await assert.rejects(
        restoreBackup(db, file, { secretKey, force: true }),
        (error: unknown) => error instanceof AppError && pattern.test(error.text.en),
        label,
      )
      assert.deepEqual(await usernames(db), ['first', 'second'], label)
    }

    for (let cut = 0; cut < whole.length; cut += Math.ceil(whole.length / 12)) {
      await assertRejected(whole.subarray(0, cut), /not a whole/, `cut at ${cut}`)
    }
    // Some bits have no meaning: in the header of ten bytes, and in the last compressed byte, before the eight bytes of the trailer.
    const lastCompressed = whole.length - 9
    const positions = Array.from({ length: 12 }, () => randomInt(10, whole.length))
    for (const at of positions.filter((position) => position !== lastCompressed)) {
      const damaged = Buffer.from(whole)
      damaged[at] = damaged[at]! ^ 0x10
      await assertRejected(damaged, /not a whole/, `changed byte ${at}`)
    }

    const text = gunzipSync(whole).toString()
    const lines = text.trimEnd().split('\n')
    const [header = '', ...body] = lines
    const end = body.pop()!
    const accountAt = body.findIndex((line) => line.startsWith('{"table":"account"'))
    const { columns } = JSON.parse(body[accountAt]!) as { columns: string[] }
    const row = body[accountAt + 1]!
    const replaceLine = (index: number, ...by: string[]) => body.toSpliced(index, 1, ...by)
    const forged: Readonly<Record<string, readonly string[]>> = {
      'no header': [...body, end],
      'two headers': [header, header, ...body, end],
      'no end': [header, ...body],
      'a wrong number of rows': [header, ...body, '{"end":1}'],
      'rows after the end': [header, ...body, end, body[accountAt]!, row],
      'two ends': [header, ...body, end, end],
      'an empty line': [header, '', ...body, end],
      'a line that is null': [header, 'null', ...body, end],
      'a line that is not an object': [header, '7', ...body, end],
      'an unknown line': [header, '{"hello":1}', ...body, end],
      'a table without rows': [header, body[accountAt]!, ...body, end],
      'an unknown table': [
        header,
        ...replaceLine(accountAt, '{"table":"sqlite_master","columns":["a"]}'),
        end,
      ],
      'the table of migrations': [
        header,
        ...replaceLine(accountAt, `{"table":"migration","columns":${JSON.stringify(columns)}}`),
        end,
      ],
      'an unknown column': [
        header,
        ...replaceLine(
          accountAt,
          JSON.stringify({ table: 'account', columns: [...columns.slice(1), 'x" --'] }),
        ),
        end,
      ],
      'columns that are no texts': [
        header,
        ...replaceLine(accountAt, `{"table":"account","columns":[[],{},null]}`),
        end,
      ],
      'a row with too few values': [header, ...replaceLine(accountAt + 1, '[1]'), end],
      'a row with a nested value': [
        header,
        ...replaceLine(accountAt + 1, JSON.stringify(columns.map(() => ({ a: [] })))),
        end,
      ],
      'a row twice': [header, ...replaceLine(accountAt + 1, row, row), end],
    }
    for (const [label, given] of Object.entries(forged)) {
      await assertRejected(gzipSync(`${given.join('\n')}\n`), /not a whole/, label)
    }
    await assertRejected(gzipSync(text.trimEnd()), /not a whole/, 'no newline at the end')
    await assertRejected(Buffer.from(text), /not a whole/, 'not compressed')

    const endless = Buffer.alloc(80 * 1_048_576, '1,')
    for (const [label, start] of [
      ['an endless first line', '['],
      ['an endless row', `${header}\n${body[accountAt]!}\n[`],
    ] as const) {
      await assertRejected(gzipSync(Buffer.concat([Buffer.from(start), endless])), /line .* too long/, label)
    }

    await writeFile(file, whole)
    await restoreBackup(db, file, { secretKey, force: true })
    assert.deepEqual(await usernames(db), ['first'])
  })
})

// The commands `backup`, `restore` and `migrate`.
import { basename } from 'node:path'
import { recordChange } from '../server/audit/audit.ts'
import { writeBackup } from '../server/operations/backup-store.ts'
import { recordBackup } from '../server/operations/maintenance-store.ts'
import { restoreBackup } from '../server/operations/restore-store.ts'
import { cliActor, type Command } from './command.ts'

export const storageCommands: readonly Command[] = [
  {
    name: 'backup',
    usage: 'FILE',
    text: { zh: '备份整个数据库，服务可照常运行', en: 'back up the whole database while the service runs' },
    minWords: 1,
    maxWords: 1,
    flags: {},
    async run({ installation: { db }, words }) {
      const report = await writeBackup(db, words[0]!)
      await recordBackup(db)
      return { json: report, text: `${report.rows} rows, ${report.file}` }
    },
  },
  {
    name: 'restore',
    usage: 'FILE [--force]',
    text: {
      zh: '从备份恢复；数据库非空时必须加 --force',
      en: 'restore a backup; requires --force if the database is not empty',
    },
    minWords: 1,
    maxWords: 1,
    flags: { force: { type: 'boolean' } },
    skipSecretCheck: true,
    startsEmpty: true,
    async run({ installation: { db, secretKey }, words, flags }) {
      const report = await restoreBackup(db, words[0]!, { secretKey, force: flags['force'] === true })
      await db.write((tx) =>
        recordChange(tx, cliActor, 'database.restore', basename(words[0]!), { rows: report.rows }),
      )
      return { json: report, text: `${report.rows} rows restored` }
    },
  },
  {
    name: 'migrate',
    usage: '',
    text: { zh: '升级数据库结构', en: 'migrate the database schema' },
    minWords: 0,
    maxWords: 0,
    flags: {},
    startsEmpty: true,
    async run({ installation: { migrated } }) {
      return {
        json: { applied: migrated },
        text: migrated.length === 0 ? '已是最新 / up to date' : migrated.join('\n'),
      }
    },
  },
]

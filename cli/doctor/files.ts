// Checks who can read and replace the database, the secret key and the settings.
import { existsSync, readFileSync, statSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { settings } from '../../server/config.ts'
import type { Setting } from '../../server/setting-parsers.ts'
import { isOpenToOthers, listPrivateFiles } from '../../server/runtime/private-files.ts'
import { type Finding, ok, reportProblem } from './finding.ts'

/** Windows has neither modes nor numbers of users. */
const hasModes = process.platform !== 'win32'

export function checkFiles(folder: string): Finding[] {
  if (!hasModes || !existsSync(folder)) return []
  const findings = [
    ...checkFolderMode(folder),
    ...checkPrivateFiles(folder),
    ...checkEnvironmentFile(resolve('.env')),
  ]
  if (findings.length > 0) return findings
  return [ok('files', '数据文件仅服务用户可访问', 'the data files are private')]
}

function checkFolderMode(folder: string): Finding[] {
  const { mode } = statSync(folder)
  if ((mode & 0o002) === 0) return []
  return [
    reportProblem(
      'files',
      'fail',
      [`任何用户都可以在 ${folder} 中替换文件`, 'every user can replace files in DATA_DIR'],
      [`chmod 700 ${folder}`, 'chmod 700 the folder'],
    ),
  ]
}

function checkPrivateFiles(folder: string): Finding[] {
  const files = listPrivateFiles(folder)
    .map(({ file }) => file)
    .filter((file) => existsSync(file))
    .map((file) => ({ file, stats: statSync(file) }))
  const open = files.filter(({ stats }) => isOpenToOthers(stats)).map(({ file }) => file)
  const owners = ownersAllowedIn(folder)
  const foreign = files.filter(({ stats }) => !owners.includes(stats.uid)).map(({ file }) => file)
  const findings: Finding[] = []
  if (open.length > 0) {
    findings.push(
      reportProblem(
        'files',
        'fail',
        [
          `其他用户可以访问 ${open.map((file) => basename(file)).join('、')}`,
          'other users have access to data files',
        ],
        [`chmod 600 ${open.join(' ')}`, 'chmod 600 them'],
      ),
    )
  }
  if (foreign.length > 0) {
    findings.push(
      reportProblem(
        'files',
        'fail',
        [
          `${foreign.map((file) => basename(file)).join('、')} 属于其他用户`,
          'data files belong to another user than their folder',
        ],
        [
          `chown --reference=${folder} ${foreign.join(' ')}；命令请以服务用户运行`,
          'give them to the owner of the folder, and run commands as the user of the service',
        ],
      ),
    )
  }
  return findings
}

/** The files belong to the owner of the folder. In a folder of root (a mounted volume) they may belong to the service. */
function ownersAllowedIn(folder: string): readonly number[] {
  const { uid } = statSync(folder)
  const own = process.geteuid?.()
  return uid === 0 && own !== undefined ? [0, own] : [uid]
}

/** Its group may read it: the service is in that group, and root owns the file. */
function checkEnvironmentFile(file: string): Finding[] {
  if (!existsSync(file) || (statSync(file).mode & 0o007) === 0) return []
  const names = Object.entries(parseEnv(readFileSync(file, 'utf8')))
    .filter(([name, value]) => value !== '' && isSecret(name))
    .map(([name]) => name)
  if (names.length === 0) return []
  return [
    reportProblem(
      'files',
      'fail',
      [`任何用户都可以读取 ${file} 中的 ${names.join('、')}`, 'every user can read the secrets in .env'],
      [`chmod 640 ${file}`, 'chmod 640 it'],
    ),
  ]
}

function isSecret(name: string): boolean {
  return (settings as Readonly<Record<string, Setting<unknown>>>)[name]?.secret === true
}

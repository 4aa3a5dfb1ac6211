// `npm run doctor`: looks at a deployment and says in plain words what to mend. It changes nothing.
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { type Config, ConfigError, readConfig, readEnvironment, settings } from '../server/config.ts'
import { checkConsole } from './doctor/console.ts'
import { type Finding, lineOf, ok, reasonOf, trouble } from './doctor/finding.ts'
import { checkGateways, checkPublicUrl } from './doctor/network.ts'
import { checkStorage } from './doctor/storage.ts'
import { readFlags } from './flags.ts'

const help = `npm run --silent doctor -- [--json] [--help]

检查本机的部署并说明如何修正，不做任何修改：设置、控制台文件、数据目录、磁盘、密钥、数据库、迁移、时钟、网关连通、对外地址与代理。
有必须修正的问题时以 1 退出。
Looks at the deployment on this machine and says what to mend; changes nothing: settings, console files, data folder,
disk, secret, database, migrations, clock, gateways, public address and proxy. Exits with 1 when something must be mended.

  --json   {"ok","checks":[{"check","state":"ok|warn|fail","text":{"zh","en"},"mend"}]}`

const { values: flags } = readFlags(help, { json: { type: 'boolean' } })
process.exitCode = await run(flags.json === true)

async function run(isForMachines: boolean): Promise<number> {
  const findings = await examine()
  const isWell = findings.every(({ state }) => state !== 'fail')
  const told = isForMachines
    ? JSON.stringify({ ok: isWell, checks: findings })
    : [...findings.map(lineOf), '', summary(findings)].join('\n')
  process.stdout.write(`${told}\n`)
  return isWell ? 0 : 1
}

async function examine(): Promise<Finding[]> {
  let config: Config
  try {
    config = readConfig(readEnvironment())
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.problems.map((problem) =>
      trouble(
        'settings',
        'fail',
        [problem, 'wrong setting'],
        ['见 docs/operations.md 的设置表', 'see the table of settings in docs/operations.md'],
      ),
    )
  }
  const parts: readonly (() => Promise<Finding[]>)[] = [
    async () => checkNames(),
    async () => [checkConsole()],
    () => checkStorage(config),
    () => checkGateways(config),
    () => checkPublicUrl(config),
  ]
  const findings: Finding[] = []
  for (const part of parts) {
    findings.push(
      ...(await part().catch((error: unknown) => [
        trouble(
          'doctor',
          'fail',
          [`检查中断：${reasonOf(error)}`, 'a check broke off'],
          ['修正后再次运行', 'mend this and run it again'],
        ),
      ])),
    )
  }
  return findings
}

/** A misspelt name in `.env` sets nothing, and nobody says so. */
function checkNames(): Finding[] {
  const file = resolve('.env')
  const given = existsSync(file) ? Object.keys(parseEnv(readFileSync(file, 'utf8'))) : []
  const unknown = given.filter((name) => !Object.hasOwn(settings, name))
  if (unknown.length === 0) return [ok('settings', '设置无误', 'the settings are well formed')]
  return [
    trouble(
      'settings',
      'warn',
      [`.env 中有不认识的名称：${unknown.join('、')}`, 'unknown names in .env'],
      ['检查拼写，见 docs/operations.md 的设置表', 'look at the spelling, see docs/operations.md'],
    ),
  ]
}

function summary(findings: readonly Finding[]): string {
  const count = (state: Finding['state']) => findings.filter((one) => one.state === state).length
  const [bad, doubtful] = [count('fail'), count('warn')]
  if (bad === 0 && doubtful === 0) return '一切正常 / all is well'
  return `须修正 ${bad} 项，请留意 ${doubtful} 项 / ${bad} to mend, ${doubtful} to look at`
}

// `npm run doctor`: checks a deployment and explains how to fix problems. It changes nothing.
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { type Config, ConfigError, readConfig, readEnvironment, settings } from '../server/config.ts'
import { restrictNewFiles } from '../server/runtime/private-files.ts'
import { checkConsole } from './doctor/console.ts'
import { type Finding, formatFinding, ok, describeReason, reportProblem } from './doctor/finding.ts'
import { checkGateways, checkPublicUrl } from './doctor/network.ts'
import { checkStorage } from './doctor/storage.ts'
import { readFlags } from './flags.ts'

const help = `npm run --silent doctor -- [--json] [--help]

检查本机的部署并说明如何修正，不做任何修改：设置、控制台文件、数据目录、文件权限、磁盘、密钥、数据库、迁移、时钟、网关连通、对外地址与代理。
有必须修正的问题时以 1 退出。
Checks the deployment on this machine and explains how to fix problems; changes nothing: settings, console files, data
folder, file modes, disk, secret key, database, migrations, clock, gateways, public URL and proxy. Exits with 1 if a check fails.

  --json   {"ok","checks":[{"check","state":"ok|warn|fail","text":{"zh","en"},"fix"}]}`

restrictNewFiles()
const { values: flags } = readFlags(help, { json: { type: 'boolean' } })
process.exitCode = await run(flags.json === true)

async function run(asJson: boolean): Promise<number> {
  const findings = await runChecks()
  const isOk = findings.every(({ state }) => state !== 'fail')
  const output = asJson
    ? JSON.stringify({ ok: isOk, checks: findings })
    : [...findings.map(formatFinding), '', summary(findings)].join('\n')
  process.stdout.write(`${output}\n`)
  return isOk ? 0 : 1
}

async function runChecks(): Promise<Finding[]> {
  let config: Config
  try {
    config = readConfig(readEnvironment())
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.problems.map((problem) =>
      reportProblem(
        'settings',
        'fail',
        [problem, 'invalid setting'],
        ['见 docs/operations.md 的设置表', 'see the table of settings in docs/operations.en.md'],
      ),
    )
  }
  const checks: readonly (() => Promise<Finding[]>)[] = [
    async () => checkNames(),
    async () => [checkConsole()],
    () => checkStorage(config),
    () => checkGateways(config),
    () => checkPublicUrl(config),
  ]
  const findings: Finding[] = []
  for (const check of checks) {
    findings.push(
      ...(await check().catch((error: unknown) => [
        reportProblem(
          'doctor',
          'fail',
          [`检查中断：${describeReason(error)}`, 'a check failed with an error'],
          ['修正后再次运行', 'fix this and run doctor again'],
        ),
      ])),
    )
  }
  return findings
}

/** A misspelt name in `.env` has no effect and causes no error. */
function checkNames(): Finding[] {
  const file = resolve('.env')
  const given = existsSync(file) ? Object.keys(parseEnv(readFileSync(file, 'utf8'))) : []
  const unknown = given.filter((name) => !Object.hasOwn(settings, name))
  if (unknown.length === 0) return [ok('settings', '设置无误', 'the settings are valid')]
  return [
    reportProblem(
      'settings',
      'warn',
      [`.env 中有未知的名称：${unknown.join('、')}`, 'unknown names in .env'],
      ['检查拼写，见 docs/operations.md 的设置表', 'check the spelling, see docs/operations.en.md'],
    ),
  ]
}

function summary(findings: readonly Finding[]): string {
  const count = (state: Finding['state']) => findings.filter((one) => one.state === state).length
  const [failed, warnings] = [count('fail'), count('warn')]
  if (failed === 0 && warnings === 0) return '一切正常 / no problems found'
  return `须修正 ${failed} 项，请留意 ${warnings} 项 / ${failed} to fix, ${warnings} warnings`
}

// The checks of `npm run doctor` in their order, and its output.
import {
  type Environment,
  type Config,
  ConfigError,
  isSettingName,
  listConfigWarnings,
  readConfig,
  readEnvironmentFile,
} from '../server/config.ts'
import { checkSignIn } from './doctor/sign-in.ts'
import { checkConsole } from './doctor/console.ts'
import { type Finding, formatFinding, ok, describeReason, reportProblem } from './doctor/finding.ts'
import { checkGateways, checkPublicUrl } from './doctor/network.ts'
import { checkPayments } from './doctor/payments.ts'
import { checkRedis } from './doctor/redis.ts'
import { checkStorage } from './doctor/storage.ts'
import type { CommandResult } from './run-admin.ts'

export async function runDoctor(asJson: boolean, environment: () => Environment): Promise<CommandResult> {
  const findings = await runChecks(environment)
  const isOk = findings.every(({ state }) => state !== 'fail')
  const output = asJson
    ? JSON.stringify({ ok: isOk, checks: findings })
    : [...findings.map(formatFinding), '', summary(findings)].join('\n')
  return { code: isOk ? 0 : 1, stdout: `${output}\n`, stderr: '' }
}

async function runChecks(environment: () => Environment): Promise<Finding[]> {
  let config: Config
  try {
    config = readConfig(environment())
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
    async () => checkWarnings(config),
    async () => [checkConsole()],
    () => checkStorage(config),
    () => checkRedis(config),
    () => checkGateways(config),
    () => checkPayments(config),
    () => checkPublicUrl(config),
    () => checkSignIn(config),
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
  const unknown = Object.keys(readEnvironmentFile()).filter((name) => !isSettingName(name))
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

function checkWarnings(config: Config): Finding[] {
  return listConfigWarnings(config).map(({ zh, en }) =>
    reportProblem('settings', 'warn', [zh, en], ['见 docs/operations.md', 'see docs/operations.en.md']),
  )
}

function summary(findings: readonly Finding[]): string {
  const count = (state: Finding['state']) => findings.filter((one) => one.state === state).length
  const [failed, warnings] = [count('fail'), count('warn')]
  if (failed === 0 && warnings === 0) return '一切正常 / no problems found'
  return `必须修正 ${failed} 项，请留意 ${warnings} 项 / ${failed} to fix, ${warnings} warnings`
}

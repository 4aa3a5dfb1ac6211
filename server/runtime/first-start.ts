// The first start on an empty database: creates the operator and the sample account and prints their secrets once.
import { rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { systemActor } from '../audit/audit.ts'
import { apiTypes } from '../../contract/credits.ts'
import { createAccount } from '../accounts/accounts.ts'
import { countAccounts } from '../accounts/store.ts'
import type { Config } from '../config.ts'
import { createAccountWithCredits } from '../credits/create-account.ts'
import { AppError } from '../http/errors.ts'
import type { Installation } from './installation.ts'
import { createPrivateFile, firstLoginsName } from './private-files.ts'
import { sampleTemplates } from '../sms/sample-templates.ts'
import { createTemplate } from '../sms/templates.ts'

const sampleCredits = 1_000

export interface FirstAccounts {
  readonly operator: { readonly username: string; readonly password: string }
  readonly sample:
    | { readonly username: string; readonly password: string; readonly apiKey: string }
    | undefined
}

/** Returns undefined if there are accounts already, or another process is creating them. */
export async function createFirstAccounts(
  installation: Installation,
  config: Config,
): Promise<FirstAccounts | undefined> {
  const { db } = installation
  if ((await countAccounts(db)) > 0) return undefined
  try {
    const operator = await createAccount(db, systemActor, { username: 'admin', role: 'operator' })
    if (config.SAMPLE_ACCOUNT === 'off') return { operator, sample: undefined }
    const grants = apiTypes.map((apiType) => ({
      apiType,
      amount: sampleCredits,
      note: '示例额度 / sample credits',
    }))
    const sample = await createAccountWithCredits(db, systemActor, { username: 'demo' }, grants)
    for (const template of sampleTemplates) {
      await createTemplate(db, systemActor, { ...template, accountId: sample.id })
    }
    return { operator, sample }
  } catch (error) {
    if (error instanceof AppError && (await countAccounts(db)) > 0) return undefined
    throw error
  }
}

/** Writes the secrets to a file that only its owner can read; returns what to print instead of them. */
export function saveFirstLogins(dataFolder: string, address: string, created: FirstAccounts): string {
  const file = join(resolve(dataFolder), firstLoginsName)
  // A file of an earlier installation whose database was removed.
  rmSync(file, { force: true })
  createPrivateFile(file, formatWelcome(address, created))
  return [
    `Tollgate 已启动 / is running: ${address}`,
    `首次登录的密码与密钥已写入 ${file}（仅属主可读），保存后请删除：rm ${file}`,
    `the first logins and the API key are in ${file} (readable by its owner only); save them, then delete it: rm ${file}`,
  ].join('\n')
}

/** Contains secrets: printed once, on the first start. */
export function formatWelcome(address: string, created: FirstAccounts): string {
  const lines = [
    '',
    `Tollgate 已启动 / is running: ${address}`,
    '',
    `  控制台 console     ${address}/console/`,
    `  管理员 operator    ${created.operator.username}  ${created.operator.password}`,
  ]
  if (created.sample) {
    const { username, password, apiKey } = created.sample
    lines.push(
      `  示例账户 sample    ${username}  ${password}`,
      `  API 密钥 API key   ${apiKey}`,
      '',
      '  第一次调用 / first call:',
      `  curl -s '${address}/api/sms_api.php?action=get_credits&username=${username}' -H 'api_key: ${apiKey}'`,
    )
  }
  lines.push('', '  以上密码与密钥仅显示一次，请妥善保存 / shown only once, save them now', '')
  return lines.join('\n')
}

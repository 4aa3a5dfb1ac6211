// The first start on an empty database: creates the operator and the sample account and prints their secrets once.
import { systemActor } from '../audit/audit.ts'
import { apiTypes } from '../../contract/credits.ts'
import { createAccount } from '../accounts/accounts.ts'
import { countAccounts } from '../accounts/store.ts'
import type { Config } from '../config.ts'
import { createAccountWithCredits } from '../credits/create-account.ts'
import { AppError } from '../http/errors.ts'
import type { Installation } from './installation.ts'
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

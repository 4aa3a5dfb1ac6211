// Limits of API keys, caps, price plans, and roles of operators.
import { formatDay, startOfDay } from '../../../contract/time.ts'
import type { Migration } from './migration.ts'

export const keyLimits: Migration = {
  name: '0012-key-limits',
  async run(tx) {
    // Null: not limited, or the prices of the installation.
    await tx.run('ALTER TABLE account ADD COLUMN scopes text')
    await tx.run('ALTER TABLE account ADD COLUMN allow_ips text')
    await tx.run('ALTER TABLE account ADD COLUMN prices text')
    // Of an operator. All existing operators are owners.
    await tx.run(`ALTER TABLE account ADD COLUMN operator_role text NOT NULL DEFAULT 'owner'`)

    await tx.run('ALTER TABLE credit ADD COLUMN daily_cap bigint')
    await tx.run('ALTER TABLE credit ADD COLUMN monthly_cap bigint')
    // The day of the last charge in Shanghai, and what was used on it and in its month, less refunds.
    await tx.run(`ALTER TABLE credit ADD COLUMN usage_day text NOT NULL DEFAULT ''`)
    await tx.run('ALTER TABLE credit ADD COLUMN used_on_day bigint NOT NULL DEFAULT 0')
    await tx.run('ALTER TABLE credit ADD COLUMN used_in_month bigint NOT NULL DEFAULT 0')
    const today = formatDay(Date.now())
    const dayStart = startOfDay(today)!
    const monthStart = startOfDay(`${today.slice(0, 7)}-01`)!
    await tx.run(
      `UPDATE credit SET usage_day = ?, used_on_day = t.on_day, used_in_month = t.in_month
       FROM (SELECT account_id, api_type, CAST(SUM(cost - given_back) AS bigint) AS in_month,
           CAST(SUM(CASE WHEN created_at >= ${dayStart} THEN cost - given_back ELSE 0 END) AS bigint) AS on_day
         FROM operation WHERE created_at >= ${monthStart} GROUP BY account_id, api_type) t
       WHERE credit.account_id = t.account_id AND credit.api_type = t.api_type`,
      [today],
    )
  },
}

// The commands `credits` and `ledger`.
import { type ApiType, apiTypes, isApiType } from '../contract/credits.ts'
import type { Text } from '../contract/text.ts'
import { requireAccount } from '../server/accounts/accounts.ts'
import { overdueSlackMs } from '../server/credits/end/sweeper.ts'
import { checkLedger, renewCheckpoint } from '../server/credits/ledger/check-store.ts'
import { nextCheckpoint } from '../server/credits/ledger/checkpoint-store.ts'
import { createCredits } from '../server/credits/credits.ts'
import { recordLedgerCheck } from '../server/operations/maintenance-store.ts'
import { cliActor, type Command, UsageError, table, textFlag } from './command.ts'

export const creditCommands: readonly Command[] = [
  changeCommand('grant', { zh: '发放额度', en: 'grant credits' }),
  changeCommand('take', { zh: '扣减未使用的额度', en: 'deduct unused credits' }),
  {
    name: 'credits show',
    usage: 'NAME',
    text: { zh: '查看额度', en: 'show the credits of an account' },
    minWords: 1,
    maxWords: 1,
    flags: {},
    async run({ installation: { db, secretKey }, words }) {
      const account = await requireAccount(db, words[0]!)
      const balances = await createCredits(db, secretKey).balances(account.id)
      return {
        json: { username: account.username, credits: balances },
        text: table(
          ['api_type', 'total', 'used', 'remaining'],
          balances.map((one) => [one.api_type, one.total, one.used, one.remaining]),
        ),
      }
    },
  },
  {
    name: 'ledger check',
    usage: '',
    text: { zh: '核对全部额度', en: 'check all balances against the ledger' },
    minWords: 0,
    maxWords: 0,
    flags: {},
    async run({ installation: { db }, config }) {
      const next = await nextCheckpoint(db, Date.now())
      const overdueMs = config.SWEEP_S * 1000 + overdueSlackMs
      const report = await checkLedger(db, overdueMs)
      await recordLedgerCheck(db, report.ok)
      // A disk that is full, or a role that may only read, does not change the result.
      if (report.ok) await renewCheckpoint(db, next, overdueMs).catch(() => undefined)
      const counts = `${report.accounts} accounts, ${report.operations} operations, ${report.entries} entries, ${report.open} open`
      const text = report.ok ? `ok: ${counts}` : [`not ok: ${counts}`, ...report.problems].join('\n')
      // On stderr too, so that cron mails it although `> /dev/null` drops the counts.
      const problem = `额度与流水不符 / the ledger check failed (${report.problems.length})`
      return { json: report, text, failed: !report.ok, ...(!report.ok && { problem }) }
    },
  },
]

function changeCommand(verb: 'grant' | 'take', text: Text): Command {
  return {
    name: `credits ${verb}`,
    usage: `NAME ${apiTypes.join('|')} N [--note T]`,
    text,
    minWords: 3,
    maxWords: 3,
    flags: { note: { type: 'string' } },
    async run({ installation: { db, secretKey }, words, flags }) {
      const [name, type, given] = words as [string, string, string]
      const apiType = requireApiType(type)
      const amount = parseAmount(given)
      const note = textFlag(flags, 'note')
      const account = await requireAccount(db, name)
      const balance = await createCredits(db, secretKey)[verb]({
        accountId: account.id,
        apiType,
        amount,
        note,
        actor: { ...cliActor, note },
      })
      return {
        json: { username: account.username, ...balance },
        text: `${account.username} ${apiType}: ${balance.remaining} 可用 / remaining`,
      }
    },
  }
}

/** `sms=100,short_link=50` */
export function parseCredits(given: string): { apiType: ApiType; amount: number }[] {
  const credits = given
    .split(',')
    .filter((item) => item.trim() !== '')
    .map((item) => {
      const [type = '', ...amount] = item.split('=')
      return { apiType: requireApiType(type.trim()), amount: parseAmount(amount.join('=')) }
    })
  if (new Set(credits.map(({ apiType }) => apiType)).size !== credits.length) {
    throw new UsageError('--credits 有重复的额度类型 / names a credit type twice')
  }
  return credits
}

function requireApiType(type: string): ApiType {
  if (isApiType(type)) return type
  throw new UsageError(`额度类型 ${type} 不存在，可选 ${apiTypes.join('、')} / no such credit type`)
}

function parseAmount(given: string): number {
  // The ledger checks the range.
  if (/^\d{1,15}$/.test(given.trim())) return Number(given)
  throw new UsageError(`数量必须是正整数 / the amount must be a positive integer: ${given}`)
}

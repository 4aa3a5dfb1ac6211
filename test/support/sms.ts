// Shared setup of the SMS tests: a service and an account with credits and a template.
import type { AppOptions } from '../../server/app.ts'
import { systemActor } from '../../server/audit/audit.ts'
import type { ApiType } from '../../contract/credits.ts'
import { checkLedger } from '../../server/credits/ledger/check-store.ts'
import type { Engine } from '../../server/db/database.ts'
import { createTemplate, type SmsTemplate, type TemplateFields } from '../../server/sms/templates.ts'
import type { FreshStorage } from './engines.ts'
import { post, type Reply, startService, type TestAccount, type TestService } from './service.ts'

export interface SmsService extends AsyncDisposable {
  readonly service: TestService
  readonly account: TestAccount
  /** Posts an action of the account. */
  call(values: Record<string, unknown>, headers?: Record<string, string>): Promise<Reply>
  /** Sends `code` with the template CODE by default. */
  send(values?: Record<string, unknown>, headers?: Record<string, string>): Promise<Reply>
  template(input: Partial<TemplateFields>): Promise<SmsTemplate>
  remaining(): Promise<number>
  /** The account's records, newest first, as `get_status` shows them. */
  // oxlint-disable-next-line typescript/no-explicit-any -- responses have different shapes
  records(values?: Record<string, unknown>): Promise<any[]>
  findLedgerProblems(): Promise<readonly string[]>
  /** Decides all held operations, as the sweeper does after their lease expired. */
  sweepAll(): Promise<void>
}

export const phone = '13800138000'

export async function startSmsService(
  engine: Engine,
  environment: Record<string, string> = {},
  credits: Partial<Record<ApiType, number>> = { sms: 100 },
  storage?: FreshStorage,
  options?: AppOptions,
): Promise<SmsService> {
  const service = await startService(engine, { SWEEP_S: '3600', ...environment }, storage, options)
  const account = await service.account(credits)
  const { db } = service.installation
  const template = (input: Partial<TemplateFields>) =>
    createTemplate(db, systemActor, {
      accountId: account.id,
      code: 'CODE',
      name: '验证码',
      content: '您的验证码是${code}。',
      status: '审核通过',
      ...input,
    })
  await template({})
  const url = `${service.url}/api/sms_api.php`
  const call = (values: Record<string, unknown>, headers: Record<string, string> = {}) =>
    post(url, { username: account.username, api_key: account.key, ...values }, headers)
  return {
    service,
    account,
    call,
    send: (values = {}, headers = {}) =>
      call(
        {
          action: 'send_sms',
          phone_number: phone,
          template_code: 'CODE',
          template_params: { code: '1234' },
          ...values,
        },
        headers,
      ),
    template,
    remaining: async () => (await service.app.services.credits.balance(account.id, 'sms')).remaining,
    async records(values = { phone_number: phone }) {
      return (await call({ action: 'get_status', ...values })).body.data
    },
    findLedgerProblems: async () => (await checkLedger(db, 60_000)).problems,
    async sweepAll() {
      // What waits in the queue has no lease.
      await db.write((tx) =>
        tx.run(`UPDATE operation SET lease_until = 0 WHERE state = 'held' AND lease_until IS NOT NULL`),
      )
      const held = await db.all<{ id: number }>(`SELECT id FROM operation WHERE state = 'held'`)
      const decide = service.app.services.deciders.get('sms.send')!
      for (const { id } of held) {
        await decide({
          id,
          account_id: account.id,
          api_type: 'sms',
          action: 'sms.send',
          cost: 1,
        })
      }
    },
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  }
}

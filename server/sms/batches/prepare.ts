// Prepares messages that left the queue: what was allowed when they were accepted may not be any more.
import { fillTemplate, wholeText } from '../../../contract/sms-text.ts'
import { isExpired } from '../../accounts/accounts.ts'
import { type Account, findByIds } from '../../accounts/store.ts'
import { AppError } from '../../http/errors.ts'
import type { Services } from '../../services.ts'
import type { OutgoingMessage } from '../call-gateways.ts'
import type { Problem } from '../problems.ts'
import { findStopped } from '../stop-list.ts'
import { createTemplateLookup, type UsableTemplate } from '../templates.ts'
import { requireUsableSignature } from '../usable-signature.ts'
import type { TakenMessage } from './queue-store.ts'
import type { BatchRow } from './store.ts'

export interface PreparedMessage extends TakenMessage {
  readonly account: Account
  /** By `performance.now()`: when the message was taken. */
  readonly leaseStartedAt: number
  /** The message, or why it must not be sent. */
  readonly work: OutgoingMessage | { readonly problem: Problem }
}

export type Prepare = (taken: readonly TakenMessage[], leaseStartedAt: number) => Promise<PreparedMessage[]>

export function createPreparation({ db, config }: Pick<Services, 'db' | 'config'>): Prepare {
  const findTemplate = createTemplateLookup(db)

  /** The text was priced and approved when the batch was accepted, so only that text is sent. */
  async function checkBatch(batch: BatchRow, account: Account): Promise<UsableTemplate | Problem> {
    if (account.suspended === 1 || isExpired(account) || account.sms_enabled !== 1) return 'account'
    const template = await findTemplate(batch.account_id, batch.template_code)
    if (template?.status !== '审核通过' || template.content !== batch.content) return 'template_changed'
    try {
      await requireUsableSignature(db, config, account, batch.sign_name)
      return template
    } catch (error) {
      if (error instanceof AppError) return 'signature'
      throw error
    }
  }

  async function prepareBatch(
    batch: BatchRow,
    account: Account,
    messages: readonly TakenMessage[],
    leaseStartedAt: number,
  ): Promise<PreparedMessage[]> {
    const template = await checkBatch(batch, account)
    if (typeof template === 'string') {
      return messages.map((taken) => ({ ...taken, account, leaseStartedAt, work: { problem: template } }))
    }
    const phones = messages.map(({ send }) => send.phone)
    const stopped = await findStopped(db, account, batch.sign_name, phones)
    return messages.map((taken) => {
      const { send } = taken
      if (stopped.has(send.phone)) return { ...taken, account, leaseStartedAt, work: { problem: 'blocked' } }
      const values = JSON.parse(send.template_params) as Record<string, string>
      const variables = template.variables.map((name) => ({ name, value: values[name] ?? '' }))
      const filled = fillTemplate(batch.content, new Map(Object.entries(values)))
      const message = {
        template,
        signName: send.sign_name,
        variables,
        text: wholeText(send.sign_name, filled),
      }
      const work = { sendId: send.id, phone: send.phone, leaseStartedAt, message }
      return { ...taken, account, leaseStartedAt, work }
    })
  }

  return async (taken, leaseStartedAt) => {
    const accountIds = [...new Set(taken.map(({ batch }) => batch.account_id))]
    const accounts = new Map((await findByIds(db, accountIds)).map((account) => [account.id, account]))
    const prepared: PreparedMessage[] = []
    for (const messages of Map.groupBy(taken, ({ batch }) => batch.id).values()) {
      const { batch } = messages[0]!
      // Accounts are never deleted.
      const account = accounts.get(batch.account_id)!
      prepared.push(...(await prepareBatch(batch, account, messages, leaseStartedAt)))
    }
    return prepared
  }
}

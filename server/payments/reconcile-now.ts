// What an operator does about reconciliation, in the console and on the command line: run a day, resolve a difference.
import type { PaymentProviderName } from '../../contract/payments.ts'
import { formatDay, startOfDay } from '../../contract/time.ts'
import { type OperatorActor, recordChange } from '../audit/audit.ts'
import type { Database } from '../db/database.ts'
import { AppError, invalidField } from '../http/errors.ts'
import type { Payments } from './payments.ts'
import type { ReconciliationResult } from './reconciliation.ts'
import { resolveDifference } from './reconciliation-store.ts'

export async function reconcileNow(
  db: Database,
  { providers, reconciler }: Payments,
  actor: OperatorActor,
  { provider: name, day }: { readonly provider: PaymentProviderName; readonly day: string },
): Promise<ReconciliationResult> {
  const provider = providers.get(name)
  if (!provider?.fetchBill) {
    throw invalidField('provider', {
      zh: `支付方式 ${name} 未启用或没有账单`,
      en: `${name} is not configured or has no bills`,
    })
  }
  if (startOfDay(day) === undefined || day >= formatDay(Date.now())) {
    throw invalidField('day', { zh: '必须是今天之前的日期', en: 'must be a day before today' })
  }
  await db.write((tx) => recordChange(tx, actor, 'payment.reconcile', `${name} ${day}`, {}))
  return reconciler.run(provider, day)
}

/** The note of the actor says what was done. */
export async function resolve(db: Database, actor: OperatorActor, id: number): Promise<void> {
  await db.write(async (tx) => {
    const row = await resolveDifference(tx, id, { by: actor.name, note: actor.note ?? '' })
    if (!row) {
      throw new AppError(1007, { zh: '该差异不存在或已处理', en: 'no such open difference' })
    }
    await recordChange(tx, actor, 'payment.resolve', row.order_number, { difference: id, kind: row.kind })
  })
}

// What an operator does about reconciliation, in the console and on the command line: run a day, resolve a difference.
import type { PaymentProviderName } from '../../contract/payments.ts'
import { formatDay, startOfDay } from '../../contract/time.ts'
import { type OperatorActor, recordChange } from '../audit/audit.ts'
import type { Database } from '../db/database.ts'
import { AppError } from '../http/errors.ts'
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
  if (!provider?.openBill) {
    throw problem(
      'provider',
      `支付方式 ${name} 未启用或没有账单`,
      `${name} is not configured or has no bills`,
    )
  }
  if (startOfDay(day) === undefined || day >= formatDay(Date.now())) {
    throw problem('day', '须为今天之前的日期', 'must be a day before today')
  }
  await db.write((tx) => recordChange(tx, actor, 'payment.reconcile', `${name} ${day}`, {}))
  return reconciler.run(provider, day)
}

/** The note of the actor says what was done. */
export async function resolve(db: Database, actor: OperatorActor, id: number): Promise<void> {
  await db.write(async (tx) => {
    const row = await resolveDifference(tx, id, { by: actor.name, note: actor.note ?? '' })
    if (!row) {
      throw new AppError(1007, { zh: '没有这处未处理的差异', en: 'no such open difference' })
    }
    await recordChange(tx, actor, 'payment.resolve', row.order_number, { difference: id, kind: row.kind })
  })
}

function problem(field: string, zh: string, en: string): AppError {
  return new AppError(1002, { zh, en }, { fields: { [field]: { zh, en } } })
}

// The end of an operation that no call stands behind: the check of a watched domain.
import type { EndResult, OperationEnd } from '../credits/operation.ts'
import type { Tx } from '../db/database.ts'
import type { Services } from '../services.ts'

export async function endOperation(
  { db, credits }: Pick<Services, 'db' | 'credits'>,
  operationId: number,
  end: OperationEnd,
  options: { sends?: number; alongside?: (tx: Tx, result: EndResult) => Promise<void> } = {},
): Promise<EndResult> {
  const result = await db.write(async (tx) => {
    const ended = await credits.end(tx, { operationId, end, sends: options.sends ?? 0 })
    await options.alongside?.(tx, ended)
    return ended
  })
  if (result.givenBack > 0)
    credits.onMoved?.({ kind: 'refund', apiType: 'domain_check', amount: result.givenBack })
  return result
}

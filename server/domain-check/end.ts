// Ends an operation that no API call waits for: the check of a watched domain.
import type { EndResult, OperationEnd } from '../credits/operation.ts'
import type { Tx } from '../db/database.ts'
import type { Services } from '../services.ts'

export function endOperation(
  { credits }: Pick<Services, 'credits'>,
  operationId: number,
  end: OperationEnd,
  options: { sends?: number; inSameTransaction?: (tx: Tx, result: EndResult) => Promise<void> } = {},
): Promise<EndResult> {
  return credits.endBatched({ operationId, end, ...options })
}

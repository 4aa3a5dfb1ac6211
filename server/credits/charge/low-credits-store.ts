// Emits events when a charge makes the credits of an account low or empty.
import type { Tx } from '../../db/database.ts'
import type { Tables } from '../../db/schema.ts'
import { emitEvents, type NewEvent, receivesEvent } from '../../events/emit.ts'

/** A balance before and after the charges of a batch, with the events that its account receives. */
export type WatchedBalance = Pick<
  Tables['credit'],
  'account_id' | 'api_type' | 'alert_base' | 'alerted_percent'
> &
  Pick<Tables['account'], 'event_types' | 'alert_percents'> & {
    readonly remaining_before: number
    remaining: number
  }

/** The transaction has locked the balances, so each threshold is reported once. */
export async function reportLowCredits(tx: Tx, balances: Iterable<WatchedBalance>): Promise<void> {
  const events: NewEvent[] = []
  for (const balance of balances) {
    if (balance.event_types === '' || balance.remaining === balance.remaining_before) continue
    const { account_id: accountId, api_type: apiType, remaining } = balance
    const crossed = receivesEvent(balance, 'credits.low') ? crossedPercents(balance) : []
    for (const percent of crossed) {
      const data = { api_type: apiType, remaining, percent }
      events.push({ accountId, type: 'credits.low', data, alertKey: `credits.low ${apiType}` })
    }
    if (crossed.length > 0) {
      await tx.run('UPDATE credit SET alerted_percent = ? WHERE account_id = ? AND api_type = ?', [
        Math.min(...crossed),
        accountId,
        apiType,
      ])
    }
    if (remaining === 0 && receivesEvent(balance, 'credits.empty')) {
      const data = { api_type: apiType, remaining }
      events.push({ accountId, type: 'credits.empty', data, alertKey: `credits.empty ${apiType}` })
    }
  }
  await emitEvents(tx, events)
}

/** The thresholds that were not reported since the last grant and that the balance has reached, highest first. */
function crossedPercents(balance: WatchedBalance): number[] {
  return balance.alert_percents
    .split(',')
    .map(Number)
    .filter(
      (percent) =>
        percent > 0 &&
        percent < balance.alerted_percent &&
        balance.remaining <= (balance.alert_base * percent) / 100,
    )
    .sort((one, other) => other - one)
}

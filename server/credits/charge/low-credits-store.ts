// Emits events when the credits of an account become low or empty: by a charge, a refund of an order, or an operator who takes some.
import type { Tx } from '../../db/database.ts'
import { emitEvents, type NewEvent, receivesEvent } from '../../events/emit.ts'
import type { LockedBalance, Settings } from './balances-store.ts'

/** The transaction has locked the balances, so each threshold is reported once. */
export async function reportLowCredits(tx: Tx, balances: Iterable<LockedBalance>): Promise<void> {
  const events: NewEvent[] = []
  for (const { account_id: accountId, api_type: apiType, remaining, settings } of balances) {
    if (!settings || settings.event_types === '' || remaining === settings.remaining_before) continue
    const crossed = receivesEvent(settings, 'credits.low') ? crossedPercents(settings, remaining) : []
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
    if (remaining === 0 && receivesEvent(settings, 'credits.empty')) {
      const data = { api_type: apiType, remaining }
      events.push({ accountId, type: 'credits.empty', data, alertKey: `credits.empty ${apiType}` })
    }
  }
  await emitEvents(tx, events)
}

/** The thresholds that were not reported since the last grant and that the balance has reached, highest first. */
function crossedPercents(settings: Settings, remaining: number): number[] {
  return settings.alert_percents
    .split(',')
    .map(Number)
    .filter(
      (percent) =>
        percent > 0 &&
        percent < settings.alerted_percent &&
        remaining <= (settings.alert_base * percent) / 100,
    )
    .sort((one, other) => other - one)
}

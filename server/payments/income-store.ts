// Income by day: what was paid, and what was refunded.
import { dayMs, formatDay, shanghaiOffsetMs, startOfDay } from '../../contract/time.ts'
import type { Queries } from '../db/database.ts'

export interface IncomeDay {
  readonly day: string
  /** In units of the currency, for charts. */
  readonly paid: number
  readonly refunded: number
  readonly orders: number
}

export async function findIncome(queries: Queries, days: number, currency: string): Promise<IncomeDay[]> {
  const today = startOfDay(formatDay(Date.now()))!
  const from = today - (days - 1) * dayMs
  const dayOf = (column: string) => `(${column} + ${shanghaiOffsetMs}) / ${dayMs}`
  const paid = await queries.all<{ day: number; amount: number; count: number }>(
    `SELECT ${dayOf('paid_at')} AS day, SUM(amount) AS amount, COUNT(*) AS count FROM payment_order
     WHERE paid_at IS NOT NULL AND paid_at >= ? AND currency = ? GROUP BY ${dayOf('paid_at')}`,
    [from, currency],
  )
  const refunded = await queries.all<{ day: number; amount: number }>(
    `SELECT ${dayOf('r.ended_at')} AS day, SUM(r.amount) AS amount FROM payment_refund r
       JOIN payment_order o ON o.id = r.order_id
     WHERE r.state = 'succeeded' AND r.ended_at >= ? AND o.currency = ? GROUP BY ${dayOf('r.ended_at')}`,
    [from, currency],
  )
  return Array.from({ length: days }, (_one, index) => {
    const start = from + index * dayMs
    const number = Math.floor((start + shanghaiOffsetMs) / dayMs)
    const income = paid.find(({ day }) => Number(day) === number)
    const back = refunded.find(({ day }) => Number(day) === number)
    return {
      day: formatDay(start),
      paid: Number(income?.amount ?? 0) / 100,
      refunded: Number(back?.amount ?? 0) / 100,
      orders: Number(income?.count ?? 0),
    }
  })
}

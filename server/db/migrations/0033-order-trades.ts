// Finds the order of a payment by the provider's number, which is all that the event of a dispute has.
import type { Migration } from './migration.ts'

export const orderTrades: Migration = {
  name: '0033-order-trades',
  async run(tx) {
    // Not unique: bank transfers have no number.
    await tx.run(
      'CREATE INDEX payment_order_trade ON payment_order (trade_number) WHERE trade_number IS NOT NULL',
    )
  },
}

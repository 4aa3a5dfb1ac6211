// Composes payments: providers, orders and refunds, for the service and the command line.
import type { Config } from '../config.ts'
import type { Database } from '../db/database.ts'
import { createOrders, type Orders } from './orders.ts'
import { createProviders, type Providers } from './providers.ts'
import { createReconciler, type Reconciler } from './reconciliation.ts'
import { createRefunds, type Refunds } from './refunds.ts'

export interface Payments {
  readonly providers: Providers
  readonly orders: Orders
  readonly refunds: Refunds
  readonly reconciler: Reconciler
  /** How long one process may work on an order or a refund. */
  readonly leaseMs: number
  readonly schedule: readonly number[]
}

export function createPayments(options: {
  readonly db: Database
  readonly config: Config
  readonly publicUrl: () => string
}): Payments {
  const { db, config } = options
  const providers = createProviders(config, options.publicUrl)
  // Checking an order takes at most three calls.
  const leaseMs = 3 * config.GATEWAY_TIMEOUT_MS + 2_000
  const schedule = config.PAYMENT_POLL_S
  const orders = createOrders({ db, providers, schedule, ttlMs: config.ORDER_TTL_S * 1000 })
  return {
    providers,
    orders,
    refunds: createRefunds({ db, providers, leaseMs }),
    reconciler: createReconciler({ db, providers, orders }),
    leaseMs,
    schedule,
  }
}

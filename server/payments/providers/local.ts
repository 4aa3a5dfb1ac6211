// Ways to pay without a provider: the sandbox cashier, which is ours, and bank transfers, which an operator confirms.
import type { PaymentProvider, ProviderAddresses } from '../port.ts'

export function createSandbox({ cashierUrl }: ProviderAddresses): PaymentProvider {
  return {
    name: 'sandbox',
    open: async (order) => ({ kind: 'opened', payUrl: cashierUrl(order.pay_token) }),
    async query(order) {
      if (order.sandbox_paid_at === null) return { kind: 'unpaid' }
      const { number, amount, currency } = order
      return { kind: 'paid', number, amount, currency, tradeNumber: `sandbox-${number}` }
    },
    async close() {},
    refund: async () => ({ kind: 'succeeded' }),
  }
}

export function createTransfer(): PaymentProvider {
  return {
    name: 'transfer',
    open: async () => ({ kind: 'opened' }),
    query: async () => ({ kind: 'unpaid' }),
    async close() {},
    // The operator who requests the refund sends the money back.
    refund: async () => ({ kind: 'succeeded' }),
  }
}

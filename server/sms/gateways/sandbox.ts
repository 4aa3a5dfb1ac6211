// The built-in gateway that needs no network: a few numbers force each way of failing, every other number succeeds.
import type { SmsGateway } from '../port.ts'

export function sandboxGateway(): SmsGateway {
  return {
    name: 'sandbox',
    async send({ phone }) {
      switch (phone) {
        case '19900000001':
          return { kind: 'refused', code: 'SANDBOX_REFUSED', reason: 'number' }
        case '19900000002':
          return { kind: 'ambiguous', reason: 'SANDBOX_NO_ANSWER' }
        case '19900000003':
          return { kind: 'throttled', concerns: 'recipient', reason: 'SANDBOX_TOO_FREQUENT' }
        default:
          return { kind: 'accepted', value: { gatewayId: undefined } }
      }
    },
    async probe() {
      return { ok: true, detail: 'sandbox' }
    },
  }
}

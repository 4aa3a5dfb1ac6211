// The sandbox gateway without a network: three phone numbers force a failure, all others succeed.
import type { SmsGateway } from '../port.ts'

export function createSandboxGateway(): SmsGateway {
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

// Creates a call without an API key, as the console does for a session.
import type { Endpoint } from '../../contract/endpoint.ts'
import type { Call } from '../../server/http/call.ts'

export function createSessionCall(endpoint: Endpoint, json: Record<string, unknown>): Call {
  return {
    endpoint,
    requestId: 'by-hand',
    language: 'zh',
    address: '127.0.0.1',
    source: 'console',
    sources: { headers: {}, json },
    idempotencyKey: undefined,
    responseHeaders: [],
    trace: {
      startedAt: performance.now(),
      steps: {},
      accountId: undefined,
      username: undefined,
      action: undefined,
      parameterSources: {},
      charged: 0,
      refunded: 0,
      gateway: undefined,
      replayed: false,
    },
    knownAccount: 'refused',
  }
}

// The sandbox: verdicts without a network. blocked.test is blocked, down.test gets no answer, all others pass.
import type { DomainGateway } from '../port.ts'

export function sandboxGateway(): DomainGateway {
  return {
    name: 'sandbox',
    async check({ host }) {
      if (isAtOrBelow(host, 'blocked.test')) return { kind: 'accepted', value: 'blocked' }
      // It concerns this address only: the sandbox itself is never down.
      if (isAtOrBelow(host, 'down.test'))
        return { kind: 'refused', code: 'no_verdict', reason: 'sandbox_down' }
      return { kind: 'accepted', value: 'passes' }
    },
  }
}

function isAtOrBelow(host: string, name: string): boolean {
  return host === name || host.endsWith(`.${name}`)
}

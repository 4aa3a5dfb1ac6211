// The sandbox gateway without a network: blocked.test is blocked, down.test has no verdict, all others pass.
import type { DomainGateway } from '../port.ts'

export function createSandboxGateway(): DomainGateway {
  return {
    name: 'sandbox',
    async check({ host }) {
      if (isSameOrSubdomain(host, 'blocked.test')) return { kind: 'accepted', value: 'blocked' }
      if (isSameOrSubdomain(host, 'down.test'))
        return { kind: 'refused', code: 'no_verdict', reason: 'sandbox_down' }
      return { kind: 'accepted', value: 'passes' }
    },
  }
}

function isSameOrSubdomain(host: string, name: string): boolean {
  return host === name || host.endsWith(`.${name}`)
}

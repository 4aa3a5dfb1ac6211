// The built-in stand-in: needs no network, and these names force each outcome.
import type { Finding, IdentityGateway } from '../port.ts'
import type { Outcome } from '../../upstream/outcome.ts'

const outcomes: ReadonlyMap<string, Outcome<Finding>> = new Map<string, Outcome<Finding>>([
  ['不匹配', { kind: 'accepted', value: { verdict: 'mismatch', facts: {} } }],
  ['无记录', { kind: 'accepted', value: { verdict: 'no_record', facts: {} } }],
  // It concerns this one name, so that trying it out many times closes the sandbox for nobody.
  ['上游故障', { kind: 'not_sent', reason: 'sandbox_failure', onlyThisMessage: true }],
])

const match: Outcome<Finding> = { kind: 'accepted', value: { verdict: 'match', facts: {} } }

export function sandboxGateway(): IdentityGateway {
  return { name: 'sandbox', ask: async (person) => outcomes.get(person.name) ?? match }
}

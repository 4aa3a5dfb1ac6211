// The sandbox gateway without a network: three names force an outcome, all others match.
import type { Outcome } from '../../upstream/outcome.ts'
import type { IdentityGateway, VerificationResult } from '../port.ts'
import { acceptVerdict } from './verdicts.ts'

const outcomes: ReadonlyMap<string, Outcome<VerificationResult>> = new Map([
  ['不匹配', acceptVerdict('mismatch')],
  ['无记录', acceptVerdict('no_record')],
  ['上游故障', { kind: 'not_sent', reason: 'sandbox_failure', onlyThisRequest: true }],
])

export function createSandboxGateway(): IdentityGateway {
  return { name: 'sandbox', verify: async (person) => outcomes.get(person.name) ?? acceptVerdict('match') }
}

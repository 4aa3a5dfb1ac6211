// How each outcome of a verification looks.
import type { IdentityOutcome } from '../../contract/console/identity.ts'
import type { Tone } from '../parts/format.tsx'

export const outcomeTones: Readonly<Record<IdentityOutcome, Tone>> = {
  matched: 'success',
  mismatched: 'error',
  no_record: 'warning',
  failed: 'warning',
}

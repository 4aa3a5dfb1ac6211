// The tables of identity verification.
import type { Milliseconds } from './columns.ts'

export interface IdentityTables {
  identity_record: IdentityRecordTable
}

/** Masks, a keyed hash and the verdict: never a name, never an identity number. */
interface IdentityRecordTable {
  id: number
  account_id: number
  name_mask: string
  number_mask: string
  person_hash: string
  /** Which generation of the hash key `person_hash` was computed with. */
  generation: number
  verdict: 'match' | 'mismatch' | 'no_record' | 'failed'
  gateway: string | null
  reason: string | null
  operation_id: number
  request_id: string
  at: Milliseconds
}

// The masked records of verifications: inserted with the end of the operation, reused for repeated queries, deleted in time.
import { maskIdNumber, maskName } from '../../contract/masking.ts'
import type { StatementPart } from '../credits/batch-writer.ts'
import type { Database, Tx } from '../db/database.ts'
import type { Person, Verdict } from './port.ts'
import { createPersonHash, type HashSeed } from './privacy.ts'
import {
  deleteOldRecords,
  ensureHashSeed,
  findHashSeed,
  findLastVerdict,
  findRecords,
  type VerificationRecord,
  insertRecords,
  type NewIdentityRecord,
  recordsPart,
  type VerificationFilter,
} from './store.ts'

export type RecordInput = Pick<
  NewIdentityRecord,
  'accountId' | 'verdict' | 'gateway' | 'reason' | 'operationId' | 'requestId'
> & { readonly person: Person }

export interface IdentityRecords {
  insert(tx: Tx, inputs: readonly RecordInput[]): Promise<void>
  /** Inserts them in the statement that settles their operations, which fails unless the seed is the one that was last read. */
  part(inputs: readonly RecordInput[]): StatementPart<unknown, never>
  findLastVerdict(accountId: number, person: Person, withinMs: number): Promise<Verdict | undefined>
  list(accountId: number, filter: VerificationFilter): Promise<VerificationRecord[]>
  /** Returns the number of deleted records. */
  deleteOld(days: number, signal: AbortSignal): Promise<number>
}

export function createIdentityRecords(db: Database, secretKey: string): IdentityRecords {
  const hashPerson = createPersonHash(secretKey)
  /** A hint. Until the first transaction there is no such seed. */
  let lastSeed: HashSeed = { generation: 0, salt: '' }

  const recordOf = (seed: HashSeed, { person, ...rest }: RecordInput): NewIdentityRecord => ({
    ...rest,
    nameMask: maskName(person.name),
    numberMask: maskIdNumber(person.number),
    personHash: hashPerson(seed, person),
    generation: seed.generation,
  })

  return {
    async insert(tx, inputs) {
      // Read in the transaction, so that a rotation from the command line applies immediately in every process.
      const seed = await ensureHashSeed(tx)
      lastSeed = seed
      await insertRecords(
        tx,
        inputs.map((input) => recordOf(seed, input)),
        seed,
      )
    },
    part(inputs) {
      const seed = lastSeed
      return recordsPart(
        db,
        inputs.map((input) => recordOf(seed, input)),
        seed,
      )
    },
    async findLastVerdict(accountId, person, withinMs) {
      const seed = await findHashSeed(db)
      if (!seed) return undefined
      const { generation } = seed
      return findLastVerdict(db, { accountId, personHash: hashPerson(seed, person), generation, withinMs })
    },
    list: (accountId, filter) => findRecords(db.reports, accountId, filter),
    deleteOld: (days, signal) => deleteOldRecords(db, days, signal),
  }
}

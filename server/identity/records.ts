// Keeping what may be kept of a verification: written beside its end, found again for repeats, deleted in time.
import { setTimeout as sleep } from 'node:timers/promises'
import { maskIdNumber, maskName } from '../../contract/masking.ts'
import type { Database, Tx } from '../db/database.ts'
import type { Person, Verdict } from './port.ts'
import { personHasher } from './privacy.ts'
import {
  deleteOldRecords,
  findLastVerdict,
  findOrMakeSeed,
  findRecords,
  findSeed,
  type IdentityRecord,
  insertRecord,
  type RecordSearch,
} from './store.ts'

export interface Verified {
  readonly accountId: number
  readonly person: Person
  readonly verdict: Verdict | 'failed'
  readonly gateway: string | undefined
  readonly reason?: string | undefined
  readonly operationId: number
  readonly requestId: string
}

export interface RecordsOptions {
  readonly db: Database
  readonly secretKey: string
  readonly keepDays: number
  readonly onError: (error: unknown) => void
}

export interface Records {
  write(tx: Tx, verified: Verified): Promise<void>
  lastVerdict(accountId: number, person: Person, withinMs: number): Promise<Verdict | undefined>
  history(accountId: number, search: RecordSearch): Promise<IdentityRecord[]>
  /** Deletes what is older than the setting says; tells how many that were. */
  deleteOld(): Promise<number>
  start(): void
  stop(): Promise<void>
}

const perRound = 1_000
const everyMs = 3_600_000

export function openRecords({ db, secretKey, keepDays, onError }: RecordsOptions): Records {
  const hash = personHasher(secretKey)
  const stopping = new AbortController()
  let loop: Promise<void> = Promise.resolve()

  async function deleteOld(): Promise<number> {
    let deleted = 0
    for (;;) {
      const round = await db.write((tx) => deleteOldRecords(tx, keepDays, perRound))
      deleted += round
      // Small transactions: calls go on between them.
      if (round < perRound || stopping.signal.aborted) return deleted
    }
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        await db.write(findOrMakeSeed)
        await deleteOld()
      } catch (error) {
        onError(error)
      }
      await sleep(everyMs, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined)
    }
  }

  return {
    async write(tx, { person, ...rest }) {
      // Read each time, inside the transaction: a rotation on the command line holds at once in every process.
      const seed = await findOrMakeSeed(tx)
      await insertRecord(tx, {
        accountId: rest.accountId,
        nameMask: maskName(person.name),
        numberMask: maskIdNumber(person.number),
        personHash: hash(seed, person),
        generation: seed.generation,
        verdict: rest.verdict,
        gateway: rest.gateway,
        reason: rest.reason,
        operationId: rest.operationId,
        requestId: rest.requestId,
      })
    },
    async lastVerdict(accountId, person, withinMs) {
      const seed = await findSeed(db)
      if (!seed) return undefined
      const { generation } = seed
      return findLastVerdict(db, { accountId, personHash: hash(seed, person), generation, withinMs })
    },
    history: (accountId, page) => findRecords(db, accountId, page),
    deleteOld,
    start() {
      loop = run()
    },
    async stop() {
      stopping.abort()
      await loop
    },
  }
}

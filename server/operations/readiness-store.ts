// Whether this process can serve: the database can be written, and this version can work with its schema.
import type { Logger } from 'pino'
import { Gauge, type Registry } from 'prom-client'
import type { Database, Tx } from '../db/database.ts'
import { findAppliedMigrations, findSchemaProblem } from '../db/migrate.ts'

export type ReadyState = 'ok' | 'database unavailable' | 'schema too new'

export interface Readiness {
  /** One check at a time, at most one per second, however many ask. */
  check(): Promise<ReadyState>
}

/** How long a result is used. */
const cacheMs = 1_000

/** A check that takes longer has failed. */
const timeoutMs = 2_000

/** A write that changes nothing of interest. */
const heartbeatSql = `INSERT INTO setting (name, value) VALUES ('heartbeat', '')
  ON CONFLICT (name) DO UPDATE SET value = ''`

export async function writeHeartbeat(tx: Tx): Promise<void> {
  await tx.run(heartbeatSql)
}

export function createReadiness(db: Database, log: Logger, registry: Registry): Readiness {
  let state: ReadyState = 'ok'
  let checkedAt = Number.NEGATIVE_INFINITY
  let checking: Promise<ReadyState> | undefined
  /** A probe that did not end in time; until it does, no other one starts. */
  let overdue: Promise<unknown> | undefined

  let reason: unknown

  /** A newer version that migrated the database may have removed what this one needs. */
  async function probe(): Promise<ReadyState> {
    const problem = await db.probe(async (tx) => {
      await writeHeartbeat(tx)
      return findSchemaProblem(tx, (await findAppliedMigrations(tx)) ?? [])
    })
    reason = problem?.en
    return problem ? 'schema too new' : 'ok'
  }

  async function run(): Promise<ReadyState> {
    reason = new Error('no response')
    const work = probe().catch((error: unknown): ReadyState => {
      reason = error
      return 'database unavailable'
    })
    overdue = work.finally(() => (overdue = undefined))
    const { promise: timeout, resolve } = Promise.withResolvers<ReadyState>()
    const timer = setTimeout(resolve, timeoutMs, 'database unavailable')
    const found = await Promise.race([work, timeout])
    clearTimeout(timer)
    if (found !== state) report(found)
    state = found
    checkedAt = performance.now()
    checking = undefined
    return found
  }

  function report(found: ReadyState): void {
    if (found === 'ok') log.info('the service is ready again')
    else if (found === 'schema too new') log.error({ reason }, 'the service is not ready: it needs an update')
    else log.error({ err: reason }, 'the service is not ready: the database cannot be written')
  }

  async function check(): Promise<ReadyState> {
    if (performance.now() - checkedAt < cacheMs) return state
    if (checking === undefined && overdue !== undefined) return 'database unavailable'
    return (checking ??= run())
  }

  new Gauge({
    name: 'tollgate_database_up',
    help: 'Whether the database can be written',
    aggregator: 'min',
    registers: [registry],
    async collect() {
      this.set((await check()) === 'database unavailable' ? 0 : 1)
    },
  })
  return { check }
}

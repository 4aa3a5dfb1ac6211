// Finds out whether a connection pooler such as PgBouncer is between us and PostgreSQL, and what it can do.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { connectTimeoutMs, createConnector, processIdOf } from './postgres-connection.ts'
import { codeOf, unavailable } from './postgres-errors.ts'

/**
 * `transaction`: each transaction may run in another session, prepared statements work. `unsupported`: each transaction or
 * statement may run in another session, and prepared statements do not work, or transactions do not.
 */
export type Pooling = 'direct' | 'session' | 'transaction' | 'unsupported'

/** In transaction mode an idle session is reused at once, unless another client was quicker. */
const attempts = 5

/** With a pool of one session, the second transaction waits for the first. */
const waitMs = 2_000

const pidSql = 'SELECT pg_backend_pid() AS pid'

export async function findPooling(url: string): Promise<Pooling> {
  const connector = createConnector(url)
  const opened: pg.Client[] = []
  async function open(): Promise<pg.Client> {
    const client = new pg.Client({
      ...connector.config(),
      application_name: 'tollgate connecting',
      connectionTimeoutMillis: connectTimeoutMs,
    })
    client.on('error', () => undefined)
    await client.connect()
    opened.push(client)
    return client
  }

  try {
    const first = await connector.retry(open)
    if ((await pidOf(first, { text: pidSql })) === processIdOf(first)) return 'direct'
    const second = await connector.retry(open)
    return await findMode(first, second)
  } catch (error) {
    throw unavailable(error)
  } finally {
    for (const client of opened) void client.end().catch(() => undefined)
  }
}

async function findMode(first: pg.Client, second: pg.Client): Promise<Pooling> {
  const prepared = { name: `tollgate_${randomUUID()}`, text: pidSql }
  try {
    for (let attempt = 1; attempt <= attempts; attempt += 1) {
      const pid = await pidOf(first, prepared)
      await second.query('BEGIN')
      if ((await pidOf(second, { text: pidSql })) === pid) {
        // The second client took the session of the first, which now gets another one.
        await Promise.race([pidOf(first, prepared), sleep(waitMs, undefined, { ref: false })])
        return 'transaction'
      }
      await second.query('ROLLBACK')
    }
    return 'session'
  } catch (error) {
    // 26000: no such prepared statement; 42P05: it exists already; 08P01: no transactions in statement mode.
    if (['26000', '42P05', '08P01'].includes(codeOf(error))) return 'unsupported'
    throw error
  }
}

async function pidOf(client: pg.Client, query: pg.QueryConfig): Promise<number | undefined> {
  return (await client.query<{ pid: number }>(query)).rows[0]?.pid
}

// One PostgreSQL for the whole test run (`node --test --test-global-setup=…`); the test processes inherit its address.
import { startPostgres, type PostgresServer } from './postgres.ts'

let server: PostgresServer | undefined

export async function globalSetup(): Promise<void> {
  // Whoever brings a PostgreSQL of their own gets no second one.
  if (process.env['TEST_DATABASE_URL']) return
  server = await startPostgres()
  process.env['TEST_DATABASE_URL'] = server.url
}

export async function globalTeardown(): Promise<void> {
  await server?.stop()
}

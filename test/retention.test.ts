// Expired data is deleted from the start of the service on, completely, in small transactions.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freshStorage, onEachEngine } from './support/engines.ts'
import { startService } from './support/service.ts'

const expired = 1_300

onEachEngine('retention', (engine) => {
  test('stored responses, keys and counters that have expired are deleted when the service starts', async () => {
    const storage = await freshStorage(engine)
    const db = storage.open()
    const numbers = (count: number) =>
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})`
    await db.write(async (tx) => {
      const operations = (state: string, age: number, name: string, count: number) =>
        tx.run(
          `INSERT INTO operation (account_id, api_type, action, cost, state, idempotency_key, fingerprint, response,
             lease_until, request_id, created_at)
           ${numbers(count)} SELECT 1, 'sms', 'test', 0, '${state}', '${name}' || i, 'f', 'r',
             ${tx.now} + 600000, 'r', ${tx.now} - ${age} FROM n`,
        )
      await operations('settled', 86_400_001, 'old', expired)
      await operations('settled', 3_600_000, 'new', 3)
      await operations('held', 86_400_001, 'held', 2)
      await tx.run(
        `INSERT INTO sms_number_count (phone, period, count, ends_at)
         ${numbers(expired)} SELECT 'p' || i, 'd1', 1, ${tx.now} - 1 FROM n`,
      )
      await tx.run(
        `INSERT INTO request_term (account_id, term, request_id, at)
         ${numbers(expired)} SELECT 1, 't' || i, 'r', 0 FROM n`,
      )
      await tx.run(
        `INSERT INTO domain_run (account_id, operation_id, idempotency_key, fingerprint, at, total, done, items, results, counts)
         ${numbers(expired)} SELECT 1, 1, 'k' || i, 'f', ${tx.now} - 86400001, 1, 0, '[]', '[]', '{}' FROM n`,
      )
    })
    const count = async (from: string) =>
      (await db.one<{ count: number }>(`SELECT COUNT(*) AS count FROM ${from}`))!.count
    {
      await using service = await startService(engine, {}, storage)
      for (const from of [
        `operation WHERE idempotency_key LIKE 'old%' OR (idempotency_key IS NULL AND response IS NOT NULL)`,
        'sms_number_count',
        'request_term',
        'domain_run WHERE idempotency_key IS NOT NULL',
      ]) {
        while ((await count(from)) > 0) await new Promise((resolve) => setTimeout(resolve, 10))
      }
      assert.equal(await count('operation WHERE response IS NOT NULL'), 5)
      assert.equal(await count('domain_run'), expired)
      assert.deepEqual(
        service.logged.filter((line) => line.includes('"level":50')),
        [],
      )
    }
    await db.close()
    await storage.remove()
  })
})

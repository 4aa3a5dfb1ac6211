// Searches of links by API: one account that sends many does not make another wait for all of them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { post, startService, type TestAccount } from '../../../test/support/service.ts'
import { until } from '../../../test/support/until.ts'

test('searches of one account are rejected when too many wait, and another account has its turn', async () => {
  await using service = await startService('postgres', { RATE_LIMIT: '5000,5000' })
  const { db } = service.installation
  const [busy, other] = [await service.account(), await service.account()]
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const { promise: locked, resolve: hold } = Promise.withResolvers<void>()
  const lock = db.write(async (tx) => {
    await tx.run('LOCK TABLE link')
    hold()
    await released
  })
  await locked
  const list = ({ username, key }: TestAccount) =>
    post(`${service.url}/api/shortlink_api.php`, { action: 'list', username, api_key: key })
  const statuses: number[] = []
  const sent = Array.from({ length: 520 }, async () => {
    const { status, headers } = await list(busy)
    statuses.push(status)
    if (status === 429) assert.equal(headers.get('retry-after'), '1')
  })
  let answered: ReturnType<typeof list> | undefined
  try {
    // Two run and 500 wait.
    await until(() => statuses.length === 18, 60_000)
    assert.deepEqual([...new Set(statuses)], [429])
    answered = list(other)
    await until(() => statuses.length === 19, 60_000)
  } finally {
    // The service waits for its transactions when it stops.
    release()
  }
  await lock
  assert.equal((await answered).status, 200)
  await Promise.all(sent)
  assert.equal(statuses.filter((status) => status === 200).length, 501)
})

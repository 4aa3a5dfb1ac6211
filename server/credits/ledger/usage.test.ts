// How many look-ups the use of credits by day takes.
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { dayMs } from '../../../contract/time.ts'
import { rangeOf } from '../../console/fields.ts'
import { onEachEngine } from '../../../test/support/engines.ts'
import { startService, type TestService } from '../../../test/support/service.ts'
import { systemActor } from '../../audit/audit.ts'
import type { Database } from '../../db/database.ts'
import { createLedgerUsage } from './usage.ts'

onEachEngine('use of credits by day', (engine) => {
  let service: TestService
  before(async () => void (service = await startService(engine)))
  after(() => service[Symbol.asyncDispose]())

  it('years without an entry take a few look-ups, and the others are as exact as before', async () => {
    const { db } = service.installation
    const account = await service.account({ sms: 5 })
    await service.app.services.credits.take({
      actor: systemActor,
      accountId: account.id,
      apiType: 'sms',
      amount: 2,
    })
    let queries = 0
    const counting: Database = {
      ...db,
      one: async (...args: Parameters<Database['one']>) => {
        queries += 1
        return db.one(...args)
      },
    } as Database
    const usage = createLedgerUsage(counting)
    for (const year of [1999, 2051]) {
      queries = 0
      const { days } = rangeOf({ from: `${year}-01-01`, to: `${year}-12-31` }, { byDefault: 1, max: 366 })
      const used = await usage.usedByDay(account.id, days)
      assert.deepEqual([used.length, used.filter(({ sms }) => sms !== 0)], [365, []])
      assert.ok(queries < 100, `${queries} queries for ${year}`)
    }
    const { days } = rangeOf({}, { byDefault: 366, max: 366 })
    const ends = days.map((_day, index) => rangeOf({ to: days[index]! }, { byDefault: 1, max: 1 }).end)
    assert.deepEqual(await usage.firstIdsAt(ends), await Promise.all(ends.map(usage.firstIdAt)))
    assert.deepEqual(await usage.firstIdsAt([]), [])
  })

  it('reads sums of grants, not each of them, and is exact on each day', async () => {
    // Ids follow time in a ledger, so it has no other entries.
    await using fresh = await startService(engine)
    const { db } = fresh.installation
    const { id: accountId } = await fresh.account()
    const { credits } = fresh.app.services
    const change = { actor: systemActor, accountId, apiType: 'sms' } as const
    const { days, start } = rangeOf({}, { byDefault: 366, max: 366 })
    // Granted, taken and charged on each of the last three days.
    const amounts = [
      [5, 2, 1],
      [7, 0, 4],
      [1, 1, 0],
    ] as const
    let since = (await db.one<{ id: number }>('SELECT COALESCE(MAX(id), 0) AS id FROM ledger'))!.id
    for (const [index, [granted, taken, charged]] of amounts.entries()) {
      for (let grant = 0; grant < 20; grant += 1) await credits.grant({ ...change, amount: granted })
      if (taken > 0) await credits.take({ ...change, amount: taken })
      for (let charge = 0; charge < charged; charge += 1)
        await credits.charge({ accountId, apiType: 'sms', action: 'test', cost: 1, requestId: 'r' })
      const at = start + (days.length - amounts.length + index) * dayMs
      await db.write((tx) => tx.run('UPDATE ledger SET at = ? WHERE id > ?', [at, since]))
      since = (await db.one<{ id: number }>('SELECT MAX(id) AS id FROM ledger'))!.id
    }
    let rows = 0
    const counting: Database = {
      ...db,
      all: async (...args: Parameters<Database['all']>) => {
        const found = await db.all(...args)
        rows += found.length
        return found
      },
    } as Database
    const used = await createLedgerUsage(counting).usedByDay(accountId, days)
    assert.deepEqual(
      used.slice(-4).map(({ sms, short_link: links }) => [sms, links]),
      [
        [0, 0],
        [1, 0],
        [4, 0],
        [0, 0],
      ],
    )
    assert.deepEqual(new Set(used.slice(0, -4).map(({ sms }) => sms)), new Set([0]))
    // Four balances at the start of each day with entries, and a sum of each of these days.
    assert.ok(rows < 30, `${rows} rows`)
  })
})

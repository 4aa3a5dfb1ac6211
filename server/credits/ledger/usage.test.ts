// How many look-ups the use of credits by day takes.
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
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

  it('looks at each grant a few times, whatever the number of days', async () => {
    const { db } = service.installation
    const account = await service.account()
    const { credits } = service.app.services
    for (let grant = 0; grant < 20; grant += 1)
      await credits.grant({ actor: systemActor, accountId: account.id, apiType: 'sms', amount: 5 })
    await credits.take({ actor: systemActor, accountId: account.id, apiType: 'sms', amount: 2 })
    let looks = 0
    const counting: Database = {
      ...db,
      all: async (...args: Parameters<Database['all']>) => {
        const rows = await db.all<{ id: number; amount?: number }>(...args)
        if (rows[0]?.amount === undefined) return rows
        return rows.map(({ id, ...row }) => ({
          ...row,
          get id() {
            looks += 1
            return id
          },
        }))
      },
    } as Database
    const { days } = rangeOf({}, { byDefault: 366, max: 366 })
    const used = await createLedgerUsage(counting).usedByDay(account.id, days)
    assert.deepEqual(new Set(used.map(({ sms }) => sms)), new Set([0]))
    assert.ok(looks > 0 && looks < 1_000, `${looks} looks at 21 grants`)
  })
})

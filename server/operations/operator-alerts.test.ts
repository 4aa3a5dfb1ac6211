// Alerts of operators: gateways, canaries, the ledger; once when a condition begins.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { dayMs, hourMs } from '../../contract/time.ts'
import { systemActor } from '../audit/audit.ts'
import { findCheckpoint } from '../credits/ledger/checkpoint-store.ts'
import { putSetting } from '../db/setting-store.ts'
import { createEventRules } from '../events/delivery.ts'
import { findEndpoint } from '../events/store.ts'
import type { JobFunction } from '../jobs.ts'
import { onEachEngine } from '../../test/support/engines.ts'
import { json, startFakeUpstream } from '../../test/support/fake-upstream.ts'
import { startService } from '../../test/support/service.ts'
import { claimLedgerCheck, findMaintenance } from './maintenance-store.ts'
import { checkAndReport, startOperatorAlerts, type WatchedGateway } from './operator-alerts.ts'

onEachEngine('alerts of operators', (engine) => {
  it('are emitted when a condition begins, and not again before it has ended', async () => {
    const robot = await startFakeUpstream(() => json(200, { errcode: 0 }))
    await using service = await startService(engine, { WEBHOOK_ALLOW_PRIVATE: 'on' })
    const { db } = service.installation
    const account = await service.account({ sms: 5 })
    await db.write((tx) => tx.run(`UPDATE account SET role = 'operator' WHERE id = ?`, [account.id]))
    const rules = createEventRules(service.app.services)
    const operator = { id: account.id, role: 'operator' as const }
    const input = { kind: 'wecom', target: robot.url, language: 'zh' as const }
    const { id } = await rules.alerts.add(systemActor, operator, input)
    await rules.alerts.confirmByOperator(systemActor, (await findEndpoint(db, id))!)
    await rules.webhooks.add(systemActor, account.id, { url: robot.url, events: [] })

    let gateways: readonly WatchedGateway[] = []
    const jobs = new Map<string, JobFunction>()
    const collected = { every: (_ms: number, name: string, run: JobFunction) => void jobs.set(name, run) }
    const services = { ...service.app.services, jobs: { ...service.app.services.jobs, ...collected } }
    startOperatorAlerts({ services, gateways: () => gateways })
    const watch = () => jobs.get('watch_gateways')!(AbortSignal.timeout(10_000))
    const emitted = async () =>
      (
        await db.all<{ type: string; data: string; kind: string }>(
          `SELECT e.type, e.data, p.kind FROM event e JOIN event_delivery d ON d.event_id = e.id
           JOIN event_endpoint p ON p.id = d.endpoint_id WHERE e.type LIKE 'platform.%' ORDER BY e.id`,
        )
      ).map(({ type, data, kind }) => [kind, type, JSON.parse(data) as unknown])

    const aliyun = { name: 'sms aliyun', isDown: true, hasFailedCanary: false }
    gateways = [aliyun, { name: 'domain_check jump', isDown: true, hasFailedCanary: true }]
    await watch()
    await watch()
    const expected = [
      ['wecom', 'platform.gateway_down', { gateway: 'sms aliyun' }],
      ['wecom', 'platform.canary_failed', { gateway: 'domain_check jump' }],
    ]
    assert.deepEqual(await emitted(), expected, 'webhooks get no alerts of the platform')
    gateways = [{ ...aliyun, isDown: false }]
    await watch()
    gateways = [aliyun, { ...aliyun, name: 'sms tencent' }]
    await watch()
    assert.deepEqual(
      await emitted(),
      [...expected, ['wecom', 'platform.gateway_down', { gateway: 'sms tencent' }]],
      'one of a kind an hour',
    )
    await jobs.get('watch_platform')!(AbortSignal.timeout(10_000))

    assert.deepEqual(await checkAndReport(db, 60_000), [])
    assert.equal((await findMaintenance(db)).ledgerOk, true)
    await db.write((tx) => tx.run('UPDATE credit SET total = total + 1 WHERE account_id = ?', [account.id]))
    assert.equal((await checkAndReport(db, 60_000)).length, 4)
    assert.equal((await findMaintenance(db)).ledgerOk, false)
    assert.deepEqual((await emitted()).at(-1), ['wecom', 'platform.ledger_failed', { problems: 4 }])
    await rules.close()
    await robot.close()
  })

  it('one process checks the ledger in each interval, the first time after one', async () => {
    await using service = await startService(engine, { LEDGER_CHECK_HOURS: '0' })
    const { db } = service.installation
    const claim = (now: number) => db.write((tx) => claimLedgerCheck(tx, now, 1_000))
    assert.deepEqual(await Promise.all([claim(5_000), claim(5_000)]), [false, false])
    assert.equal(await claim(5_999), false)
    const claims = await Promise.all([claim(6_000), claim(6_000), claim(6_001)])
    assert.equal(claims.filter(Boolean).length, 1)
  })

  it('the ledger is checked, and the checkpoint moves, after a clock that was ahead is set back', async () => {
    await using service = await startService(engine, { LEDGER_CHECK_HOURS: '0' })
    const { db } = service.installation
    const claim = (now: number) => db.write((tx) => claimLedgerCheck(tx, now, 1_000))
    assert.equal(await claim(90_000), false)
    assert.equal(
      await claim(89_500),
      false,
      'the clock was corrected a little, or the one of another process is slow',
    )
    assert.deepEqual([await claim(5_000), await claim(5_500)], [true, false])

    await service.account({ sms: 5 })
    const ahead = { entryId: 0, operationId: 0, at: Date.now() + 30 * dayMs }
    await db.write(async (tx) => {
      await tx.run('UPDATE ledger SET at = at - ?', [hourMs])
      await putSetting(tx, 'ledger_checkpoint', JSON.stringify(ahead))
    })
    assert.deepEqual(await checkAndReport(db, 60_000), [])
    const { entryId, at } = await findCheckpoint(db)
    assert.ok(entryId > 0 && at < Date.now())
  })
})

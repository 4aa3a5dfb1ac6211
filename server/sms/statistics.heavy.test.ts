// Statistics of messages on both engines: counted by day, template, gateway and reason; bounded; by account and over all.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operatorSmsStatisticsRoutes, smsStatisticsRoutes } from '../../contract/console/sms-statistics.ts'
import { dayMs, startOfDay } from '../../contract/time.ts'
import { operator, signedIn } from '../../test/support/console.ts'
import { onEachEngine } from '../../test/support/engines.ts'
import { startService } from '../../test/support/service.ts'
import { createStatistics } from './statistics.ts'

const first = '2026-03-01'
const days = [first, '2026-03-02', '2026-03-03']

onEachEngine('SMS statistics', (engine) => {
  test('counts by day, template, gateway and reason, for one account and for all', async () => {
    await using service = await startService(engine, { SWEEP_S: '3600' })
    const { db } = service.installation
    const [own, other] = [await service.account({}), await service.account({})]
    const insert = (
      accountId: number,
      day: number,
      values: Partial<Record<'template' | 'gateway' | 'state' | 'problem', string>> & { charged?: number },
    ) =>
      db.write((tx) =>
        tx.run(
          `INSERT INTO sms_send (account_id, operation_id, phone, template_code, template_params, sign_name, parts, gateway,
             state, charged, problem, created_at) VALUES (?, 1, '13800138000', ?, '{}', 'T', 1, ?, ?, ?, ?, ?)`,
          [
            accountId,
            values.template ?? 'A',
            values.gateway ?? 'aliyun',
            values.state ?? 'accepted',
            values.charged ?? 1,
            values.problem ?? '',
            startOfDay(first)! + day * dayMs + 1,
          ],
        ),
      )
    await insert(own.id, -1, {})
    await insert(own.id, 0, {})
    await insert(own.id, 0, { state: 'delivered', template: 'B' })
    await insert(other.id, 1, { state: 'delivered', gateway: 'tencent' })
    await insert(own.id, 1, { state: 'refused', problem: 'number', charged: 0, gateway: 'tencent' })
    await insert(own.id, 1, { state: 'unknown', problem: 'unknown' })
    await insert(own.id, 1, { state: 'unknown', problem: 'unconfirmed', charged: 0 })
    await insert(own.id, 2, { state: 'refused', problem: 'cancelled', charged: 0 })
    await insert(own.id, 2, { state: 'sending' })
    await insert(own.id, 3, {})

    const holder = await signedIn(service, own)
    const sent = { from: first, to: days[2]! }
    const { body } = await holder.call(smsStatisticsRoutes.statistics, { sent })
    assert.deepEqual(body.totals, { total: 7, sent: 1, delivered: 1, failed: 2, undecided: 2, cancelled: 1 })
    assert.deepEqual(
      body.days.map((one: Record<string, unknown>) => [one['day'], one['total'], one['failed']]),
      [
        [days[0], 2, 0],
        [days[1], 3, 2],
        [days[2], 2, 0],
      ],
    )
    const names = (list: readonly Record<string, unknown>[], key: string) =>
      list.map((one) => [one[key], one['total']])
    assert.deepEqual(names(body.templates, 'template_code'), [
      ['A', 6],
      ['B', 1],
    ])
    assert.deepEqual(names(body.gateways, 'gateway'), [
      ['aliyun', 6],
      ['tencent', 1],
    ])
    assert.deepEqual(
      body.reasons.map(({ reason, count }: { reason: string; count: number }) => [reason, count]).toSorted(),
      [
        ['发送结果未能确认，额度已退回', 1],
        ['号码无效或无法接收短信', 1],
      ],
    )
    assert.equal(body.counted_from, null)
    const file = await holder.text(smsStatisticsRoutes.statisticsCsv, {
      sent: { ...sent, template_code: 'B' },
    })
    assert.match(file.text, /模板,B,1,0,1,0,0,0\r\n/)

    const staff = await operator(service)
    const all = await staff.call(operatorSmsStatisticsRoutes.smsStatistics, { sent })
    assert.deepEqual([all.body.totals.total, all.body.totals.delivered], [8, 2])
    const one = await staff.call(operatorSmsStatisticsRoutes.smsStatistics, {
      sent: { ...sent, username: other.username },
    })
    assert.equal(one.body.totals.total, 1)
    const nobody = await staff.call(operatorSmsStatisticsRoutes.smsStatistics, {
      sent: { username: 'nobody-x' },
    })
    assert.deepEqual(Object.keys(nobody.body.error.fields), ['username'])
    const long = await holder.call(smsStatisticsRoutes.statistics, {
      sent: { from: '2020-01-01', to: '2026-01-01' },
    })
    assert.equal(long.status, 400)

    // Too many messages: the newest days are counted whole, and the report says so.
    const filter = { accountId: own.id, templateCode: undefined, days }
    const cut = await createStatistics(db, filter, 'zh', 5)
    assert.deepEqual([cut.counted_from, cut.totals.total, cut.days.length], [days[1], 5, 2])
  })
})

// Group sending in the console: checked without changes, sent and charged once, cancelled, and its result file.
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { operatorSmsRoutes } from '../../../contract/console/operator-sms.ts'
import { smsRoutes } from '../../../contract/console/sms.ts'
import { smsBatchRoutes } from '../../../contract/console/sms-batches.ts'
import { formatTime } from '../../../contract/time.ts'
import { operator, signedIn } from '../../../test/support/console.ts'
import { freshStorage, onEachEngine } from '../../../test/support/engines.ts'
import { openProductPages, type ProductPages } from '../../../test/support/product-pages.ts'
import { startSmsService } from '../../../test/support/sms.ts'
import { until } from '../../../test/support/until.ts'
import { systemActor } from '../../audit/audit.ts'
import { createCompaction } from '../../credits/ledger/compaction.ts'
import { createTemplate } from '../templates.ts'

const number = (i: number) => `138${String(10_000_000 + i)}`
const message = (i: number, code = '1234') => ({ phone_number: number(i), template_params: { code } })
const inAnHour = () => formatTime(Date.now() + 3_600_000)

const refuseDeletions = {
  sqlite: [`CREATE TRIGGER refuse BEFORE DELETE ON sms_send BEGIN SELECT RAISE(ABORT, 'messages stay'); END`],
  postgres: [
    `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'messages stay'; END $$`,
    'CREATE TRIGGER refuse BEFORE DELETE ON sms_send FOR EACH ROW EXECUTE FUNCTION refuse()',
  ],
} as const

onEachEngine('group sending in the console', (engine) => {
  let pages: ProductPages

  before(async () => {
    pages = await openProductPages(engine)
    const { db } = pages.service.installation
    const template = { name: '验证码', content: '您的验证码是${code}。', status: '审核通过' } as const
    await createTemplate(db, systemActor, { ...template, code: 'GROUP' })
  })
  after(() => pages[Symbol.asyncDispose]())

  const countBatches = async () =>
    (await pages.service.installation.db.one<{ n: number }>('SELECT COUNT(*) AS n FROM sms_batch'))!.n

  it('checks and prices messages, and changes nothing', async () => {
    const had = await pages.remaining('sms')
    const messages = [
      message(1),
      message(2, 'x'.repeat(80)),
      message(1),
      { ...message(3), phone_number: '1' },
    ]
    const { body } = await pages.browser.call(smsBatchRoutes.checkBatch, {
      sent: { template_code: 'GROUP', messages },
    })
    assert.deepEqual([body.valid, body.parts, body.cost, body.remaining], [2, 3, 3, had])
    assert.deepEqual(body.rejected, [
      { index: 2, error_message: '号码重复' },
      { index: 3, error_message: 'phone_number 必须是11位手机号' },
    ])
    assert.equal(await pages.remaining('sms'), had)
    assert.equal(await countBatches(), 0)
    const unknown = await pages.browser.call(smsBatchRoutes.checkBatch, {
      sent: { template_code: 'NONE', messages: [message(1)] },
    })
    assert.deepEqual(Object.keys(unknown.body.error.fields), ['template_code'])
    const tooMany = Array.from({ length: 1_001 }, (_one, i) => message(i))
    for (const [sent, field] of [
      [{ messages: tooMany }, 'messages'],
      [{ messages: [] }, 'messages'],
    ] as const) {
      const reply = await pages.browser.call(smsBatchRoutes.sendBatch, {
        sent: { template_code: 'GROUP', ...sent },
      })
      assert.deepEqual([reply.status, Object.keys(reply.body.error.fields)], [400, [field]])
    }
    const past = await pages.browser.call(smsBatchRoutes.sendBatch, {
      sent: { template_code: 'GROUP', messages: [message(1)], send_at: '2020-01-01 00:00:00' },
    })
    assert.match(past.body.error.message, /send_at 必须晚于当前时间/)
    assert.equal(await countBatches(), 0)
  })

  it('sends once with one idempotency key, shows the progress, and gives the result as a file', async () => {
    const { account, browser } = await pages.createAccount({ sms: 10 })
    const refused = { ...message(0), phone_number: '19900000001' }
    const sent = { template_code: 'GROUP', messages: [message(1), message(2), refused, message(2)] }
    const headers = { 'idempotency-key': `group-${account.id}` }
    const first = await browser.call(smsBatchRoutes.sendBatch, { sent, headers })
    assert.deepEqual(
      [first.status, first.body.accepted, first.body.rejected],
      [200, 3, [{ index: 3, error_message: '号码重复' }]],
    )
    const again = await browser.call(smsBatchRoutes.sendBatch, { sent, headers })
    assert.equal(again.body.batch_id, first.body.batch_id)
    const list = async () => (await browser.call(smsBatchRoutes.batches)).body.items
    await until(async () => (await list())[0].pending === 0)
    const items = await list()
    assert.equal(items.length, 1)
    const { id, state, total, succeeded, failed, credits_used: used } = items[0]
    assert.deepEqual([state, total, succeeded, failed, used], ['finished', 3, 2, 1, 2])
    assert.equal(await pages.remaining('sms', account), 8)

    const file = await browser.text(smsBatchRoutes.batchCsv, { parts: { id } })
    const lines = file.text.trim().split('\r\n')
    assert.equal(lines.length, 4)
    assert.match(lines[0]!, /^手机号,结果,原因/)
    assert.match(lines[1]!, new RegExp(`^${number(1)},已提交,`))
    assert.match(lines[3]!, /^19900000001,失败,号码无效或无法接收短信/)
    for (const route of [smsBatchRoutes.batchCsv, smsBatchRoutes.cancelBatch]) {
      assert.equal((await pages.otherBrowser.text(route, { parts: { id } })).status, 404)
    }
    // The operations are gone after compaction; the batch knows what it cost.
    const { db } = pages.service.installation
    const longAgo = 500 * 86_400_000
    await db.write(async (tx) => {
      await tx.run(`UPDATE ledger SET at = at - ${longAgo} WHERE account_id = ?`, [account.id])
      await tx.run(`UPDATE operation SET created_at = created_at - ${longAgo} WHERE account_id = ?`, [
        account.id,
      ])
    })
    await createCompaction(db, 400).run()
    const left = await db.one<{ n: number }>(
      `SELECT COUNT(*) AS n FROM operation WHERE account_id = ? AND action = 'sms.send'`,
      [account.id],
    )
    assert.equal(left!.n, 0)
    assert.equal((await list())[0].credits_used, 2)
  })

  it('a batch is deleted before its messages, and knows what it cost without them', async () => {
    const storage = await freshStorage(engine)
    await using stack = new AsyncDisposableStack()
    stack.defer(() => storage.remove())
    const environment = { SMS_RECORD_DAYS: '150' }
    {
      await using sms = await startSmsService(engine, environment, { sms: 3 }, storage)
      const { db } = sms.service.installation
      const sent = { template_code: 'CODE', template_params: { code: '1234' } }
      const phones = [number(1), number(2)]
      const { body } = await sms.call({ ...sent, action: 'send_batch', phone_numbers: phones })
      const show = async () =>
        (await sms.call({ action: 'get_batch', batch_id: body.data.batch_id })).body.data
      await until(async () => (await show()).pending === 0)
      const keep = 'CREATE TABLE kept AS SELECT * FROM sms_send'
      await db.write(async (tx) => void (await tx.run(keep), await tx.run('DELETE FROM sms_send')))
      const { state, total, credits_used: used } = await show()
      assert.deepEqual([state, total, used], ['finished', 2, 2])
      const browser = await signedIn(sms.service, sms.account)
      assert.equal((await browser.call(smsBatchRoutes.batches)).body.items[0].credits_used, 2)

      const longAgo = 151 * 86_400_000
      await db.write(async (tx) => {
        await tx.run('INSERT INTO sms_send SELECT * FROM kept')
        for (const table of ['sms_send', 'sms_batch'])
          await tx.run(`UPDATE ${table} SET created_at = created_at - ${longAgo}`)
        for (const statement of refuseDeletions[engine]) await tx.run(statement)
      })
    }
    await using sms = await startSmsService(engine, environment, { sms: 3 }, storage)
    const { db } = sms.service.installation
    await until(async () => (await db.one('SELECT 1 FROM sms_batch')) === undefined)
    assert.equal((await db.all('SELECT 1 FROM sms_send')).length, 2)
  })

  it('starter templates of the operator let a new account send at once', async () => {
    const staff = await operator(pages.service)
    const first = await staff.call(operatorSmsRoutes.addStarterTemplates)
    const codes = first.body.items.map(({ code }: { code: string }) => code)
    assert.deepEqual(
      codes.filter((code: string) => code !== 'GROUP'),
      ['CODE_LOGIN', 'NOTICE_ORDER'],
    )
    assert.deepEqual((await staff.call(operatorSmsRoutes.addStarterTemplates)).body, first.body)
    const { account, browser } = await pages.createAccount({ sms: 1 })
    const sent = await browser.call(smsBatchRoutes.sendBatch, {
      sent: { template_code: 'CODE_LOGIN', messages: [message(7)] },
    })
    assert.deepEqual([sent.status, sent.body.accepted], [200, 1], account.username)
    const own = { name: '公共', content: '您好', code: 'COMMON', note: '新客户' }
    const added = await staff.call(operatorSmsRoutes.addSharedTemplate, { sent: own })
    assert.equal(added.body.state, '审核通过')
    const taken = await staff.call(operatorSmsRoutes.addSharedTemplate, { sent: own })
    assert.deepEqual(Object.keys(taken.body.error.fields), ['code'])
    const parts = { id: added.body.id }
    const gone = { parts, sent: { note: '不再使用' } }
    assert.equal((await staff.call(operatorSmsRoutes.removeSharedTemplate, gone)).status, 200)
    assert.equal((await staff.call(operatorSmsRoutes.removeSharedTemplate, gone)).status, 404)
  })

  it('rejects every message of a batch without an error, so that the next batch of the group goes on', async () => {
    const { account, browser } = await pages.createAccount({ sms: 3 })
    await browser.call(smsRoutes.addStop, { sent: { phone_number: number(1) } })
    const draft = (i: number) => ({ template_code: 'GROUP', messages: [message(i)] })
    const headers = { 'idempotency-key': `group-rejected-${account.id}` }
    const first = await browser.call(smsBatchRoutes.sendBatch, { sent: draft(1), headers })
    assert.deepEqual(
      [first.status, first.body],
      [
        200,
        { batch_id: '', accepted: 0, rejected: [{ index: 0, error_message: '号码已退订' }], remaining: 3 },
      ],
    )
    const next = await browser.call(smsBatchRoutes.sendBatch, { sent: draft(2) })
    assert.deepEqual([next.status, next.body.accepted, next.body.remaining], [200, 1, 2])
    assert.equal((await browser.call(smsBatchRoutes.batches)).body.items.length, 1)
  })

  it('cancels what waits, and refuses what costs more than is left', async () => {
    const { account, browser } = await pages.createAccount({ sms: 3 })
    const sent = { template_code: 'GROUP', messages: [message(1), message(2)], send_at: inAnHour() }
    await browser.call(smsBatchRoutes.sendBatch, { sent })
    const poor = await browser.call(smsBatchRoutes.sendBatch, { sent })
    assert.deepEqual([poor.status, poor.body.error.code], [409, 'insufficient'])
    const [batch] = (await browser.call(smsBatchRoutes.batches)).body.items
    assert.deepEqual([batch.state, batch.pending], ['waiting', 2])
    const parts = { id: batch.id }
    const cancelled = await browser.call(smsBatchRoutes.cancelBatch, { parts })
    assert.deepEqual(cancelled.body, { cancelled: 2, remaining: 3 })
    assert.equal((await browser.call(smsBatchRoutes.cancelBatch, { parts })).status, 409)
    assert.equal((await browser.call(smsBatchRoutes.batches)).body.items[0].state, 'cancelled')
    assert.equal(await pages.remaining('sms', account), 3)
  })
})

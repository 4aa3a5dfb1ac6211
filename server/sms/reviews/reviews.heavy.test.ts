// Signatures and templates at vendors on both engines: submitted once, asked until they are decided, shown to holder and operator.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operatorProductRoutes as routes } from '../../../contract/console/operator-products.ts'
import { smsRoutes } from '../../../contract/console/sms.ts'
import { operator, signedIn } from '../../../test/support/console.ts'
import { onEachEngine } from '../../../test/support/engines.ts'
import {
  type Behaviour,
  cutBeforeHeaders,
  json,
  type RecordedRequest,
  startFakeUpstream,
  verifyAliyunSignature,
  verifyTencentSignature,
} from '../../../test/support/fake-upstream.ts'
import { startService } from '../../../test/support/service.ts'
import { type Actor, systemActor } from '../../audit/audit.ts'
import { addSignature, reviewSignature } from '../signatures.ts'
import { createTemplate, editTemplate, findTemplate, reviewTemplate } from '../templates.ts'
import { createVendorReviewJob } from './reviews.ts'

onEachEngine('SMS reviews at vendors', (engine) => {
  test('submits once, asks, shows the reason, and uses the id of an approved template', async () => {
    const answers = new Map<string, Behaviour>()
    const calls: { action: string; fields: Record<string, unknown> }[] = []
    const aliyun = await startFakeUpstream((request: RecordedRequest) => {
      const wrong = verifyAliyunSignature(request, { testid: 'testsecret' })
      if (wrong !== undefined) return json(400, { Code: 'SignatureDoesNotMatch', Message: wrong })
      const action = request.headers['x-acs-action']!
      calls.push({ action, fields: Object.fromEntries(request.query) })
      return answers.get(action) ?? json(400, { Code: 'isp.RAM_PERMISSION_DENY', Message: 'RAM 权限不足' })
    })
    const tencent = await startFakeUpstream((request: RecordedRequest) => {
      const wrong = verifyTencentSignature(request, { id: 'key' })
      if (wrong !== undefined)
        return json(200, { Response: { Error: { Code: 'AuthFailure', Message: wrong } } })
      const action = request.headers['x-tc-action']!
      calls.push({ action, fields: JSON.parse(request.body) as Record<string, unknown> })
      return answers.get(action) ?? cutBeforeHeaders()
    })
    await using vendors = new AsyncDisposableStack()
    vendors.defer(() => aliyun.close())
    vendors.defer(() => tencent.close())
    await using service = await startService(engine, {
      SWEEP_S: '3600',
      SMS_GATEWAYS: 'aliyun,tencent',
      ALIYUN_ACCESS_KEY_ID: 'testid',
      ALIYUN_ACCESS_KEY_SECRET: 'testsecret',
      ALIYUN_SMS_ENDPOINT: aliyun.url,
      ALIYUN_SMS_QUALIFICATION_ID: '1001',
      TENCENT_SECRET_ID: 'id',
      TENCENT_SECRET_KEY: 'key',
      TENCENT_SMS_APP_ID: '1400',
      TENCENT_SMS_ENDPOINT: tencent.url,
    })
    const { db } = service.installation
    const account = await service.account({ sms: 1 })
    const holder = await signedIn(service, account)
    const staff = await operator(service)
    const vendorReviews = createVendorReviewJob(service.app.services)
    const makeDue = () =>
      db.write((tx) => tx.run('UPDATE sms_vendor_review SET due_at = 1 WHERE due_at IS NOT NULL'))
    // The job of the service may run at the same time: the one that claims a row ends it.
    const settle = async (expected: string) => {
      for (;;) {
        await makeDue()
        await vendorReviews.run()
        const rows = await db.all<{ state: string }>('SELECT state FROM sms_vendor_review ORDER BY id')
        if (rows.map(({ state }) => state).join() === expected) return
      }
    }
    const template = await createTemplate(db, systemActor, {
      accountId: account.id,
      code: 'ORDER',
      name: '订单',
      content: '${name}您好，${order}已发货，${name}请查收。',
      status: '审核通过',
    })
    const parts = { kind: 'template', id: template.id }
    answers.set('CreateSmsTemplate', json(200, { Code: 'OK', TemplateCode: 'SMS_900' }))
    answers.set('GetSmsTemplate', json(200, { Code: 'OK', TemplateStatus: '0' }))
    answers.set('AddSmsTemplate', json(200, { Response: { AddTemplateStatus: { TemplateId: '1110' } } }))
    const list = (status: number, reply = '') =>
      json(200, {
        Response: {
          DescribeTemplateStatusSet: [{ TemplateId: 1110, StatusCode: status, ReviewReply: reply }],
        },
      })
    answers.set('DescribeSmsTemplateList', list(1))
    const submitted = await staff.call(routes.submitReview, { parts })
    assert.deepEqual(
      submitted.body.vendors.map((one: { gateway: string }) => one.gateway),
      ['aliyun', 'tencent'],
    )
    assert.equal((await staff.call(routes.submitReview, { parts })).status, 400)
    await settle('reviewing,reviewing')
    const sent = calls.find(({ action }) => action === 'CreateSmsTemplate')!.fields
    assert.deepEqual(
      [sent['TemplateType'], sent['TemplateRule'], sent['RelatedSignName']],
      ['1', '{"name":"others","order":"others"}', 'Tollgate'],
    )
    const numbered = calls.find(({ action }) => action === 'AddSmsTemplate')!.fields
    assert.deepEqual(
      [numbered['TemplateContent'], numbered['SmsType']],
      ['{1}您好，{2}已发货，{1}请查收。', 2],
    )

    answers.set('GetSmsTemplate', json(200, { Code: 'OK', TemplateStatus: '1' }))
    answers.set('DescribeSmsTemplateList', list(-1, '内容含营销词'))
    await settle('approved,refused')
    const { body } = await holder.call(smsRoutes.template, { parts: { id: template.id } })
    assert.deepEqual(
      body.vendors.map((one: { state: string; reason: string | null }) => [one.state, one.reason]),
      [
        ['approved', null],
        ['refused', '内容含营销词'],
      ],
    )
    assert.deepEqual((await findTemplate(db, account.id, template.id)).gatewayCodes, { aliyun: 'SMS_900' })
    assert.equal(calls.filter(({ action }) => action === 'CreateSmsTemplate').length, 1)

    // A refused one can be submitted again; an approved one too, after a change at the vendor.
    answers.delete('AddSmsTemplate')
    await staff.call(routes.submitReview, { parts, sent: { gateways: ['tencent'] } })
    await settle('approved,failed')
    const again = (await staff.call(routes.reviews, { sent: { state: '审核通过', kind: 'template' } })).body
      .items
    assert.match(again[0].vendors[1].reason, /无法确认服务商是否收到/)
    assert.equal(calls.filter(({ action }) => action === 'AddSmsTemplate').length, 2)

    // The vendor has approved this text: under another name it stays, with another text it needs another review there.
    await staff.call(routes.submitReview, { parts, sent: { gateways: ['aliyun'] } })
    await settle('approved,failed')
    const gatewayCodes = async () => (await findTemplate(db, account.id, template.id)).gatewayCodes
    const vendorStates = async () => {
      const shown = await holder.call(smsRoutes.template, { parts: { id: template.id } })
      return shown.body.vendors.map((one: { state: string }) => one.state)
    }
    const own: Actor = { kind: 'account', accountId: account.id }
    await editTemplate(db, own, template.id, { name: '订单通知' })
    assert.deepEqual(
      [await gatewayCodes(), await vendorStates()],
      [{ aliyun: 'SMS_900' }, ['approved', 'failed']],
    )
    await editTemplate(db, systemActor, template.id, { gatewayCodes: { aliyun: 'SMS_900', http: 'own' } })
    await editTemplate(db, own, template.id, { content: '${order}已发货，${name}您好。' })
    await reviewTemplate(db, systemActor, template.id, { status: '审核通过' })
    assert.deepEqual([await gatewayCodes(), await vendorStates()], [{ http: 'own' }, []])
    await staff.call(routes.submitReview, { parts })
    await settle('approved,failed')
    assert.deepEqual(await gatewayCodes(), { http: 'own', aliyun: 'SMS_900' })

    // A signature: no right at one vendor, no qualification at the other. Nothing else is blocked.
    const { id } = await addSignature(db, systemActor, account.id, { signName: '云帆商城' })
    const early = await staff.call(routes.submitReview, { parts: { kind: 'signature', id } })
    assert.match(early.body.error.message, /平台审核通过后/)
    await reviewSignature(db, systemActor, id, { status: '审核通过' })
    await staff.call(routes.submitReview, { parts: { kind: 'signature', id } })
    await settle('approved,failed,failed,failed')
    const shown = (await holder.call(smsRoutes.signatures)).body.items[0]
    assert.equal(shown.state, '审核通过')
    assert.deepEqual(
      shown.vendors.map((one: { reason: string }) => one.reason),
      [
        '服务商账号没有相应权限：isp.RAM_PERMISSION_DENY RAM 权限不足',
        '未设置资质 ID（ALIYUN_SMS_QUALIFICATION_ID 或 TENCENT_SMS_QUALIFICATION_ID）',
      ],
    )
    answers.set('CreateSmsSign', json(200, { Code: 'OK', SignName: '云帆商城', OrderId: '2001' }))
    answers.set('GetSmsSign', json(200, { Code: 'OK', SignStatus: 2, AuditInfo: { RejectInfo: '资质不符' } }))
    await staff.call(routes.submitReview, {
      parts: { kind: 'signature', id },
      sent: { gateways: ['aliyun'] },
    })
    await settle('approved,failed,refused,failed')
    const sign = calls.filter(({ action }) => action === 'CreateSmsSign').at(-1)!.fields
    assert.deepEqual(
      [sign['SignName'], sign['SignSource'], sign['QualificationId']],
      ['云帆商城', '0', '1001'],
    )

    // A process that stopped within its call: the submission is not repeated.
    await db.write((tx) =>
      tx.run(
        `UPDATE sms_vendor_review SET state = 'waiting', lease_until = 1, due_at = 1 WHERE state = 'refused'`,
      ),
    )
    await settle('approved,failed,failed,failed')
    assert.equal(calls.filter(({ action }) => action === 'CreateSmsSign').length, 2)
    await holder.call(smsRoutes.deleteSignature, { parts: { id } })
    await settle('approved,failed')
  })

  test('an approval counts, although the template got another name while it was queried', async () => {
    let onQuery = async () => undefined as unknown
    const aliyun = await startFakeUpstream(async (request: RecordedRequest) => {
      if (request.headers['x-acs-action'] === 'CreateSmsTemplate')
        return json(200, { Code: 'OK', TemplateCode: 'SMS_900' })
      await onQuery()
      return json(200, { Code: 'OK', TemplateStatus: '1' })
    })
    await using vendor = new AsyncDisposableStack()
    vendor.defer(() => aliyun.close())
    await using service = await startService(engine, {
      SWEEP_S: '3600',
      SMS_GATEWAYS: 'aliyun',
      ALIYUN_ACCESS_KEY_ID: 'testid',
      ALIYUN_ACCESS_KEY_SECRET: 'testsecret',
      ALIYUN_SMS_ENDPOINT: aliyun.url,
    })
    await service.app.services.jobs.stop()
    const { db } = service.installation
    const account = await service.account()
    const vendorReviews = createVendorReviewJob(service.app.services)
    const approve = async (name: string, edit: Parameters<typeof editTemplate>[3]) => {
      const text = { name, content: '您好${name}', status: '审核通过' as const }
      const { id } = await createTemplate(db, systemActor, { accountId: account.id, code: name, ...text })
      await vendorReviews.submit(systemActor, 'template', id, ['aliyun'])
      await vendorReviews.run()
      await db.write((tx) => tx.run('UPDATE sms_vendor_review SET due_at = 1 WHERE due_at IS NOT NULL'))
      onQuery = () => editTemplate(db, systemActor, id, edit)
      await vendorReviews.run()
      return (await findTemplate(db, account.id, id)).gatewayCodes
    }
    assert.deepEqual(await approve('A', { name: 'B' }), { aliyun: 'SMS_900' })
    assert.deepEqual(await approve('C', { content: '再见${name}' }), {})
  })

  test('a stop of the service loses no submission, and what was not sent is queued again', async () => {
    const submitted: string[] = []
    const called = Promise.withResolvers<void>()
    const answer = Promise.withResolvers<void>()
    const aliyun = await startFakeUpstream(async (request: RecordedRequest) => {
      if (request.headers['x-acs-action'] !== 'CreateSmsTemplate') return json(500, {})
      submitted.push(request.query.get('TemplateName')!)
      called.resolve()
      await answer.promise
      return json(200, { Code: 'OK', TemplateCode: `SMS_90${submitted.length}` })
    })
    await using vendor = new AsyncDisposableStack()
    vendor.defer(() => aliyun.close())
    await using service = await startService(engine, {
      SWEEP_S: '3600',
      SMS_GATEWAYS: 'aliyun',
      ALIYUN_ACCESS_KEY_ID: 'testid',
      ALIYUN_ACCESS_KEY_SECRET: 'testsecret',
      ALIYUN_SMS_ENDPOINT: aliyun.url,
    })
    await service.app.services.jobs.stop()
    const { db } = service.installation
    const account = await service.account()
    const vendorReviews = createVendorReviewJob(service.app.services)
    for (const name of ['甲', '乙', '丙']) {
      const { id } = await createTemplate(db, systemActor, {
        accountId: account.id,
        code: `T${name.codePointAt(0)}`,
        name,
        content: '您好${name}',
        status: '审核通过',
      })
      await vendorReviews.submit(systemActor, 'template', id, ['aliyun'])
    }
    await db.write((tx) => tx.run(`UPDATE sms_template SET variables = '' WHERE name = '乙'`))
    const stop = new AbortController()
    const running = vendorReviews.run(stop.signal)
    await called.promise
    stop.abort()
    answer.resolve()
    await running
    const states = () =>
      db.all<{ state: string; reason: string; lease_until: number }>(
        'SELECT state, reason, lease_until FROM sms_vendor_review ORDER BY id',
      )
    const waiting = { state: 'waiting', reason: '', lease_until: 0 }
    assert.deepEqual(await states(), [{ state: 'reviewing', reason: '', lease_until: 0 }, waiting, waiting])

    // The next process goes on. One that cannot be read was not sent: it is tried again.
    await vendorReviews.run()
    assert.deepEqual(
      (await states()).map(({ state, reason }) => [state, reason]),
      [
        ['reviewing', ''],
        ['waiting', 'not_prepared'],
        ['reviewing', ''],
      ],
    )
    assert.deepEqual(submitted, ['甲', '丙'])
  })
})

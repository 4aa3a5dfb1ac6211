// Messages without a look-up of their template: a change of it takes effect with the next message all the same.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { onEachEngine } from '../../test/support/engines.ts'
import { type SmsService, startSmsService } from '../../test/support/sms.ts'
import { until } from '../../test/support/until.ts'
import { systemActor } from '../audit/audit.ts'
import {
  createTemplate,
  deleteTemplate,
  editTemplate,
  reviewTemplate,
  type SmsTemplate,
} from './templates.ts'

const noSuchTemplate = 1007
const wrongParameters = 1002

/** Sends three messages, so that the process knows the account, its balance and the template. */
async function knownTemplate(sms: SmsService, code: string): Promise<SmsTemplate> {
  const template = await sms.template({ code, content: '您的验证码是${code}。' })
  for (let n = 0; n < 3; n += 1) assert.equal((await sms.send({ template_code: code })).body.code, 0)
  return template
}

onEachEngine('a template that was used before', (engine) => {
  let sms: SmsService

  before(async () => void (sms = await startSmsService(engine, { RATE_LIMIT: 'off' }, { sms: 100_000 })))
  after(() => sms[Symbol.asyncDispose]())

  const db = () => sms.service.installation.db
  const codeOf = async (template_code: string, template_params: object = { code: '1234' }) =>
    (await sms.send({ template_code, template_params })).body.code

  it('181 is not used after a review refuses it, and again after one approves it', async () => {
    const { id } = await knownTemplate(sms, 'REVIEWED')
    const remaining = await sms.remaining()
    await reviewTemplate(db(), systemActor, id, { status: '审核不通过', reason: '内容不合规' })
    for (let n = 0; n < 2; n += 1) assert.equal(await codeOf('REVIEWED'), noSuchTemplate)
    assert.equal(await sms.remaining(), remaining)
    await reviewTemplate(db(), systemActor, id, { status: '审核通过' })
    for (let n = 0; n < 3; n += 1) assert.equal(await codeOf('REVIEWED'), 0)
    assert.equal(await sms.remaining(), remaining - 3)
  })

  it('181 has its new content and variables at once', async () => {
    const { id } = await knownTemplate(sms, 'EDITED')
    const content = '您的验证码是${pin}，请勿告诉他人。'
    const { revision } = await editTemplate(db(), systemActor, id, { content })
    await reviewTemplate(db(), systemActor, id, { status: '审核通过', revision })
    assert.equal(await codeOf('EDITED'), wrongParameters)
    assert.equal(await codeOf('EDITED', { pin: '1234' }), 0)
  })

  it('181 is not found after it was deleted, nor is an older one in its place', async () => {
    const { id } = await knownTemplate(sms, 'DELETED')
    await deleteTemplate(db(), systemActor, id)
    assert.equal(await codeOf('DELETED'), noSuchTemplate)
    await sms.template({ code: 'DELETED', content: '订单${order}已发货。' })
    assert.equal(await codeOf('DELETED'), wrongParameters)
    assert.equal(await codeOf('DELETED', { order: '17' }), 0)
  })

  it('181 changes at once when it is shared, and is hidden by one of the account', async () => {
    const shared = await createTemplate(db(), systemActor, {
      accountId: null,
      code: 'SHARED',
      name: '共享',
      content: '您的验证码是${code}。',
      status: '审核通过',
    })
    for (let n = 0; n < 3; n += 1) assert.equal(await codeOf('SHARED'), 0)
    await reviewTemplate(db(), systemActor, shared.id, { status: '审核中' })
    assert.equal(await codeOf('SHARED'), noSuchTemplate)
    await reviewTemplate(db(), systemActor, shared.id, { status: '审核通过' })
    assert.equal(await codeOf('SHARED'), 0)
    await db().write((tx) =>
      tx.run('UPDATE sms_template SET account_id = ?, variables = ? WHERE code = ?', [
        sms.account.id,
        '["code","more"]',
        'SHARED',
      ]),
    )
    assert.equal(await codeOf('SHARED'), wrongParameters)
  })

  it('181 no message is charged after the commit of a refusal, however many are sent', async () => {
    const { id } = await knownTemplate(sms, 'RACE')
    const newest = async () =>
      (await db().one<{ id: number | null }>('SELECT MAX(id) AS id FROM sms_send'))!.id ?? 0
    let isOpen = true
    let sent = 0
    let refused = 0
    const callers = Array.from({ length: 12 }, async () => {
      while (isOpen) {
        const code = await codeOf('RACE')
        assert.ok(code === 0 || code === noSuchTemplate, `${code}`)
        if (code === 0) sent += 1
        else refused += 1
      }
    })
    try {
      for (let round = 0; round < 5; round += 1) {
        const enough = sent + 40
        await until(async () => sent >= enough)
        await reviewTemplate(db(), systemActor, id, { status: '审核不通过', reason: '内容不合规' })
        const last = await newest()
        const enoughRefused = refused + 40
        await until(async () => refused >= enoughRefused)
        assert.equal(await newest(), last)
        await reviewTemplate(db(), systemActor, id, { status: '审核通过' })
      }
    } finally {
      isOpen = false
      await Promise.all(callers)
    }
    assert.deepEqual(await sms.findLedgerProblems(), [])
  })
})

describe('known templates', () => {
  it('replace the look-up, and rely on the trigger of the table', async () => {
    await using sms = await startSmsService('postgres')
    const { db } = sms.service.installation
    const { id } = await knownTemplate(sms, 'KNOWN')
    await db.write(async (tx) => {
      await tx.run('ALTER TABLE sms_template DISABLE TRIGGER touch_account')
      await tx.run(`UPDATE sms_template SET status = '审核不通过' WHERE id = ?`, [id])
      await tx.run('ALTER TABLE sms_template ENABLE TRIGGER touch_account')
    })
    assert.equal((await sms.send({ template_code: 'KNOWN' })).body.code, 0)
    await db.write((tx) => tx.run(`UPDATE sms_template SET status = '审核不通过' WHERE id = ?`, [id]))
    assert.equal((await sms.send({ template_code: 'KNOWN' })).body.code, noSuchTemplate)
  })
})

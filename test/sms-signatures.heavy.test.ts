// Signatures and the stop list through the API and the command line, with a running service.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { readConfig } from '../server/config.ts'
import { signatureRule } from '../server/sms/usable-signature.ts'
import { onEachEngine } from './support/engines.ts'
import { admin } from './support/service.ts'
import { phone, type SmsService, startSmsService } from './support/sms.ts'

onEachEngine('SMS signatures', (engine) => {
  let sms: SmsService
  before(async () => (sms = await startSmsService(engine, { SMS_SIGNATURES: 'approved' })))
  after(() => sms[Symbol.asyncDispose]())

  async function cli(...words: string[]) {
    const result = await admin(sms.service.storage.environment, ...words, '--json')
    assert.equal(result.code, 0, result.stderr)
    return JSON.parse(result.stdout)
  }
  const signatures = async () => (await sms.call({ action: 'get_signatures' })).body.data

  it('refuses a sign_name that is not approved, without a charge', async () => {
    const { username } = sms.account
    const remaining = await sms.remaining()
    const refused = await sms.send({ sign_name: '云帆商城' })
    assert.equal(refused.status, 400)
    assert.deepEqual(refused.body, { code: 1002, message: '签名未通过审核' })
    assert.deepEqual(await signatures(), [])
    assert.equal((await sms.send({ sign_name: 'Tollgate' })).body.code, 0)

    const added = await cli('signature', 'add', username, '云帆商城', '--status', '审核中')
    assert.deepEqual([added.state, added.is_default], ['审核中', false])
    assert.equal((await sms.send({ sign_name: '云帆商城' })).body.message, '签名未通过审核')
    await cli('signature', 'set', username, '云帆商城', '--status', '审核通过')
    assert.equal((await sms.send({ sign_name: '云帆商城' })).body.code, 0)
    assert.deepEqual(await signatures(), [{ sign_name: '云帆商城', state: '审核通过', is_default: true }])

    await cli('signature', 'set', username, '云帆商城', '--status', '审核不通过')
    assert.equal((await sms.send({ sign_name: '云帆商城' })).body.message, '签名未通过审核')
    assert.equal((await sms.send({})).body.code, 0)
    const [latest] = await sms.records()
    assert.equal(latest.sign_name, 'Tollgate')
    assert.equal(await sms.remaining(), remaining - 3)
    const listed = await cli('signature', 'list', username)
    assert.deepEqual(
      listed.signatures.map((one: Record<string, unknown>) => [
        one['sign_name'],
        one['state'],
        one['is_default'],
      ]),
      [['云帆商城', '审核不通过', false]],
    )
  })

  it('account set --sign-name approves at once and makes the default', async () => {
    const { username } = sms.account
    await cli('account', 'set', username, '--sign-name', '云帆通知')
    assert.deepEqual((await signatures()).at(-1), {
      sign_name: '云帆通知',
      state: '审核通过',
      is_default: true,
    })
    await sms.send({})
    assert.equal((await sms.records())[0].sign_name, '云帆通知')
    // Another account does not share it.
    const other = await sms.service.account({ sms: 10 })
    const foreign = await sms.send({ username: other.username, api_key: other.key, sign_name: '云帆通知' })
    assert.equal(foreign.body.code, 1007)
    await sms.template({ accountId: other.id })
    const refused = await sms.send({ username: other.username, api_key: other.key, sign_name: '云帆通知' })
    assert.equal(refused.body.message, '签名未通过审核')
  })

  it('a number on the stop list gets nothing, for one signature or for all', async () => {
    const { username } = sms.account
    const remaining = await sms.remaining()
    assert.equal((await cli('stop', 'add', username, phone)).added, true)
    const stopped = await sms.send()
    assert.equal(stopped.status, 400)
    assert.deepEqual(stopped.body, { code: 1002, message: '号码已退订' })
    assert.equal(await sms.remaining(), remaining)
    const listed = await cli('stop', 'list', username)
    assert.deepEqual(
      listed.stops.map((one: Record<string, unknown>) => [
        one['phone_number'],
        one['sign_name'],
        one['source'],
      ]),
      [[phone, '', 'operator']],
    )
    await cli('stop', 'remove', username, phone)
    assert.equal((await sms.send()).body.code, 0)

    await cli('stop', 'add', username, phone, '--sign-name', 'Tollgate')
    assert.equal((await sms.send({ sign_name: 'Tollgate' })).body.message, '号码已退订')
    assert.equal((await sms.send({ sign_name: '云帆通知' })).body.code, 0)
    assert.equal((await sms.send({ sign_name: 'Tollgate', phone_number: '13900139000' })).body.code, 0)
    assert.deepEqual(await sms.findLedgerProblems(), [])
  })

  it('reports wrong arguments in one line', async () => {
    const { environment } = sms.service.storage
    const { username } = sms.account
    for (const words of [
      ['signature', 'add', username, '【x】'],
      ['signature', 'add', username, '云帆通知'],
      ['signature', 'add', username, '新签名', '--status', 'approved'],
      ['signature', 'set', username, '没有这个', '--status', '审核通过'],
      ['signature', 'set', username, '云帆通知'],
      ['signature', 'list', 'nobody'],
      ['stop', 'add', username, '123'],
      ['stop', 'remove', username, '13100131000'],
    ]) {
      const result = await admin(environment, ...words)
      assert.equal(result.code, 1, words.join(' '))
      assert.match(result.stderr, /^[^\n]+\n$/)
    }
  })
})

describe('SMS_SIGNATURES', () => {
  const http = { SMS_GATEWAYS: 'http', SMS_HTTP_URL: 'http://127.0.0.1:1', SMS_HTTP_SECRET: 'x' }
  it('is approved with a real gateway and any on the sandbox, unless it is set', () => {
    assert.equal(signatureRule(readConfig({})), 'any')
    assert.equal(signatureRule(readConfig(http)), 'approved')
    assert.equal(signatureRule(readConfig({ ...http, SMS_SIGNATURES: 'any' })), 'any')
    assert.equal(signatureRule(readConfig({ SMS_SIGNATURES: 'approved' })), 'approved')
    assert.throws(() => readConfig({ SMS_SIGNATURES: 'yes' }), /SMS_SIGNATURES/)
  })

  it('the platform signature has no invisible characters', () => {
    for (const wrong of ['Toll\u200bgate', 'Toll\u202egate', '【Tollgate】', 'T', 'T'.repeat(21)])
      assert.throws(() => readConfig({ SMS_SIGN_NAME: wrong }), /SMS_SIGN_NAME/, wrong)
  })
})

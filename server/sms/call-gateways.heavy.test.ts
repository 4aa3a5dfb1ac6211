// Which gateway the record of a message names when several could not send it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { onEachEngine } from '../../test/support/engines.ts'
import { json, startFakeUpstream } from '../../test/support/fake-upstream.ts'
import { startSmsService } from '../../test/support/sms.ts'
import { until } from '../../test/support/until.ts'

const aliyunCode = (code: string) => json(code.startsWith('isv.') ? 200 : 400, { Code: code, RequestId: 'r' })
const tencentCode = (code: string) => json(200, { Response: { Error: { Code: code }, RequestId: 'r' } })
const noBalance = 'isv.AMOUNT_NOT_ENOUGH'
const noTemplate = 'FailedOperation.TemplateUnapprovedOrNotExist'

onEachEngine('a message that no gateway sent', (engine) => {
  test('has the gateway and the code of one attempt, alone and in a batch', async () => {
    await using vendors = new AsyncDisposableStack()
    const [aliyun, tencent] = [await startFakeUpstream(), await startFakeUpstream()]
    vendors.defer(() => aliyun.close())
    vendors.defer(() => tencent.close())
    await using sms = await startSmsService(engine, {
      SMS_GATEWAYS: 'aliyun,tencent',
      SMS_RETRY_S: '0',
      ALIYUN_ACCESS_KEY_ID: 'testid',
      ALIYUN_ACCESS_KEY_SECRET: 'testsecret',
      ALIYUN_SMS_ENDPOINT: aliyun.url,
      TENCENT_SECRET_ID: 'id',
      TENCENT_SECRET_KEY: 'key',
      TENCENT_SMS_APP_ID: '1400',
      TENCENT_SMS_ENDPOINT: tencent.url,
    })
    const { db } = sms.service.installation
    const newest = async () => ({
      ...(await db.one<Record<string, unknown>>(
        'SELECT gateway, problem, problem_code FROM sms_send ORDER BY id DESC LIMIT 1',
      )),
    })
    for (const [first, second, gateway, code] of [
      ['Throttling.User', 'AuthFailure', 'aliyun', 'Throttling.User'],
      [noBalance, noTemplate, 'aliyun', noBalance],
      [noBalance, 'AuthFailure', 'tencent', 'AuthFailure'],
    ] as const) {
      aliyun.handle(() => aliyunCode(first))
      tencent.handle(() => tencentCode(second))
      assert.equal((await sms.send()).body.code, 1005)
      assert.deepEqual(await newest(), { gateway, problem: 'gateway', problem_code: code })
      await sms.service.app.requestLog.flush()
      const logged = await db.one<Record<string, unknown>>(
        'SELECT gateway FROM request_log ORDER BY id DESC LIMIT 1',
      )
      assert.deepEqual({ ...logged }, { gateway })
    }

    aliyun.handle(() => aliyunCode(noBalance))
    tencent.handle(() => tencentCode(noTemplate))
    const accepted = await sms.call({
      action: 'send_batch',
      template_code: 'CODE',
      template_params: { code: '1234' },
      phone_numbers: ['13800138001'],
    })
    assert.equal(accepted.body.code, 0)
    const refused = { gateway: 'aliyun', problem: 'gateway', problem_code: noBalance }
    await until(async () => isDeepStrictEqual(await newest(), refused))
    assert.equal(await sms.remaining(), 100)
    assert.deepEqual(await sms.findLedgerProblems(), [])
  })
})

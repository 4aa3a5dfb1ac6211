// kill -9 during a send: after the restart the gateway is queried, the credits are decided, nothing is sent again.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import { systemActor } from '../server/audit/audit.ts'
import { createAccount, resetKey } from '../server/accounts/accounts.ts'
import { readConfig } from '../server/config.ts'
import { checkLedger } from '../server/credits/ledger/check-store.ts'
import { createCredits } from '../server/credits/credits.ts'
import { openInstallation } from '../server/runtime/installation.ts'
import { createTemplate } from '../server/sms/templates.ts'
import { freshStorage, onEachEngine } from './support/engines.ts'
import { hang, json, startFakeUpstream } from './support/fake-upstream.ts'
import { post, spawnService } from './support/service.ts'

onEachEngine('SMS after a crash', (engine) => {
  test('charges sent messages after kill -9, refunds the others and sends none twice', async () => {
    const storage = await freshStorage(engine)
    const aliyun = await startFakeUpstream(() => hang())
    const environment = {
      ...storage.environment,
      SAMPLE_ACCOUNT: 'off',
      OPERATION_LEASE_S: '1',
      SWEEP_S: '1',
      GATEWAY_TIMEOUT_MS: '20000',
      SMS_GATEWAYS: 'aliyun',
      ALIYUN_ACCESS_KEY_ID: 'testid',
      ALIYUN_ACCESS_KEY_SECRET: 'testsecret',
      ALIYUN_SMS_ENDPOINT: aliyun.url,
    }
    const installation = await openInstallation(readConfig(environment))
    const { db, secretKey } = installation
    const { id, username } = await createAccount(db, systemActor, {
      username: 'crash',
      password: 'correct horse 9',
    })
    const key = await resetKey(db, systemActor, id)
    const credits = createCredits(db, secretKey)
    await credits.grant({ actor: systemActor, accountId: id, apiType: 'sms', amount: 10 })
    const operator = systemActor
    await createTemplate(db, operator, {
      accountId: id,
      code: 'C',
      name: 'c',
      content: '${c}',
      status: '审核通过',
    })

    const values = { action: 'send', username, api_key: key, template_code: 'C', template_params: { c: '1' } }
    const first = await spawnService(environment)
    const calls = ['13800138000', '13900139000'].map((number) =>
      post(
        `${first.url}/api/sms_api.php`,
        { ...values, phone_number: number },
        { 'idempotency-key': number },
      ).catch(() => undefined),
    )
    while (aliyun.requests.length < 2) await sleep(10)
    await first.kill('SIGKILL')
    await Promise.all(calls)
    assert.equal((await credits.balance(id, 'sms')).remaining, 8)

    // Only the first message was sent.
    const sent = aliyun.requests.find((request) => request.query.get('PhoneNumbers') === '13800138000')
    aliyun.handle((request) =>
      json(200, {
        Code: 'OK',
        SmsSendDetailDTOs: {
          SmsSendDetailDTO:
            request.query.get('PhoneNumber') === '13800138000'
              ? [{ OutId: sent!.query.get('OutId'), SendStatus: 3 }]
              : [],
        },
      }),
    )
    const second = await spawnService(environment)
    const retry = (number: string) =>
      post(
        `${second.url}/api/sms_api.php`,
        { ...values, phone_number: number },
        { 'idempotency-key': number },
      )
    for (;;) {
      const held = await db.one<{ n: number }>(`SELECT COUNT(*) AS n FROM operation WHERE state = 'held'`)
      if (held?.n === 0) break
      await sleep(50)
    }
    assert.equal((await credits.balance(id, 'sms')).remaining, 9)
    const [paid, refunded] = [await retry('13800138000'), await retry('13900139000')]
    assert.deepEqual([paid.body.code, paid.body.data.biz_id], [0, sent!.query.get('OutId')])
    assert.equal(refunded.body.code, 1005)
    assert.equal(aliyun.requests.filter((request) => request.headers['x-acs-action'] === 'SendSms').length, 2)
    assert.deepEqual((await checkLedger(db, 10_000)).problems, [])
    assert.equal(await second.kill('SIGTERM'), 0)
    await installation.close()
    await aliyun.close()
    await storage.remove()
  })
})

// Two processes send batches through a slow provider and are killed several times: no number is reached twice, none is forgotten.
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
import { json, type RecordedRequest, startFakeUpstream } from './support/fake-upstream.ts'
import { post, spawnService } from './support/service.ts'
import { until } from './support/until.ts'

const perBatch = 500
const batches = 2
const kills = 3

onEachEngine('SMS batches after crashes', (engine) => {
  test('kill -9 of two processes never sends twice, and everything is settled or refunded', async (context) => {
    const storage = await freshStorage(engine)
    /** The provider's own records: how often each number was reached, and the serial number of the message. */
    const reached = new Map<string, number>()
    const serials = new Map<string, string>()
    const answer = async (request: RecordedRequest) => {
      if (request.headers['x-acs-action'] === 'SendSms') {
        const phone = request.query.get('PhoneNumbers')!
        reached.set(phone, (reached.get(phone) ?? 0) + 1)
        serials.set(phone, request.query.get('OutId')!)
        await sleep(40)
        return json(200, { Code: 'OK', BizId: `b${phone}` })
      }
      const serial = serials.get(request.query.get('PhoneNumber')!)
      const found = serial === undefined ? [] : [{ OutId: serial, SendStatus: 3 }]
      return json(200, { Code: 'OK', SmsSendDetailDTOs: { SmsSendDetailDTO: found } })
    }
    const provider = await startFakeUpstream(answer)
    const environment = {
      ...storage.environment,
      SAMPLE_ACCOUNT: 'off',
      OPERATION_LEASE_S: '2',
      SWEEP_S: '1',
      SMS_GATEWAYS: 'aliyun',
      ALIYUN_ACCESS_KEY_ID: 'testid',
      ALIYUN_ACCESS_KEY_SECRET: 'testsecret',
      ALIYUN_SMS_ENDPOINT: provider.url,
    }
    const installation = await openInstallation(readConfig(environment))
    const { db, secretKey } = installation
    const { id, username } = await createAccount(db, systemActor, {
      username: 'crash',
      password: 'correct horse 9',
    })
    const key = await resetKey(db, systemActor, id)
    const credits = createCredits(db, secretKey)
    const bought = perBatch * batches + 10
    await credits.grant({ actor: systemActor, accountId: id, apiType: 'sms', amount: bought })
    await createTemplate(db, systemActor, {
      accountId: id,
      code: 'C',
      name: 'c',
      content: '通知${c}',
      status: '审核通过',
    })
    const processes = [await spawnService(environment), await spawnService(environment)]
    context.after(async () => {
      for (const one of processes) await one.kill('SIGKILL')
      await installation.close()
      await provider.close()
      await storage.remove()
    })
    const call = (values: Record<string, unknown>) =>
      post(`${processes.at(-1)!.url}/api/sms_api.php`, { username, api_key: key, ...values })
    const ids: string[] = []
    for (let b = 0; b < batches; b += 1) {
      const phones = Array.from({ length: perBatch }, (_, i) => `13${b}${String(10_000_000 + i)}`)
      const values = { action: 'send_batch', template_code: 'C', template_params: { c: '1' } }
      const { body } = await call({ ...values, phone_numbers: phones })
      assert.equal(body.data?.accepted, perBatch, JSON.stringify(body))
      ids.push(body.data.batch_id as string)
    }
    const pending = async () => {
      let count = 0
      for (const batchId of ids) {
        const { body } = await call({ action: 'get_batch', batch_id: batchId, limit: 1 })
        count += body.data.pending as number
      }
      return count
    }
    for (let i = 0; i < kills; i += 1) {
      const before = reached.size
      // Some messages may never reach the provider: the end of the queue counts too.
      await until(async () => reached.size >= before + 150 || (await pending()) === 0, 60_000)
      await processes.shift()!.kill('SIGKILL')
      processes.push(await spawnService(environment))
    }
    await until(async () => (await pending()) === 0, 60_000)

    assert.deepEqual(
      [...reached].filter(([, count]) => count > 1),
      [],
    )
    let used = 0
    for (const batchId of ids) {
      const { data } = (await call({ action: 'get_batch', batch_id: batchId })).body
      assert.equal(data.state, 'finished')
      assert.equal(data.succeeded + data.failed, perBatch)
      used += data.credits_used as number
    }
    // Every message that reached the provider is paid for, every other one is refunded.
    assert.equal(used, reached.size)
    assert.equal((await credits.balance(id, 'sms')).remaining, bought - reached.size)
    assert.deepEqual((await checkLedger(db, 5_000)).problems, [])
    for (const one of processes) assert.equal(await one.kill('SIGTERM'), 0)
  })
})

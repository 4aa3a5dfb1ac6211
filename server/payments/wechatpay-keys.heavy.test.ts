// While WeChat Pay's public key is replaced, notifications come with either key.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { onEachEngine } from '../../test/support/engines.ts'
import { stranger, vendor } from '../../test/support/fake-payments.ts'
import { publicKeyId, startWechatpay } from '../../test/support/fake-wechatpay.ts'
import { startService } from '../../test/support/service.ts'
import { requireAccount } from '../accounts/accounts.ts'
import { systemActor } from '../audit/audit.ts'
import { readConfig } from '../config.ts'
import { addPackage } from './packages.ts'
import { createPayments } from './payments.ts'
import { findOrder } from './store.ts'

const newId = 'PUB_KEY_ID_0222222222222026110200000002'

onEachEngine('two public keys of WeChat Pay', (engine) => {
  it('each verifies what was signed with it, and nothing else', async () => {
    await using fake = await startWechatpay()
    const settings = {
      ...fake.settings,
      WECHATPAY_PUBLIC_KEY_ID: `${newId},${publicKeyId}`,
      WECHATPAY_PUBLIC_KEY: `${stranger.publicKey},${vendor.publicKey}`,
      PAYMENTS: 'wechatpay',
      PAYMENT_POLL_S: '3600',
    }
    await using service = await startService(engine, settings)
    const { db } = service.installation
    const config = readConfig({ ...settings, ...service.storage.environment })
    const { orders } = createPayments({ db, config, publicUrl: () => service.url })
    const account = await requireAccount(db, (await service.account()).username)
    await addPackage(db, systemActor, 'p1', { name: 'A', credits: { sms: 5 }, price: '5.00' })
    const asked = new Set<unknown>()
    fake.onRequest = ({ headers }) => void asked.add(headers['wechatpay-serial'])
    for (const [key, id, other] of [
      [vendor.privateKey, publicKeyId, newId],
      [stranger.privateKey, newId, publicKeyId],
    ] as const) {
      const order = await orders.create(systemActor, account, { packageCode: 'p1', provider: 'wechatpay' })
      fake.pay(order.number)
      const post = async (serial: string) => {
        const { headers, body } = fake.notify(order.number, { key })
        const sent = { headers: { ...headers, 'wechatpay-serial': serial }, body }
        const { status } = await fake.post(`${service.url}/payments/notify/wechatpay`, sent)
        return [status, (await findOrder(db, order.number))?.state]
      }
      assert.deepEqual(await post(other), [401, 'pending'])
      assert.deepEqual(await post('PUB_KEY_ID_3'), [401, 'pending'])
      assert.deepEqual(await post(id), [204, 'granted'])
    }
    assert.deepEqual([...asked], [newId])
    assert.deepEqual(fake.problems, [])
  })
})

// Orders whose payment could not be opened: they end by themselves, and do not keep an account from buying.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { paymentLimits } from '../../contract/payments.ts'
import { onEachEngine } from '../../test/support/engines.ts'
import { startWechatpay } from '../../test/support/fake-wechatpay.ts'
import { startService } from '../../test/support/service.ts'
import { systemActor } from '../audit/audit.ts'
import { readConfig } from '../config.ts'
import { requireAccount } from '../accounts/accounts.ts'
import { addPackage } from './packages.ts'
import { createPayments } from './payments.ts'
import { findOrder, listOrders } from './store.ts'

onEachEngine('orders without an answer of the provider', (engine) => {
  it('are closed when they expire, and count as waiting only until then', async () => {
    await using fake = await startWechatpay()
    const settings = { ...fake.settings, PAYMENTS: 'wechatpay', GATEWAY_TIMEOUT_MS: '60000' }
    // The service itself queries nothing: its jobs would close the orders too.
    await using service = await startService(engine)
    const { db } = service.installation
    const config = readConfig({ ...settings, ...service.storage.environment })
    const { orders } = createPayments({ db, config, publicUrl: () => service.url })
    const account = await requireAccount(db, (await service.account()).username)
    const actor = { kind: 'account', accountId: account.id } as const
    const offer = { name: 'A', credits: { sms: 5 }, price: '1.00' }
    await addPackage(db, systemActor, 'p1', offer)
    const create = () => orders.create(actor, account, { packageCode: 'p1', provider: 'wechatpay' })

    fake.fault = 'error'
    for (let index = 0; index < paymentLimits.pendingOrders; index += 1) {
      await assert.rejects(create(), { code: 1005 })
    }
    fake.fault = 'none'
    await assert.rejects(create(), { code: 1002 })
    await db.write((tx) => tx.run('UPDATE payment_order SET expires_at = 1'))
    const { number } = await create()

    const [opened, ...lost] = await listOrders(db, { accountId: account.id }, 100)
    assert.equal(opened?.number, number)
    for (const order of lost) {
      assert.equal(await orders.check(order), 'closed')
      assert.equal((await findOrder(db, order.number))?.state, 'closed')
    }

    // A code was shown, so it may have been paid: only the provider's own answer closes it.
    await db.write((tx) => tx.run('UPDATE payment_order SET expires_at = 1'))
    fake.fault = 'error'
    assert.equal(await orders.check((await findOrder(db, number))!), 'no_answer')
    fake.fault = 'none'
    assert.equal(await orders.check((await findOrder(db, number))!), 'closed')
  })
})

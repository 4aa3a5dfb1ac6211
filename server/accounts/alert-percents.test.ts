// The thresholds of low credits of an account, on the command line and in the console.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { eventRoutes } from '../../contract/console/events.ts'
import { signedIn } from '../../test/support/console.ts'
import { onEachEngine } from '../../test/support/engines.ts'
import { admin, startService } from '../../test/support/service.ts'

onEachEngine('thresholds of low credits', (engine) => {
  it('are set on the command line and in the console', async () => {
    await using service = await startService(engine)
    const account = await service.account()
    const browser = await signedIn(service, account)
    const percents = async () => (await browser.call(eventRoutes.alertChannels)).body.percents
    const set = (value: string) =>
      admin(
        service.storage.environment,
        'account',
        'set',
        account.username,
        '--alert-percents',
        value,
        '--json',
      )
    assert.deepEqual(await percents(), [20, 5])
    assert.equal(JSON.parse((await set('5,50,30')).stdout).alert_percents, '50,30,5')
    assert.deepEqual(await percents(), [50, 30, 5])
    for (const wrong of ['0', '100', '5,5', 'x', '1,2,3,4,5,6']) {
      const { code, stderr } = await set(wrong)
      assert.equal(code, 1, wrong)
      assert.match(stderr, /alert_percents/)
    }
    assert.equal((await set('none')).code, 0)
    assert.deepEqual(await percents(), [])
    const put = (list: readonly number[]) =>
      browser.call(eventRoutes.setAlertPercents, { sent: { percents: list } })
    assert.equal((await put([10])).status, 200)
    assert.deepEqual(await percents(), [10])
    assert.equal((await put([10, 10])).status, 400)
  })
})

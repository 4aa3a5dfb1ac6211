// The accounts of the first start. Its output in a real process: test/start.test.ts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freshStorage, onEachEngine } from '../../test/support/engines.ts'
import { readConfig } from '../config.ts'
import { createFirstAccounts, formatWelcome } from './first-start.ts'
import { openInstallation } from './installation.ts'

onEachEngine('first accounts', (engine) => {
  test('are the operator alone with SAMPLE_ACCOUNT=off, and are created once', async () => {
    const storage = await freshStorage(engine)
    const config = readConfig({ ...storage.environment, SAMPLE_ACCOUNT: 'off' })
    const installation = await openInstallation(config)
    const created = await createFirstAccounts(installation, config)
    assert.ok(created)
    const text = formatWelcome('http://127.0.0.1:3000', created)
    assert.match(text, /admin {2}\S{16}\n/)
    assert.equal(/demo|tg_/.test(text), false)
    assert.equal(await createFirstAccounts(installation, config), undefined)
    await installation.close()
    await storage.remove()
  })
})

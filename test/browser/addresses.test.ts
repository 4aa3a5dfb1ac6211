// The service returns the console at every path of a page. Needs no browser.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ensureConsole } from '../support/console-build.ts'
import { startService } from '../support/service.ts'
import { accountPages, operatorPages } from './pages.ts'

test('returns the console for every page', async () => {
  await ensureConsole()
  await using service = await startService('sqlite')
  for (const path of [...accountPages, ...operatorPages]) {
    const response = await fetch(`${service.url}/console${path}`)
    assert.equal(response.status, 200, path)
    assert.match(await response.text(), /<div id="root">/, path)
  }
})

// What caused a ledger entry, and the page that shows it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { causeOf } from './entry-cause.ts'

test('an entry leads to its call, to the watch list or to the imports', () => {
  const id = '0b8f2c9e-0000-4000-8000-000000000000'
  assert.deepEqual(causeOf({ action: 'sms.send', request_id: id }), {
    to: '/requests',
    search: { open: id },
    isCall: true,
  })
  assert.equal(causeOf({ action: 'domain.check', request_id: id }).text?.zh, '域名检测 · 批量')
  assert.equal(causeOf({ action: 'domain.watch', request_id: 'watch-7' }).to, '/domain-check')
  assert.equal(causeOf({ action: 'shortlink.import', request_id: 'import-3-200' }).to, '/shortlink/imports')
})

// Batches that the console checks take turns with those of the API.
import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Registry } from 'prom-client'
import { sms } from '../../contract/sms.ts'
import { startService } from '../../test/support/service.ts'
import { findById } from '../accounts/store.ts'
import type { Database } from '../db/database.ts'
import { createCall } from '../http/call.ts'
import { createSms } from './api.ts'

test('145 of the batches that an account checks in the console two run at a time', async () => {
  await using service = await startService('sqlite')
  const { services } = service.app
  const { id } = await service.account({ sms: 1 })
  const account = (await findById(services.db, id))!
  let running = 0
  let most = 0
  const slow =
    <A extends unknown[], R>(read: (...args: A) => Promise<R>) =>
    async (...args: A) => {
      most = Math.max(most, (running += 1))
      await sleep(10)
      running -= 1
      return read(...args)
    }
  const { one, all } = services.db
  const db = { ...services.db, one: slow(one), all: slow(all), direct: undefined } as Database
  const product = createSms({ ...services, db, metrics: new Registry(), deciders: new Map() })
  const check = () => {
    const json = { template_code: 'NONE', messages: [{ phone_number: '13800138000' }] }
    const request = { headers: {} } as IncomingMessage
    const call = createCall(sms, 'id', request, '127.0.0.1', { headers: {}, json }, performance.now())
    return product.batchSending.check(call, account)
  }
  const checks = await Promise.allSettled(Array.from({ length: 8 }, check))
  assert.ok(checks.every(({ status }) => status === 'rejected'))
  assert.equal(most, 2)
})

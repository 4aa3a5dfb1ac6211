// The log line of an API call, and the end of the service's log.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { shortlink } from '../../contract/shortlink.ts'
import { sms } from '../../contract/sms.ts'
import { createCall } from '../http/call.ts'
import type { CompletedCall } from '../http/endpoint.ts'
import { createCallLogger, createTimestamp, openLog } from './log.ts'

const requestId = '0b6f2f0e-6f0a-4c58-9d2b-6a1f4f8a1c11'

function logLines(level: string, answered: CompletedCall): string[] {
  const lines: string[] = []
  const log = pino(
    { level, base: null, timestamp: createTimestamp() },
    { write: (line) => void lines.push(line) },
  )
  createCallLogger(log)(answered)
  return lines
}

function answeredCall(): CompletedCall {
  const request = { headers: {} } as Parameters<typeof createCall>[2]
  const call = createCall(shortlink, requestId, request, '192.0.2.1', { headers: {} }, 0)
  call.trace.accountId = 7
  call.trace.action = 'generate'
  const response = { status: 200, body: { success: true } }
  return { endpoint: shortlink, requestId, method: 'POST', response, durationMs: 1.23456, call }
}

test('logs a call as one line of JSON', () => {
  const lines = logLines('info', answeredCall())
  assert.equal(lines.length, 1)
  const line = lines[0]!
  assert.ok(line.endsWith('}\n'))
  const { time, ...fields } = JSON.parse(line) as Record<string, unknown>
  assert.ok(Math.abs(Date.parse(String(time)) - Date.now()) < 60_000)
  assert.deepEqual(fields, {
    level: 30,
    requestId,
    endpoint: 'shortlink',
    action: 'generate',
    account: 7,
    status: 200,
    ms: 1.23,
  })
})

test('leaves out what is not known', () => {
  const response = { status: 413, body: { code: 1002, message: '请求体超过 1 MiB' } }
  const rejected = { endpoint: sms, requestId, method: 'POST', response, durationMs: 0, call: undefined }
  const { time, ...fields } = JSON.parse(logLines('debug', rejected).join('')) as Record<string, unknown>
  assert.equal(typeof time, 'string')
  assert.deepEqual(fields, { level: 30, requestId, endpoint: 'sms', status: 413, code: 1002, ms: 0 })
})

test('logs no call above level info', () => {
  assert.deepEqual(logLines('warn', answeredCall()), [])
})

test('counts the lines that do not fit', async () => {
  const { log, callLog, dropped, end } = openLog('info', { maxBytes: 10 })
  log.info('one')
  for (let line = 0; line < 3; line += 1) callLog.info('another')
  await end()
  assert.equal(dropped(), 4)
})

test('a log that has ended ignores lines and is not flushed any more', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const { log, callLog, end } = openLog('info')
  await end()
  log.info('late')
  callLog.info('late')
  // Would throw: the destination is destroyed.
  t.mock.timers.tick(1_000)
})

test('writes the same time as pino', (t) => {
  t.mock.timers.enable({ apis: ['Date'] })
  const timestamp = createTimestamp()
  for (const time of [
    0, 7, 999, 1_000, 1_700_000_000_000, 1_700_000_000_042, 1_700_000_059_999, 1_699_999_999_999,
  ]) {
    t.mock.timers.setTime(time)
    assert.equal(timestamp(), pino.stdTimeFunctions.isoTime())
  }
})

// Which request ids are taken from a proxy.
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { test } from 'node:test'
import { startService } from '../../test/support/service.ts'
import { createIds } from './request-id.ts'

const uuid = /^[0-9a-f]{8}-/

function idOf(url: string, headers: Record<string, string>): Promise<string> {
  return new Promise((resolve, reject) => {
    request(url, { headers }, (response) => {
      response.resume()
      resolve(String(response.headers['x-request-id']))
    })
      .on('error', reject)
      .end()
  })
}

test('a request keeps the id of a trusted proxy, and no other', async () => {
  await using trusting = await startService('sqlite', { TRUSTED_PROXIES: '127.0.0.1' })
  const given = { 'x-request-id': '0123456789abcdef0123456789abcdef' }
  for (const path of ['/api/sms_api.php?action=get_credits', '/livez', '/aBcD234']) {
    assert.equal(await idOf(trusting.url + path, given), given['x-request-id'])
    assert.match(await idOf(trusting.url + path, { 'x-request-id': 'short' }), uuid)
    assert.match(await idOf(trusting.url + path, { 'x-request-id': 'forged"},{"level":50' }), uuid)
    assert.match(await idOf(trusting.url + path, { 'x-request-id': 'a'.repeat(65) }), uuid)
  }
  await using plain = await startService('sqlite')
  assert.match(await idOf(`${plain.url}/api/sms_api.php?action=get_credits`, given), uuid)
})

test('new ids have the form of a UUID, differ, and do not tell how many there were', () => {
  const next = createIds()
  const ids = Array.from({ length: 100_000 }, next)
  assert.equal(new Set(ids).size, ids.length)
  for (const id of ids.slice(0, 100))
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  const numbers = ids.slice(0, 100).map((id) => Number.parseInt(id.slice(28), 16))
  const steps = new Set(numbers.slice(1).map((number, index) => number - numbers[index]!))
  assert.ok(steps.size > 90, `${steps.size} different steps`)
  assert.notEqual(createIds()().slice(0, 28), next().slice(0, 28))
})

// Which request ids are taken from a proxy.
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { test } from 'node:test'
import { startService } from '../../test/support/service.ts'

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

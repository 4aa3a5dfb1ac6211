// Scopes, allow lists and bearer credentials, without a service.
import assert from 'node:assert/strict'
import { describe, it, test } from 'node:test'
import { domainCheck } from '../../contract/domain-check.ts'
import type { Endpoint } from '../../contract/endpoint.ts'
import { identity } from '../../contract/identity.ts'
import { includesScope, scopes } from '../../contract/scopes.ts'
import { shortlink } from '../../contract/shortlink.ts'
import { sms } from '../../contract/sms.ts'
import { readBearer } from '../http/parameters.ts'
import { isAllowedAddress, readAllowList, readScopes } from './key-limits.ts'

const endpoints: readonly Endpoint[] = [shortlink, sms, identity, domainCheck]

describe('scopes', () => {
  it('70 every operation has the scope of its own endpoint', () => {
    const products = {
      shortlink: 'short_link',
      sms: 'sms',
      identity: 'id_verification',
      'domain-check': 'domain_check',
    }
    for (const { name, operations } of endpoints) {
      for (const [operation, { scope }] of Object.entries(operations)) {
        assert.equal(scope.split(':')[0], products[name as keyof typeof products], `${name}.${operation}`)
      }
    }
  })

  it('write includes read, and nothing else', () => {
    const pairs = scopes.flatMap((granted) =>
      scopes.filter((needed) => includesScope([granted], needed)).map((needed) => [granted, needed]),
    )
    assert.deepEqual(
      pairs.filter(([granted, needed]) => granted !== needed),
      [
        ['short_link:write', 'short_link:read'],
        ['sms:write', 'sms:read'],
      ],
    )
  })

  it('are stored without duplicates, and unknown ones are named', () => {
    assert.deepEqual(readScopes([' sms:read', 'sms:read', 'sms:write']), { value: 'sms:read,sms:write' })
    assert.deepEqual(readScopes(null), { value: null })
    for (const given of [[], [''], ['sms:read', 'sms'], ['SMS:READ']])
      assert.ok('problem' in readScopes(given))
  })
})

describe('allow lists', () => {
  test('70 match addresses and ranges of both families, in any notation', () => {
    const read = readAllowList(['203.0.113.7', '10.1.2.3/8', '2001:DB8::/32', '::ffff:192.0.2.1'])
    assert.ok('value' in read && read.value !== null)
    const allowed = ['203.0.113.7', '10.255.0.1', '2001:db8:1::5', '2001:0db8:0:0:0:0:0:1', '192.0.2.1']
    for (const address of allowed) assert.equal(isAllowedAddress(read.value, address), true, address)
    for (const address of ['203.0.113.8', '11.0.0.1', '2001:db9::1', '192.0.2.2', '', 'unix', '::1']) {
      assert.equal(isAllowedAddress(read.value, address), false, address)
    }
  })

  test('hold 1 to 100 addresses and nothing else', () => {
    const many = Array.from({ length: 101 }, (_one, i) => `10.0.0.${i}`)
    assert.ok('value' in readAllowList(many.slice(1)))
    for (const given of [
      [],
      many,
      ['10.0.0.1/33'],
      ['::/129'],
      ['10.0.0.1/'],
      ['localhost'],
      ['fe80::1%eth0'],
    ]) {
      assert.ok('problem' in readAllowList(given), given.join())
    }
  })
})

test('only well-formed credentials of Authorization: Bearer are a key', () => {
  assert.equal(readBearer('Bearer tg_abc'), 'tg_abc')
  assert.equal(readBearer('bearer  a.b~c+d/e-f== '), 'a.b~c+d/e-f==')
  for (const header of [
    '',
    'Bearer',
    'Bearer ',
    'Basic dGVzdA==',
    'Bearer a b',
    'Bearer "a"',
    'tg_abc',
    'Bearertg_abc',
  ]) {
    assert.equal(readBearer(header), undefined, header)
  }
})

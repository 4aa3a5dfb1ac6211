// Which keys count a caller's network.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { networkKeys } from './network-keys.ts'

const limit = { perNetwork: 2, perSite: 8 }

it('counts an IPv4 address once, and an IPv6 address by /64 and by /48', () => {
  assert.deepEqual(networkKeys('192.0.2.7', limit), [{ key: '192.0.2.7', max: 2 }])
  const keysOf = (address: string) => networkKeys(address, limit, 'x ').map(({ key }) => key)
  const [network, site] = keysOf('2001:db8:1:2::1')
  assert.deepEqual(keysOf('2001:db8:1:2:ffff::9'), [network, site])
  const [otherNetwork, sameSite] = keysOf('2001:db8:1:3::1')
  assert.ok(otherNetwork !== network && sameSite === site && site !== network)
  assert.ok(network?.startsWith('x '))
  assert.deepEqual(
    networkKeys('2001:db8::1', limit).map(({ max }) => max),
    [2, 8],
  )
})

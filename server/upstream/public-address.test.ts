// Connections to public addresses only.
import assert from 'node:assert/strict'
import { lookup } from 'node:dns/promises'
import { describe, it } from 'node:test'
import { startDnsServer } from '../../test/support/dns-server.ts'
import { startFakeUpstream } from '../../test/support/fake-upstream.ts'
import { httpCall } from './http-call.ts'
import { createPublicAgent, isPublicAddress, privateAddressCode } from './public-address.ts'

describe('public address', () => {
  it('accepts global addresses only', () => {
    const accepted = ['1.1.1.1', '8.8.8.8', '100.63.255.255', '100.128.0.1', '172.15.0.1', '2606:4700::1111']
    const rejected = [
      ...['0.0.0.0', '10.1.2.3', '100.100.100.200', '127.0.0.1', '127.255.0.1', '169.254.169.254'],
      ...['172.16.0.1', '172.31.255.255', '192.168.1.1', '198.18.0.1', '224.0.0.1', '255.255.255.255'],
      ...['::', '::1', '::ffff:127.0.0.1', '::ffff:8.8.8.8', '64:ff9b::7f00:1', 'fc00::1', 'fd00:ec2::254'],
      ...['fe80::1', 'fe80::1%eth0', 'ff02::1', '2001:db8::1', '2001::1', '2002:7f00:1::', 'example.com', ''],
    ]
    assert.deepEqual(accepted.filter(isPublicAddress), accepted)
    assert.deepEqual(rejected.filter(isPublicAddress), [])
  })

  it('is required when a connection is made, for addresses and for names', async () => {
    await using dns = await startDnsServer()
    dns.addresses.set('four.test', ['127.0.0.1'])
    dns.addresses.set('six.test', ['::1'])
    dns.addresses.set('mixed.test', ['127.0.0.1', '2606:4700::1111'])
    dns.addresses.set('second.test', ['8.8.8.8', '127.0.0.1'])
    const receiver = await startFakeUpstream()
    const agent = createPublicAgent(false, [dns.address])
    const names = [
      'four.test',
      'six.test',
      'mixed.test',
      'second.test',
      'SIX.test.',
      'localhost',
      'a.Localhost.',
    ]
    try {
      for (const host of ['127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '2130706433', '0x7f.1', ...names]) {
        const result = await httpCall(
          { method: 'POST', url: `http://${host}:${receiver.port}/`, headers: {}, body: '{}' },
          { timeoutMs: 5_000, agent },
        )
        assert.deepEqual(result, { kind: 'not_sent', reason: privateAddressCode }, host)
      }
      assert.equal(receiver.requests.length, 0)
    } finally {
      await agent.destroy()
      await receiver.close()
    }
  })

  it('is looked up without the threads of the system, which a customer could occupy for everyone', async () => {
    await using dns = await startDnsServer()
    dns.silentBelow = '.silent.test'
    const agent = createPublicAgent(false, [dns.address])
    try {
      const calls = Array.from({ length: 20 }, (_, n) =>
        httpCall(
          { method: 'POST', url: `http://n${n}.silent.test/`, headers: {}, body: '{}' },
          { timeoutMs: 15_000, agent },
        ),
      )
      let ended = 0
      for (const call of calls) void call.then(() => (ended += 1))
      await lookup('localhost')
      assert.equal(ended, 0, 'the system looks up a name while all of them wait')
      for (const result of await Promise.all(calls))
        assert.deepEqual(result, { kind: 'not_sent', reason: 'ETIMEOUT' })
    } finally {
      await agent.destroy()
    }
  })

  it('may be left out', async () => {
    const receiver = await startFakeUpstream()
    const agent = createPublicAgent(true)
    try {
      const url = `http://localhost:${receiver.port}/`
      const result = await httpCall(
        { method: 'POST', url, headers: {}, body: '{}' },
        { timeoutMs: 5_000, agent },
      )
      assert.equal(result.kind, 'response')
    } finally {
      await agent.destroy()
      await receiver.close()
    }
  })
})

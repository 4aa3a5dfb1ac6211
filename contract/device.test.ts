// Names of devices.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { describeDevice } from './device.ts'

it('a device has the name of its browser and system, and a program that of its first word', () => {
  const mozilla = 'Mozilla/5.0'
  const chrome = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0'
  const names = {
    [`${mozilla} (Windows NT 10.0; Win64; x64) ${chrome} Safari/537.36`]: 'Chrome · Windows',
    [`${mozilla} (Linux; Android 10; K) ${chrome} Mobile Safari/537.36 EdgA/120.0.0.0`]: 'Edge · Android',
    [`${mozilla} (Phone; OpenHarmony 5.0; HarmonyOS) ${chrome} Mobile`]: 'Chrome · HarmonyOS',
    [`${mozilla} (iPad; CPU OS 17_0 like Mac OS X) Version/17.0 Mobile/15E148 Safari/604.1`]:
      'Safari · iPadOS',
    'curl/8.5.0': 'curl',
    '': '',
  }
  for (const [agent, name] of Object.entries(names)) assert.equal(describeDevice(agent), name)
})

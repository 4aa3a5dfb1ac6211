// Tests of the browser selection for each platform.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findBrowser, type Machine } from './find-browser.ts'

function machine(
  platform: NodeJS.Platform,
  arch: string,
  installed: readonly string[] = [],
  environment: Record<string, string> = {},
): Machine {
  return {
    platform,
    arch,
    environment,
    home: '/home/ann',
    isExecutable: (path) => installed.includes(path),
  }
}

describe('findBrowser', () => {
  test('prefers CHROMIUM_PATH, even when the file does not exist', () => {
    const environment = { CHROMIUM_PATH: '/opt/mine', PATH: '/usr/bin' }
    for (const arch of ['x64', 'arm64']) {
      assert.deepEqual(findBrowser(machine('linux', arch, ['/usr/bin/chromium'], environment)), {
        kind: 'executable',
        path: '/opt/mine',
      })
    }
    assert.equal(findBrowser(machine('linux', 'x64', [], { CHROMIUM_PATH: '' })).kind, 'bundled')
  })

  test('uses the npm package only on Linux x64', () => {
    assert.deepEqual(findBrowser(machine('linux', 'x64', ['/usr/bin/chromium'])), { kind: 'bundled' })
    for (const [platform, arch] of [
      ['linux', 'arm64'],
      ['darwin', 'x64'],
      ['darwin', 'arm64'],
      ['win32', 'x64'],
    ] as const) {
      assert.equal(findBrowser(machine(platform, arch)).kind, 'none', `${platform} ${arch}`)
    }
  })

  test('finds an installed browser in PATH, then in the default locations', () => {
    for (const [platform, path, environment] of [
      ['linux', '/home/ann/bin/google-chrome', { PATH: '/home/ann/bin:/usr/bin' }],
      ['linux', '/usr/bin/chromium', {}],
      ['linux', '/usr/bin/chromium-browser', {}],
      ['linux', '/snap/bin/chromium', {}],
      ['linux', '/usr/bin/microsoft-edge', {}],
      ['linux', '/opt/google/chrome/chrome', {}],
      ['darwin', '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome', {}],
      ['darwin', '/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge', {}],
      ['darwin', '/home/ann/Applications/Chromium.app/Contents/MacOS/Chromium', {}],
      ['darwin', '/opt/homebrew/bin/chromium', { PATH: '/opt/homebrew/bin' }],
    ] as const) {
      const found = findBrowser(machine(platform, 'arm64', [path], environment))
      assert.deepEqual(found, { kind: 'executable', path })
    }
  })

  test('returns instructions in one line when there is no browser', () => {
    for (const platform of ['linux', 'darwin', 'win32'] as const) {
      const found = findBrowser(machine(platform, 'arm64', [], { PATH: '/usr/bin' }))
      assert.ok(found.kind === 'none')
      assert.match(found.reason, /^needs a browser: [^\n]*CHROMIUM_PATH[^\n]*$/)
    }
  })
})

// Settings of the domain check that depend on each other.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ConfigError, readConfig } from '../config.ts'

const problemsOf = (environment: Record<string, string>): readonly string[] => {
  try {
    readConfig(environment)
    return []
  } catch (error) {
    assert.ok(error instanceof ConfigError)
    return error.problems
  }
}

describe('settings of the domain check', () => {
  test('the defaults are valid', () => {
    const config = readConfig({})
    assert.deepEqual(config.DOMAIN_GATEWAYS, ['sandbox'])
    assert.deepEqual(
      [config.DOMAIN_MAX_URLS, config.DOMAIN_DEADLINE_MS, config.DOMAIN_CACHE_S, config.DOMAIN_WATCH_S],
      [500, 25_000, 0, 3_600],
    )
  })

  test('the canary needs two addresses', () => {
    assert.equal(problemsOf({ DOMAIN_CANARY_GOOD: 'good.example' }).length, 1)
    assert.equal(problemsOf({ DOMAIN_CANARY_GOOD: 'good.example', DOMAIN_CANARY_BAD: '127.0.0.1' }).length, 1)
    assert.deepEqual(problemsOf({ DOMAIN_CANARY_GOOD: 'good.example', DOMAIN_CANARY_BAD: 'bad.example' }), [])
  })

  test('the jump page is a URL with a placeholder for the address', () => {
    assert.equal(problemsOf({ DOMAIN_JUMP_URL: 'https://page.example/' }).length, 1)
    assert.equal(problemsOf({ DOMAIN_JUMP_URL: 'page.example/{url}' }).length, 1)
    assert.deepEqual(problemsOf({ DOMAIN_JUMP_URL: 'https://page.example/?t={url}' }), [])
  })

  test('a custom API needs all settings', () => {
    const http = { DOMAIN_GATEWAYS: 'http', DOMAIN_HTTP_URL: 'https://paid.example/' }
    assert.equal(problemsOf(http).length, 1)
    assert.equal(problemsOf({ ...http, DOMAIN_HTTP_PRESET: 'custom' }).length, 3)
    assert.deepEqual(
      problemsOf({
        ...http,
        DOMAIN_HTTP_PRESET: 'custom',
        DOMAIN_HTTP_VERDICT: 'data.state',
        DOMAIN_HTTP_OK: '0',
        DOMAIN_HTTP_BLOCKED: '1,2',
      }),
      [],
    )
    assert.deepEqual(problemsOf({ ...http, DOMAIN_HTTP_PRESET: 'uomg' }), [])
  })

  test('reports all problems in one message', () => {
    assert.ok(
      problemsOf({ DOMAIN_GATEWAYS: 'nonsense', DOMAIN_HTTP_PRESET: 'custom', DOMAIN_MAX_URLS: '0' })
        .length >= 4,
    )
  })
})

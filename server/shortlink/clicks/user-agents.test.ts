// People, bots and previews by their headers.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAgentReader, describeAgent, isPrefetch, referrerHost } from './user-agents.ts'

const chrome =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36'

test('describeAgent distinguishes people, bots and previews', () => {
  const cases: [string, string, string, string][] = [
    [chrome, 'person', 'desktop', 'chrome'],
    [`${chrome} Edg/141.0`, 'person', 'desktop', 'edge'],
    [
      'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
      'person',
      'desktop',
      'firefox',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 MicroMessenger/8.0.50 NetType/WIFI Language/zh_CN',
      'person',
      'phone',
      'wechat',
    ],
    [
      'Mozilla/5.0 (iPad; CPU OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1',
      'person',
      'tablet',
      'safari',
    ],
    [
      'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 Chrome/141.0 Mobile Safari/537.36',
      'person',
      'phone',
      'chrome',
    ],
    ['Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)', 'bot', 'other', 'other'],
    ['Mozilla/5.0 (compatible; Baiduspider/2.0)', 'bot', 'other', 'other'],
    ['curl/8.5.0', 'bot', 'other', 'other'],
    ['', 'bot', 'other', 'other'],
    ['facebookexternalhit/1.1', 'preview', 'other', 'other'],
    ['TelegramBot (like TwitterBot)', 'preview', 'other', 'other'],
    ['WhatsApp/2.23.20', 'preview', 'other', 'other'],
  ]
  for (const [text, kind, device, browser] of cases)
    assert.deepEqual(describeAgent(text).visitor, { kind, device, browser }, text)
})

test('isPrefetch knows the headers of several generations of browsers', () => {
  assert.ok(isPrefetch({ 'sec-purpose': 'prefetch;prerender' }))
  assert.ok(isPrefetch({ purpose: 'prefetch' }))
  assert.ok(isPrefetch({ 'x-purpose': 'preview' }))
  assert.ok(isPrefetch({ 'x-moz': 'prefetch' }))
  assert.ok(!isPrefetch({ purpose: 'reading' }))
  assert.ok(!isPrefetch({}))
})

test('referrerHost returns only the host', () => {
  assert.equal(referrerHost('https://WWW.Example.com:8443/secret?q=1'), 'www.example.com')
  assert.equal(referrerHost('http://example.com'), 'example.com')
  for (const invalid of [
    undefined,
    '',
    'nonsense',
    'https://',
    'https://exa mple/',
    'https://<script>/',
    `https://${'a'.repeat(200)}.com/`,
  ])
    assert.equal(referrerHost(invalid), '')
})

test('the agent reader caches, and cuts long headers', () => {
  const read = createAgentReader()
  assert.equal(read(chrome), read(chrome))
  for (let i = 0; i < 5_000; i += 1) read(`Invented/${i}`)
  assert.equal(read('x'.repeat(100_000)).text.length, 512)
  assert.equal(read(chrome).visitor, read(chrome).visitor)
})

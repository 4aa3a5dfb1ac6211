import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agentReader, describeAgent, isLookingAhead, referrerHost } from './user-agents.ts'

const chrome =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36'

test('people, bots and previews are told apart', () => {
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
    assert.deepEqual(describeAgent(text).usual, { kind, device, browser }, text)
})

test('looking ahead is said by headers of several generations', () => {
  assert.ok(isLookingAhead({ 'sec-purpose': 'prefetch;prerender' }))
  assert.ok(isLookingAhead({ purpose: 'prefetch' }))
  assert.ok(isLookingAhead({ 'x-purpose': 'preview' }))
  assert.ok(isLookingAhead({ 'x-moz': 'prefetch' }))
  assert.ok(!isLookingAhead({ purpose: 'reading' }))
  assert.ok(!isLookingAhead({}))
})

test('of a referrer only the host is kept', () => {
  assert.equal(referrerHost('https://WWW.Example.com:8443/secret?q=1'), 'www.example.com')
  assert.equal(referrerHost('http://example.com'), 'example.com')
  for (const strange of [
    undefined,
    '',
    'nonsense',
    'https://',
    'https://exa mple/',
    'https://<script>/',
    `https://${'a'.repeat(200)}.com/`,
  ])
    assert.equal(referrerHost(strange), '')
})

test('a reader remembers, and stays small under a flood of invented agents', () => {
  const read = agentReader()
  assert.equal(read(chrome), read(chrome))
  for (let i = 0; i < 5_000; i += 1) read(`Invented/${i}`)
  assert.equal(read('x'.repeat(100_000)).text.length, 512)
  assert.equal(read(chrome).usual, read(chrome).usual)
})

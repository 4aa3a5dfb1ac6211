// Which targets and titles are accepted, and their ASCII form.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { checkTarget, titleProblem } from './targets.ts'

const own = {
  publicUrl: new URL('https://go.example.com'),
  isPoolHost: (host: string) => host === 's.example.net',
}

const locationOf = (text: string) => {
  const checked = checkTarget(text, own)
  assert.ok('location' in checked, `${text}: ${JSON.stringify(checked)}`)
  return checked.location
}

const problemOf = (text: string) => {
  const checked = checkTarget(text, own)
  assert.ok('problem' in checked, text)
  return checked.problem.en
}

test('returns ASCII addresses unchanged', () => {
  for (const url of [
    'https://example.com',
    'http://example.com/a/../b?x=%2F&y=1#z',
    'HTTPS://EXAMPLE.com:8443/~a;b=c',
    'http://127.0.0.1:9/x',
    'http://[::1]/x',
    `https://example.com/${'a'.repeat(2_048 - 20)}`,
  ])
    assert.equal(locationOf(url), url)
})

test('encodes Chinese in host, path and query as ASCII', () => {
  assert.equal(
    locationOf('https://例子.测试/路径?问=答'),
    'https://xn--fsqu00a.xn--0zwm56d/%E8%B7%AF%E5%BE%84?%E9%97%AE=%E7%AD%94',
  )
  assert.equal(locationOf('https://example.com/a b"<>'), 'https://example.com/a%20b%22%3C%3E')
})

test('rejects other schemes, invalid and relative addresses', () => {
  for (const url of [
    'javascript:alert(1)',
    'JaVaScRiPt://example.com/%0aalert(1)',
    'data:text/html,x',
    'ftp://example.com/',
    '//example.com/',
    '/path',
    'example.com',
    'https:example.com',
    'https:/example.com',
    'https:///example.com',
    'https://',
    'https://exa mple.com/',
    'https://example.com:99999/',
    'https://[::1/',
    'http:\\\\example.com',
  ])
    assert.match(problemOf(url), /whole http/, url)
})

test('rejects control characters anywhere', () => {
  for (const control of ['\r\n', '\n', '\r', '\t', '\u0000', '\u007f', '\u0085', '\u2028'])
    for (const url of [`https://exam${control}ple.com/`, `https://example.com/a${control}Set-Cookie: x`])
      assert.match(problemOf(url), /control/, JSON.stringify(url))
})

test('rejects user names, but no @ in the path', () => {
  for (const url of [
    'https://user@example.com/',
    'https://u:p@example.com/',
    'https://@example.com/',
    'https://example.com@evil.test',
  ])
    assert.match(problemOf(url), /user name/, url)
  assert.equal(locationOf('https://example.com/@someone?a=b@c'), 'https://example.com/@someone?a=b@c')
})

test('rejects the own domains in every spelling', () => {
  for (const url of [
    'https://go.example.com/abc',
    'http://GO.example.com',
    'https://go.example.com./x',
    'https://s.example.net/',
    'http://S.EXAMPLE.NET:8080/x',
    'https://s。example。net/x',
  ])
    assert.match(problemOf(url), /own link domains/, url)
  assert.equal(
    locationOf('https://example.com/?u=https://go.example.com/'),
    'https://example.com/?u=https://go.example.com/',
  )
  assert.equal(locationOf('https://go.example.com:8443/'), 'https://go.example.com:8443/')
})

test('accepts at most 2,048 characters', () => {
  assert.match(problemOf(`https://example.com/${'a'.repeat(3_000)}`), /at most 2048/)
  assert.match(problemOf(`https://example.com/${'a'.repeat(2_048 - 19)}`), /at most 2048/)
})

test('46 accepts at most 3,500 characters once percent-encoded', () => {
  assert.equal(locationOf(`https://example.com/${'中'.repeat(380)}`).length, 20 + 380 * 9)
  assert.match(problemOf(`https://example.com/${'中'.repeat(450)}`), /at most 3500 .* percent-encoded/)
  // The documented number of characters stays possible.
  locationOf(`https://example.com/${'a'.repeat(2_048 - 20)}`)
})

test('returns a safe ASCII header value for every accepted input', () => {
  const anything = fc.oneof(
    fc.webUrl({ withFragments: true, withQueryParameters: true }),
    fc.string({ unit: 'binary' }).map((text) => `https://example.com/${text}`),
    fc.string({ unit: 'binary' }).map((text) => `https://${text}`),
    fc.string({ unit: 'binary' }),
  )
  fc.assert(
    fc.property(anything, (text) => {
      const checked = checkTarget(text, own)
      if ('problem' in checked) return
      assert.match(checked.location, /^https?:\/\/[\x21-\x7e]+$/i)
      const url = new URL(checked.location)
      assert.equal(url.href, new URL(text).href)
      assert.equal(url.username + url.password, '')
    }),
    { numRuns: 2_000 },
  )
})

test('rejects titles over 200 characters or with control characters', () => {
  assert.equal(titleProblem('标'.repeat(200)), undefined)
  assert.equal(titleProblem('😀'.repeat(200)), undefined)
  assert.ok(titleProblem('标'.repeat(201)))
  assert.ok(titleProblem('a\u001b[31mb'))
  for (const hidden of ['\u202e', '\u2066', '\u200b', '\u200f', '\ufeff'])
    assert.ok(titleProblem(`a${hidden}b`))
  // A family is several emoji joined by U+200D.
  assert.equal(titleProblem('👨‍👩‍👧'), undefined)
})

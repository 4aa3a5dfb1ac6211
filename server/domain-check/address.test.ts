// Which addresses are valid, and how they are normalized.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { addLabel, randomLabel, readAddress } from './address.ts'

const runs = { numRuns: 2_000 }

describe('addresses', () => {
  const good: readonly (readonly [text: string, url: string, host: string])[] = [
    ['example.com', 'http://example.com/', 'example.com'],
    ['  example.com\n', 'http://example.com/', 'example.com'],
    ['HTTPS://Example.COM', 'https://example.com/', 'example.com'],
    ['example.com:8080/a/b?c=d#e', 'http://example.com:8080/a/b?c=d', 'example.com'],
    ['https://example.com:443/', 'https://example.com/', 'example.com'],
    ['例子.中国', 'http://xn--fsqu00a.xn--fiqs8s/', 'xn--fsqu00a.xn--fiqs8s'],
    ['http://例子.测试/路径', 'http://xn--fsqu00a.xn--0zwm56d/%E8%B7%AF%E5%BE%84', 'xn--fsqu00a.xn--0zwm56d'],
    ['ｅｘａｍｐｌｅ。ｃｏｍ', 'http://example.com/', 'example.com'],
    ['xn--fsqu00a.com', 'http://xn--fsqu00a.com/', 'xn--fsqu00a.com'],
    ['a.b-c.d1.co', 'http://a.b-c.d1.co/', 'a.b-c.d1.co'],
    ['127.0.0.1.example.com', 'http://127.0.0.1.example.com/', '127.0.0.1.example.com'],
    ['blocked.test', 'http://blocked.test/', 'blocked.test'],
    ['http://example.com/a b', 'http://example.com/a%20b', 'example.com'],
    ['http://example.com/?to=user@host', 'http://example.com/?to=user@host', 'example.com'],
    [`${'a'.repeat(63)}.com`, `http://${'a'.repeat(63)}.com/`, `${'a'.repeat(63)}.com`],
  ]
  for (const [text, url, host] of good) {
    test(`${JSON.stringify(text).slice(0, 60)} is valid`, () =>
      assert.deepEqual(readAddress(text), { url, host }))
  }

  const bad = [
    '',
    '   ',
    'com',
    'localhost',
    'http://localhost:3000',
    'not a url',
    'http://',
    'https:///',
    '//example.com',
    '/example.com',
    'http:///example.com',
    '\\\\example.com',
    'ftp://example.com',
    'javascript:alert(1)',
    'javascript://example.com/%0aalert(1)',
    'data:text/html,x',
    'mailto:a@example.com',
    'file:///etc/passwd',
    'example.com://x',
    'user@example.com',
    'http://user:pass@example.com/',
    'http://@example.com',
    'http://qq.com@evil.com',
    'example..com',
    '.example.com',
    'example.com.',
    'a_b.example.com',
    '-a.example.com',
    'a-.example.com',
    `${'a'.repeat(64)}.com`,
    `${'a.'.repeat(126)}com`,
    'exa mple.com',
    'example.com:99999',
    'example.com:x',
    'exa\tmple.com',
    'exa\nmple.com',
    'example.com/\u0000',
    'example.com/\u001b[31m',
    'xn--.com',
    '中文',
    'http://%00.com',
    'printer.local',
    'metadata.google.internal',
    'x.localhost',
    'router.home.arpa',
    'abc.onion',
    // IP addresses in every notation, IPv4-mapped ones included.
    '127.0.0.1',
    'http://127.0.0.1:80/',
    '10.0.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '8.8.8.8',
    '127.1',
    '2130706433',
    'http://2130706433/',
    '0x7f.1',
    '0x7f000001',
    '0177.0.0.1',
    '017700000001',
    '0',
    '1.2.3',
    '1.2.3.4.5',
    '256.256.256.256',
    '127.0.0.1.',
    '１２７.０.０.１',
    '127。0。0。1',
    '%31%32%37.0.0.1',
    '[::1]',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:7f00:1]',
    '[2001:db8::1]:80',
    '::1',
    'http://[::]',
    'example.123',
    'a.0x7f',
  ]
  for (const text of bad) {
    test(`${JSON.stringify(text).slice(0, 60)} is invalid`, () => assert.equal(readAddress(text), undefined))
  }

  test('accepts at most 2,048 characters', () => {
    const start = 'http://example.com/'
    assert.ok(readAddress(start + 'a'.repeat(2_048 - start.length)))
    assert.equal(readAddress(start + 'a'.repeat(2_049 - start.length)), undefined)
    assert.equal(readAddress(start + '路'.repeat(1_000)), undefined)
  })

  test('rejects 100 kB quickly', () => {
    const texts = ['a', '.', 'a.', '@', '/', ':', '[', '%', 'xn--', '中', '127.', '\u0301', 'http://'].map(
      (piece) => piece.repeat(Math.ceil(100_000 / piece.length)),
    )
    // A quadratic rule would take minutes for so many.
    for (let round = 0; round < 50; round++)
      for (const text of texts) assert.equal(readAddress(text), undefined)
  })
})

describe('properties of addresses', () => {
  test('returns only public host names in ASCII', () => {
    const piece = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 12 }),
      fc.constantFrom(
        'http://',
        'https://',
        '.',
        '..',
        '@',
        ':',
        '/',
        '\\',
        '[',
        ']',
        '%',
        '#',
        '?',
        '127',
        '0x7f',
        '。',
      ),
      fc.constantFrom(
        'example',
        'com',
        'localhost',
        'xn--',
        '-',
        '_',
        '中文',
        '::1',
        'ffff',
        ' ',
        '\t',
        '1',
        '0177',
      ),
    )
    const hostile = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''))
    fc.assert(
      fc.property(fc.oneof(hostile, fc.webUrl(), fc.domain(), fc.ipV4(), fc.ipV6()), (text) => {
        const address = readAddress(text)
        if (address === undefined) return
        const url = new URL(address.url)
        assert.equal(url.hostname, address.host)
        assert.match(address.host, /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]*[a-z-][a-z0-9-]*$/)
        assert.ok(address.host.length <= 253)
        assert.ok(url.protocol === 'http:' || url.protocol === 'https:')
        assert.equal(url.username + url.password + url.hash, '')
        assert.deepEqual(readAddress(address.url), address, 'reading it again changes nothing')
      }),
      runs,
    )
  })

  test('accepts ordinary domains and URLs', () => {
    const domain = fc.domain().filter((name) => !/\.(local|localhost|internal|onion)$/.test(name))
    fc.assert(
      fc.property(
        domain,
        fc.constantFrom('', 'http://', 'https://'),
        fc.constantFrom('', ':8080', '/a?b=c'),
        (name, scheme, rest) => assert.equal(readAddress(scheme + name + rest)?.host, name.toLowerCase()),
      ),
      runs,
    )
  })

  test('rejects IP addresses in every notation', () => {
    const forms = fc.nat(0xffff_ffff).chain((number) => {
      const [a, b, c, d] = [number >>> 24, (number >>> 16) & 255, (number >>> 8) & 255, number & 255]
      return fc.constantFrom(
        `${a}.${b}.${c}.${d}`,
        String(number),
        `0x${number.toString(16)}`,
        `0${number.toString(8)}`,
        `${a}.${number & 0xff_ffff}`,
        `0x${a.toString(16)}.0${b.toString(8)}.${c}.${d}`,
        `[::ffff:${a}.${b}.${c}.${d}]`,
      )
    })
    const written = fc.tuple(
      fc.constantFrom('', 'http://', 'https://'),
      forms,
      fc.constantFrom('', '/', ':80', '.', '/x?y'),
    )
    fc.assert(
      fc.property(written, (parts) => assert.equal(readAddress(parts.join('')), undefined)),
      runs,
    )
  })
})

describe('random subdomains', () => {
  test('have a label of eight characters that starts with a letter', () => {
    const labels = Array.from({ length: 1_000 }, randomLabel)
    for (const label of labels) assert.match(label, /^[a-z][a-z0-9]{7}$/)
    assert.equal(new Set(labels).size, labels.length)
  })

  test('keep scheme, port and path', () => {
    assert.equal(addLabel('example.com', 'abc'), 'abc.example.com')
    assert.equal(addLabel('HTTPS://Example.com:8443/A?b#c', 'abc'), 'HTTPS://abc.Example.com:8443/A?b#c')
    assert.equal(addLabel(' 例子.中国/路 ', 'abc'), 'abc.例子.中国/路')
    assert.equal(addLabel('ftp://example.com/a', 'abc'), 'ftp://abc.example.com/a')
  })

  test('have the label before the original host', () => {
    const text = fc.oneof(
      fc.domain(),
      fc.webUrl({ validSchemes: ['http', 'https'] }),
      fc.constantFrom('例子.中国:81/路?问', 'مثال.إختبار'),
    )
    fc.assert(
      fc.property(text, (given) => {
        const original = readAddress(given)
        if (original === undefined || original.host.length > 244) return
        const label = randomLabel()
        const random = readAddress(addLabel(given, label))
        assert.equal(random?.host, `${label}.${original.host}`)
        assert.equal(random?.url.replace(`${label}.`, ''), original.url)
      }),
      runs,
    )
  })

  test('are invalid when the host name is too long', () => {
    const name = `${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}.com`
    assert.ok(readAddress(name))
    assert.equal(readAddress(addLabel(name, randomLabel())), undefined)
  })
})

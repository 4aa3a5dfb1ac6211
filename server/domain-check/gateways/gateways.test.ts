// The domain check gateways against servers on loopback.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import {
  cutBeforeHeaders,
  cutInBody,
  type FakeUpstream,
  hang,
  html502,
  hugePage,
  json,
  reset,
  startFakeUpstream,
  text,
} from '../../../test/support/fake-upstream.ts'
import type { Outcome } from '../../upstream/outcome.ts'
import type { Address, CheckVerdict } from '../port.ts'
import { customPreset, httpPresets } from './http-presets.ts'
import { createHttpGateway } from './http.ts'
import { type JumpOptions, createJumpGateway, readJumpResponse } from './jump.ts'
import { createSandboxGateway } from './sandbox.ts'
import { visibleHtml } from './visible-html.ts'

const address: Address = { url: 'http://example.com/a?b=$&c=%E8%B7%AF', host: 'example.com' }
const passes: Outcome<CheckVerdict> = { kind: 'accepted', value: 'passes' }
const blocked: Outcome<CheckVerdict> = { kind: 'accepted', value: 'blocked' }
const never = new AbortController().signal

const html = (status: number, body: string, headers: Record<string, string> = {}) =>
  text(status, body, { 'content-type': 'text/html; charset=utf-8', ...headers })

let platform: FakeUpstream
before(async () => {
  platform = await startFakeUpstream()
})
after(() => platform.close())

describe('sandbox', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['example.com', 'passes'],
    ['blocked.test', 'blocked'],
    ['a.b.blocked.test', 'blocked'],
    ['notblocked.test', 'passes'],
    ['blocked.test.example.com', 'passes'],
    ['down.test', 'refused'],
    ['x.down.test', 'refused'],
    ['showdown.test', 'passes'],
  ]
  for (const [host, expected] of cases) {
    test(`${host}: ${expected}`, async () => {
      const outcome = await createSandboxGateway().check({ url: `http://${host}/`, host }, never)
      assert.equal(outcome.kind === 'accepted' ? outcome.value : outcome.kind, expected)
    })
  }
})

/** For a server that does not respond. The request must be sent within this time, so it is not shorter. */
const impatientMs = 1_500

describe('jump page', () => {
  const settings = (more: Partial<JumpOptions> = {}): JumpOptions => ({
    urlTemplate: `${platform.url}?aid=1128&target={url}`,
    userAgent: 'test agent',
    blockedMarkers: ['停止访问', '终止访问'],
    warningMarkers: ['继续访问', '第三方网页'],
    warningMeans: 'blocked',
    timeoutMs: 60_000,
    ...more,
  })
  const ask = (more: Partial<JumpOptions> = {}) => createJumpGateway(settings(more)).check(address, never)

  test('sends the whole address and does not follow the redirect', async () => {
    const site = await startFakeUpstream()
    platform.handle(() => html(302, '', { location: site.url }))
    const already = platform.requests.length
    assert.deepEqual(await ask(), passes)
    assert.equal(site.requests.length, 0)
    assert.equal(platform.requests.length, already + 1)
    const request = platform.requests.at(-1)!
    assert.equal(request.query.get('target'), address.url)
    assert.equal(request.headers['user-agent'], 'test agent')
    await site.close()
  })

  const pages: readonly (readonly [string, Parameters<FakeUpstream['handle']>[0], string])[] = [
    ['302 to the address', () => html(302, '', { location: 'http://example.com/' }), 'passes'],
    ['301 elsewhere', () => html(301, '停止访问', { location: 'https://elsewhere.example/' }), 'passes'],
    ['302 without a location', () => html(302, ''), 'refused'],
    ['302 with an empty location', () => html(302, '', { location: ' ' }), 'refused'],
    ['302 to no web address', () => html(302, '', { location: 'snssdk1128://home' }), 'refused'],
    ['302 to a captcha on the same site', () => html(302, '', { location: '/captcha?x=1' }), 'refused'],
    ['stop page', () => html(200, '<h1>已停止访问该网页</h1>'), 'blocked'],
    ['other stop page', () => html(200, '<p>已终止访问该网页</p>'), 'blocked'],
    ['stop page with a way on', () => html(200, '<p>已停止访问</p><a>继续访问</a>'), 'blocked'],
    ['warning page', () => html(200, '<p>即将打开第三方网页</p><a>继续访问</a>'), 'blocked'],
    ['captcha', () => html(200, '<div id="captcha">请完成验证</div>'), 'refused'],
    ['marker in a script only', () => html(200, '<script>var t="停止访问"</script><p>hi</p>'), 'refused'],
    ['marker in a style only', () => html(200, '<style>.a:after{content:"停止访问"}</style>'), 'refused'],
    ['empty page', () => html(200, ''), 'refused'],
    ['403', () => html(403, '停止访问'), 'ambiguous'],
    ['429', () => html(429, ''), 'throttled'],
    ['502', html502, 'ambiguous'],
    ['414', () => html(414, ''), 'refused'],
    ['cut before headers', cutBeforeHeaders, 'ambiguous'],
    ['cut in the body', () => cutInBody('<p>停'), 'ambiguous'],
    ['reset', reset, 'ambiguous'],
    ['5 MB page', () => hugePage(), 'refused'],
  ]
  for (const [name, handler, expected] of pages) {
    test(`${name}: ${expected}`, async () => {
      platform.handle(handler)
      const outcome = await ask()
      assert.equal(outcome.kind === 'accepted' ? outcome.value : outcome.kind, expected)
    })
  }

  test('no response: ambiguous', async () => {
    platform.handle(hang)
    assert.equal((await ask({ timeoutMs: impatientMs })).kind, 'ambiguous')
  })

  test('reads the warning page as configured', async () => {
    platform.handle(() => html(200, '继续访问'))
    assert.deepEqual(await ask({ warningMeans: 'ok' }), passes)
    assert.deepEqual(await ask({ warningMeans: 'blocked' }), blocked)
    assert.equal((await ask({ warningMeans: 'failed' })).kind, 'refused')
  })

  test('uses the configured markers', async () => {
    platform.handle(() => html(200, 'forbidden fruit'))
    assert.deepEqual(await ask({ blockedMarkers: ['forbidden'] }), blocked)
  })

  test('a refused connection is not sent', async () => {
    const gone = await startFakeUpstream()
    await gone.close()
    const outcome = await ask({ urlTemplate: `${gone.url}?target={url}` })
    assert.equal(outcome.kind, 'not_sent')
  })

  test('accepts a redirect to an address on the platform itself', () => {
    const page = 'https://link.platform.example/?target=x'
    const onPlatform = { url: 'http://link.platform.example/x', host: 'link.platform.example' }
    const answer = { status: 302, headers: { location: 'http://link.platform.example/x' }, body: '' }
    assert.deepEqual(readJumpResponse(answer, page, onPlatform, settings()), passes)
    assert.equal(readJumpResponse(answer, page, address, settings()).kind, 'refused')
  })

  test('only a redirect to another site passes', () => {
    const answers = fc.record({
      status: fc.integer({ min: 100, max: 599 }),
      body: fc.oneof(fc.string(), fc.constantFrom('停止访问', '继续访问', '<script>继续访问</script>')),
      headers: fc.constantFrom<Record<string, string>>(
        {},
        { location: '' },
        { location: '/x' },
        { location: 'http://' },
      ),
    })
    fc.assert(
      fc.property(answers, (answer) => {
        const outcome = readJumpResponse(answer, 'https://page.example/?t=1', address, settings())
        assert.notDeepEqual(outcome, passes)
      }),
    )
  })
})

describe('visible text of a page', () => {
  test('removes scripts, styles and comments', () => {
    assert.equal(visibleHtml('a<script src=x>b</script >c<STYLE>d</Style>e<!-- f -->g'), 'aceg')
    assert.equal(visibleHtml('a<script>b'), 'a')
    assert.equal(visibleHtml('a<!-- b'), 'a')
    assert.equal(visibleHtml('a<scripty>b</scripty>'), 'a<scripty>b</scripty>')
    assert.equal(visibleHtml('<script>"</scriptx>"</script>z'), 'z')
  })

  test('handles hostile pages in linear time', () => {
    for (const piece of [
      '<script',
      '<script>',
      '</script',
      '<!--',
      '<style></style',
      '<script></script',
      '<',
    ])
      for (let round = 0; round < 20; round++) visibleHtml(piece.repeat(Math.ceil(262_144 / piece.length)))
  })
})

describe('paid checks', () => {
  const ask = (
    preset: Parameters<typeof createHttpGateway>[0]['preset'],
    token: string | undefined = 'secret token',
  ) =>
    createHttpGateway({ url: `${platform.url}check?type=dy`, token, preset, timeoutMs: 60_000 }).check(
      address,
      never,
    )
  type Answers = readonly (readonly [unknown, string])[]

  const answers: Readonly<Record<keyof typeof httpPresets, Answers>> = {
    uomg: [
      [{ code: '200', msg: '正常', num: 9992 }, 'passes'],
      [{ code: 201, msg: '异常' }, 'blocked'],
      [{ code: '202', msg: '正常' }, 'ambiguous'],
      [{ msg: 'ok' }, 'ambiguous'],
      [{ code: { toString: '200' } }, 'ambiguous'],
      [['200'], 'ambiguous'],
    ],
    rrbay: [
      [{ State: true, Code: '102', Data: 'example.com', Msg: '正常' }, 'passes'],
      [{ State: true, Code: '101', Data: 'example.com', Msg: '屏蔽' }, 'blocked'],
      [{ State: true, Code: '103' }, 'refused'],
      [{ State: false, Code: '001' }, 'ambiguous'],
      [{ State: false, Code: '002' }, 'throttled'],
      [{ State: false, Code: '003' }, 'ambiguous'],
      [{ State: false, Code: '102' }, 'ambiguous'],
      [{ Code: '102' }, 'ambiguous'],
    ],
    horocn: [
      [{ code: 0, msg: 'OK', data: { status: 'ok' } }, 'passes'],
      [{ code: 0, msg: 'OK', data: { status: 'blocked' } }, 'blocked'],
      [{ code: 0, data: { status: 'constructor' } }, 'ambiguous'],
      [{ code: 0, data: null }, 'ambiguous'],
      [{ code: 10001, data: { status: 'ok' } }, 'throttled'],
      [{ code: 10003 }, 'refused'],
      [{ code: 20001 }, 'ambiguous'],
    ],
  }
  for (const [name, list] of Object.entries(answers)) {
    for (const [body, expected] of list) {
      test(`${name} ${JSON.stringify(body)}: ${expected}`, async () => {
        platform.handle(() => json(200, body))
        const outcome = await ask(httpPresets[name as keyof typeof httpPresets])
        assert.equal(outcome.kind === 'accepted' ? outcome.value : outcome.kind, expected)
      })
    }
  }

  test('sends the parameters of each preset', async () => {
    platform.handle(() => json(200, {}))
    const query = async (preset: Parameters<typeof ask>[0]) => {
      await ask(preset)
      return Object.fromEntries(platform.requests.at(-1)!.query)
    }
    const token = 'secret token'
    assert.deepEqual(await query(httpPresets.uomg), { type: 'dy', token, domain: 'example.com' })
    assert.deepEqual(await query(httpPresets.rrbay), { type: 'dy', key: token, url: address.url })
    assert.deepEqual(await query(httpPresets.horocn), { type: 'dy', api_token: token, req_url: address.url })
  })

  test('uses a custom API from the settings', async () => {
    const preset = customPreset({
      addressParameter: 'u',
      tokenParameter: 't',
      verdictPath: 'data.state',
      passes: ['0', 'fine'],
      blocked: ['1'],
    })
    platform.handle(() => json(200, { data: { state: 0 } }))
    assert.deepEqual(await ask(preset), passes)
    assert.equal(platform.requests.at(-1)!.query.get('u'), address.url)
    platform.handle(() => json(200, { data: { state: '1' } }))
    assert.deepEqual(await ask(preset), blocked)
    platform.handle(() => json(200, { data: { state: '' } }))
    assert.equal((await ask(preset)).kind, 'ambiguous')
  })

  const troubles: readonly (readonly [string, Parameters<FakeUpstream['handle']>[0], string])[] = [
    ['HTML', () => html(200, '<p>200</p>'), 'ambiguous'],
    ['500', () => json(500, { code: '200' }), 'ambiguous'],
    ['302', () => html(302, '', { location: 'http://example.com/' }), 'ambiguous'],
    ['429', () => json(429, {}), 'throttled'],
    ['cut', () => cutInBody('{"code":"200"'), 'ambiguous'],
    ['5 MB', () => hugePage(), 'ambiguous'],
  ]
  for (const [name, handler, expected] of troubles) {
    test(`${name}: ${expected}`, async () => {
      platform.handle(handler)
      assert.equal((await ask(httpPresets.uomg)).kind, expected)
    })
  }

  test('no response: ambiguous', async () => {
    platform.handle(hang)
    const options = { url: `${platform.url}check`, token: undefined, preset: httpPresets.uomg }
    const gateway = createHttpGateway({ ...options, timeoutMs: impatientMs })
    assert.equal((await gateway.check(address, never)).kind, 'ambiguous')
  })
})

// Each gateway against a loopback stand-in: what it sends, every line of its verdict table, and all ways to misbehave.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import {
  type Behaviour,
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
  verifyAliyunSignature,
  verifyTencentSignature,
} from '../../../test/support/fake-upstream.ts'
import type { Outcome } from '../../upstream/outcome.ts'
import type { Finding, IdentityGateway } from '../port.ts'
import { aliyunGateway } from './aliyun.ts'
import { marketGateway } from './market.ts'
import { marketPresets, type MarketShape } from './market-shape.ts'
import { sandboxGateway } from './sandbox.ts'
import { tencentGateway } from './tencent.ts'

const person = { name: '买买提·阿里', number: '11010519491231002X' }
const secrets = { testid: 'testsecret' }
const key = { id: 'testid', secret: 'testsecret' }

let fake: FakeUpstream
before(async () => {
  fake = await startFakeUpstream()
})
after(() => fake.close())

function ask(gateway: IdentityGateway, behaviour?: Behaviour): Promise<Outcome<Finding>> {
  if (behaviour) fake.handle(() => behaviour)
  return gateway.ask(person, new AbortController().signal)
}

function verdict(outcome: Outcome<Finding>): string {
  return outcome.kind === 'accepted' ? outcome.value.verdict : outcome.kind
}

/** Nothing an upstream does may put the person into a reason, or turn into a verdict. */
function misbehaviour(open: (timeoutMs: number) => IdentityGateway, matching: unknown): void {
  const ways: Readonly<Record<string, [Behaviour, string]>> = {
    hang: [hang(), 'ambiguous'],
    'cut before the headers': [cutBeforeHeaders(), 'ambiguous'],
    'cut in the body': [cutInBody(JSON.stringify(matching)), 'ambiguous'],
    reset: [reset(), 'ambiguous'],
    'HTML 502': [html502(), 'ambiguous'],
    'HTML 200': [text(200, '<html>一致</html>', { 'content-type': 'text/html' }), 'ambiguous'],
    'a huge page': [hugePage(), 'ambiguous'],
    'a match with megabytes behind it': [
      text(200, JSON.stringify(matching) + ' '.repeat(400_000)),
      'ambiguous',
    ],
    'nothing at all': [text(200, ''), 'ambiguous'],
    null: [text(200, 'null'), 'ambiguous'],
    'a list': [json(200, [matching]), 'ambiguous'],
    'an empty object': [json(200, {}), 'refused'],
    'a bare text': [json(200, '一致'), 'ambiguous'],
  }
  for (const [name, [behaviour, kind]] of Object.entries(ways)) {
    it(`${name} is ${kind}`, async () => {
      const outcome = await ask(open(name === 'hang' ? 150 : 5_000), behaviour)
      assert.equal(outcome.kind, kind)
      assertNoPerson(outcome)
    })
  }

  it('a match with status 500 is none', async () => {
    assert.notEqual((await ask(open(5_000), json(500, matching))).kind, 'accepted')
  })

  it('a redirect is not followed', async () => {
    const asked = fake.requests.length
    const outcome = await ask(open(5_000), text(302, '', { location: fake.url }))
    assert.notEqual(outcome.kind, 'accepted')
    assert.equal(fake.requests.length, asked + 1)
  })

  it('a port nobody listens on is not sent', async () => {
    const gone = await startFakeUpstream()
    await gone.close()
    const saved = fake
    fake = gone
    try {
      assert.equal((await open(5_000).ask(person, new AbortController().signal)).kind, 'not_sent')
    } finally {
      fake = saved
    }
  })

  it('an answer that quotes what it was asked leaves no trace of it', async () => {
    const quote = `${person.name} ${person.number}`
    for (const value of [quote, person.name, person.number, `${person.number}.${person.name}`]) {
      const shapes = [
        { Code: value, Message: value, ResultObject: { BizCode: value } },
        { Code: '200', ResultObject: { BizCode: value } },
        { Response: { Error: { Code: value, Message: value } } },
        { Response: { Result: value, Description: value } },
        { status: value, respCode: value, code: value, data: { result: value } },
        { code: '0', success: true, data: { result: value } },
        { code: 200, success: true, data: { result: value } },
      ]
      for (const shape of shapes) {
        const outcome = await ask(open(5_000), json(200, shape))
        assert.notEqual(outcome.kind, 'accepted')
        assertNoPerson(outcome)
      }
      assertNoPerson(
        await ask(
          open(5_000),
          text(400, quote, {
            'x-ca-error-message': encodeURIComponent(quote),
            'x-ca-error-code': person.number,
          }),
        ),
      )
    }
  })
}

function assertNoPerson(outcome: Outcome<Finding>): void {
  const told = JSON.stringify(outcome)
  for (const secret of [person.name, person.number, '买买提', '19491231']) {
    assert.ok(!told.includes(secret))
  }
}

/** Values that look like a verdict to whoever is careless. */
const lookAlikes: readonly unknown[] = [
  true,
  false,
  null,
  undefined,
  '',
  ' ',
  '一致',
  '不一致',
  'match',
  'OK',
  'true',
  [1],
  ['1'],
  ['0'],
  {},
  { toString: 1 },
  '1 ',
  ' 1',
  '01 ',
  '+1',
  '1.0',
  1.5,
  'constructor',
  '__proto__',
  'toString',
  'hasOwnProperty',
]

describe('aliyun', () => {
  const open = (timeoutMs = 5_000) => aliyunGateway({ endpoint: fake.url, key, timeoutMs })
  const answer = (bizCode: unknown, code: unknown = '200') =>
    json(200, { RequestId: 'r', Code: code, Message: 'success', ResultObject: { BizCode: bizCode } })

  it('sends a signed form', async () => {
    assert.equal(verdict(await ask(open(), answer('1'))), 'match')
    const request = fake.requests.at(-1)!
    assert.equal(verifyAliyunSignature(request, secrets), undefined)
    assert.equal(request.method, 'POST')
    assert.equal(request.target, '/')
    assert.equal(request.headers['x-acs-action'], 'Id2MetaVerify')
    assert.equal(request.headers['x-acs-version'], '2019-03-07')
    assert.deepEqual(Object.fromEntries(new URLSearchParams(request.body)), {
      ParamType: 'normal',
      IdentifyNum: person.number,
      UserName: person.name,
    })
  })

  for (const [code, wanted] of Object.entries({ 1: 'match', 2: 'mismatch', 3: 'no_record' })) {
    it(`BizCode ${code} is ${wanted}, as text and as number`, async () => {
      assert.equal(verdict(await ask(open(), answer(code))), wanted)
      assert.equal(verdict(await ask(open(), answer(Number(code), 200))), wanted)
    })
  }

  for (const value of [...lookAlikes, 0, '0', 4, '01', -1]) {
    it(`BizCode ${JSON.stringify(value)} is no verdict`, async () => {
      assert.equal(verdict(await ask(open(), answer(value))), 'refused')
    })
  }

  for (const [code, kind] of [
    [400, 'not_sent'],
    ['401', 'not_sent'],
    [402, 'not_sent'],
    [403, 'not_sent'],
    [410, 'not_sent'],
    [411, 'not_sent'],
    ['412', 'not_sent'],
    [500, 'ambiguous'],
    ['Throttling.User', 'throttled'],
    ['SignatureDoesNotMatch', 'not_sent'],
    ['Something.New', 'refused'],
    [true, 'refused'],
  ] as const) {
    it(`Code ${code} with a match beside it is ${kind}`, async () => {
      assert.equal((await ask(open(), answer('1', code))).kind, kind)
    })
  }

  it("reads the gateway's own refusals, which have another status", async () => {
    const body = { Code: 'InvalidAccessKeyId.NotFound', Message: 'x', HostId: 'h', Recommend: 'u' }
    const outcome = await ask(open(), json(404, body))
    assert.deepEqual(outcome, { kind: 'not_sent', reason: 'InvalidAccessKeyId.NotFound' })
  })

  misbehaviour(open, { Code: '200', ResultObject: { BizCode: '1' } })
})

describe('tencent', () => {
  const open = (timeoutMs = 5_000) => tencentGateway({ endpoint: fake.url, key, timeoutMs })
  const answer = (result: unknown) =>
    json(200, { Response: { Result: result, Description: '一致', RequestId: 'r' } })
  const failure = (code: unknown) =>
    json(200, { Response: { Error: { Code: code, Message: 'm' }, Result: '0', RequestId: 'r' } })

  it('sends signed JSON', async () => {
    assert.equal(verdict(await ask(open(), answer('0'))), 'match')
    const request = fake.requests.at(-1)!
    assert.equal(verifyTencentSignature(request, secrets), undefined)
    assert.match(request.headers['authorization'] ?? '', /\/faceid\/tc3_request/)
    assert.equal(request.headers['x-tc-action'], 'IdCardVerification')
    assert.equal(request.headers['x-tc-version'], '2018-03-01')
    assert.equal(request.headers['x-tc-region'], undefined)
    assert.deepEqual(JSON.parse(request.body), { IdCard: person.number, Name: person.name })
  })

  for (const [result, wanted] of Object.entries({
    '0': 'match',
    '-1': 'mismatch',
    '-2': 'refused',
    '-3': 'refused',
    '-4': 'not_sent',
    '-5': 'no_record',
    '-6': 'not_sent',
    '-7': 'throttled',
  })) {
    it(`Result ${result} is ${wanted}, as text and as number`, async () => {
      assert.equal(verdict(await ask(open(), answer(result))), wanted)
      assert.equal(verdict(await ask(open(), answer(Number(result)))), wanted)
    })
  }

  for (const value of [...lookAlikes, 1, '1', 2, '-8', '00']) {
    it(`Result ${JSON.stringify(value)} is no verdict`, async () => {
      assert.equal(verdict(await ask(open(), answer(value))), 'refused')
    })
  }

  for (const [code, kind] of [
    ['AuthFailure.SignatureFailure', 'not_sent'],
    ['UnauthorizedOperation.Arrears', 'not_sent'],
    ['RequestLimitExceeded', 'throttled'],
    ['InvalidParameterValue.NameFormat', 'not_sent'],
    ['InternalError', 'ambiguous'],
    [undefined, 'ambiguous'],
    [0, 'ambiguous'],
  ] as const) {
    it(`Error ${code} with a match beside it is ${kind}`, async () => {
      assert.equal((await ask(open(), failure(code))).kind, kind)
    })
  }

  misbehaviour(open, { Response: { Result: '0' } })
})

describe('market', () => {
  const openPreset = (preset: keyof typeof marketPresets, timeoutMs = 5_000) =>
    marketGateway({
      url: `${fake.url}some/path`,
      appCode: 'code',
      shape: marketPresets[preset],
      timeoutMs,
    })

  const matching = {
    idcert: { status: '01', msg: '实名认证通过！' },
    idenauthen: { respCode: '0000', respMessage: '身份证信息匹配' },
    sxidcheck: { code: '0', isFee: 1, data: { result: 1 } },
    kzidcardv1: { code: 200, success: true, data: { result: 0, desc: '一致' } },
  } as const
  const presets = Object.keys(matching) as (keyof typeof matching)[]

  it('idcert: GET with a query', async () => {
    await ask(openPreset('idcert'), json(200, matching.idcert))
    const request = fake.requests.at(-1)!
    assert.equal(request.method, 'GET')
    assert.equal(request.path, '/some/path')
    assert.equal(request.headers['authorization'], 'APPCODE code')
    assert.deepEqual(Object.fromEntries(request.query), { name: person.name, idCard: person.number })
    assert.equal(request.body, '')
  })

  it('sxidcheck: POST with a query', async () => {
    await ask(openPreset('sxidcheck'), json(200, matching.sxidcheck))
    const request = fake.requests.at(-1)!
    assert.equal(request.method, 'POST')
    assert.deepEqual(Object.fromEntries(request.query), { name: person.name, idCard: person.number })
  })

  for (const [preset, field] of [
    ['idenauthen', 'idNo'],
    ['kzidcardv1', 'idcard'],
  ] as const) {
    it(`${preset}: POST with a form`, async () => {
      await ask(openPreset(preset), json(200, matching[preset]))
      const request = fake.requests.at(-1)!
      assert.equal(request.method, 'POST')
      assert.equal(request.target, '/some/path')
      assert.match(request.headers['content-type'] ?? '', /^application\/x-www-form-urlencoded/)
      assert.deepEqual(Object.fromEntries(new URLSearchParams(request.body)), {
        name: person.name,
        [field]: person.number,
      })
    })
  }

  it('keeps the query that the address has', async () => {
    const gateway = marketGateway({
      url: `${fake.url}p?v=2`,
      appCode: 'code',
      shape: marketPresets.idcert,
      timeoutMs: 5_000,
    })
    await ask(gateway, json(200, matching.idcert))
    assert.equal(fake.requests.at(-1)!.query.get('v'), '2')
  })

  it('a shape of the operator may send JSON', async () => {
    const shape: MarketShape = { ...marketPresets.kzidcardv1, fieldsIn: 'json' }
    const gateway = marketGateway({ url: fake.url, appCode: 'code', shape, timeoutMs: 5_000 })
    assert.equal(verdict(await ask(gateway, json(200, matching.kzidcardv1))), 'match')
    assert.deepEqual(JSON.parse(fake.requests.at(-1)!.body), { name: person.name, idcard: person.number })
  })

  const tables: [keyof typeof matching, (value: unknown) => unknown, Record<string, string>][] = [
    [
      'idcert',
      (status) => ({ status }),
      {
        '01': 'match',
        '02': 'mismatch',
        '202': 'no_record',
        '203': 'not_sent',
        '204': 'not_sent',
        '205': 'not_sent',
        '1': 'refused',
        '00': 'refused',
      },
    ],
    [
      'idenauthen',
      (respCode) => ({ respCode }),
      { '0000': 'match', '0008': 'mismatch', '0': 'refused', '0001': 'refused' },
    ],
    [
      'sxidcheck',
      (result) => ({ code: '0', data: { result } }),
      { '1': 'match', '2': 'mismatch', '3': 'no_record', '0': 'refused', '4': 'refused' },
    ],
    [
      'kzidcardv1',
      (result) => ({ code: 200, success: true, data: { result } }),
      { '0': 'match', '1': 'mismatch', '2': 'no_record', '3': 'refused' },
    ],
  ]
  for (const [preset, answer, table] of tables) {
    for (const [value, wanted] of Object.entries(table)) {
      it(`${preset}: ${value} is ${wanted}`, async () => {
        assert.equal(verdict(await ask(openPreset(preset), json(200, answer(value)))), wanted)
        if (!/^0\d/.test(value)) {
          assert.equal(verdict(await ask(openPreset(preset), json(200, answer(Number(value))))), wanted)
        }
      })
    }
    it(`${preset}: what looks like a verdict is none`, async () => {
      for (const value of lookAlikes) {
        assert.equal(verdict(await ask(openPreset(preset), json(200, answer(value)))), 'refused')
      }
    })
  }

  it('a verdict counts only beside the code of success', async () => {
    for (const code of ['1', 1, '00', null, true, '400']) {
      const body = { code, data: { result: 1 } }
      assert.equal(verdict(await ask(openPreset('sxidcheck'), json(200, body))), 'refused')
    }
    for (const body of [
      { code: 200, success: false, data: { result: 0 } },
      { code: 200, data: { result: 0 } },
      { code: 500, success: true, data: { result: 0 } },
      { code: 200, success: 1, data: { result: 0 } },
    ]) {
      assert.equal(verdict(await ask(openPreset('kzidcardv1'), json(200, body))), 'refused')
    }
  })

  it('folds the names of the facts', async () => {
    const flat = {
      status: '01',
      idCard: person.number,
      name: person.name,
      sex: '女',
      area: '北京市朝阳区',
      province: '北京市',
      city: '北京市',
      prefecture: '朝阳区',
      birthday: '1949-12-31',
      addrCode: '110105',
    }
    assert.deepEqual(await factsOf('idcert', flat), {
      sex: '女',
      birthday: '1949-12-31',
      address: '北京市朝阳区',
      age: undefined,
      nation: undefined,
      province: '北京市',
      city: '北京市',
      district: '朝阳区',
    })
    const nested = {
      code: '0',
      data: { result: '1', gender: 2, birth: '19491231', county: '朝阳区', age: '76' },
    }
    const facts = await factsOf('sxidcheck', nested)
    assert.deepEqual([facts.sex, facts.birthday, facts.district, facts.age], [2, '19491231', '朝阳区', '76'])
  })

  async function factsOf(preset: keyof typeof matching, body: unknown): Promise<Finding['facts']> {
    const outcome = await ask(openPreset(preset), json(200, body))
    return outcome.kind === 'accepted' ? outcome.value.facts : assert.fail('no verdict')
  }

  it("the marketplace's own refusals prove that nobody was asked", async () => {
    for (const [status, code] of [
      [403, 'B403MQ'],
      [403, 'B403MO'],
      [403, 'B403ME'],
    ] as const) {
      const outcome = await ask(openPreset('idcert'), text(status, '', { 'x-ca-error-code': code }))
      assert.deepEqual(outcome, { kind: 'not_sent', reason: `market_${code}` })
    }
    const message = { 'x-ca-error-message': 'Invalid AppCode `not exists`' }
    assert.deepEqual(await ask(openPreset('idcert'), text(400, '', message)), {
      kind: 'not_sent',
      reason: 'http_400',
    })
  })

  it('no body but those of its table is ever a match', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...presets), fc.json(), async (preset, body) => {
        const outcome = await ask(openPreset(preset), text(200, body))
        assert.notEqual(outcome.kind, 'accepted')
      }),
      { numRuns: 100 },
    )
  })

  for (const preset of presets) {
    describe(preset, () => misbehaviour((timeoutMs) => openPreset(preset, timeoutMs), matching[preset]))
  }
})

describe('sandbox', () => {
  const said = async (name: string) =>
    verdict(await sandboxGateway().ask({ ...person, name }, new AbortController().signal))

  it('answers by name', async () => {
    assert.equal(await said('不匹配'), 'mismatch')
    assert.equal(await said('无记录'), 'no_record')
    assert.equal(await said('上游故障'), 'not_sent')
    assert.equal(await said('张三'), 'match')
    assert.equal(await said('不匹配吗'), 'match')
  })
})

// The marketplace gateway and its presets with a loopback server.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { json, text } from '../../../test/support/fake-upstream.ts'
import {
  createIdentityGatewayTest,
  lookAlikes,
  person,
  verdict,
} from '../../../test/support/identity-gateway.ts'
import type { VerificationResult } from '../port.ts'
import { createMarketGateway } from './market.ts'
import { marketPresets, type MarketShape } from './market-shape.ts'

const stage = createIdentityGatewayTest()

describe('market', () => {
  const openPreset = (preset: keyof typeof marketPresets, timeoutMs = 5_000) =>
    createMarketGateway({
      url: `${stage.fake.url}some/path`,
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
    await stage.verify(openPreset('idcert'), json(200, matching.idcert))
    const request = stage.fake.requests.at(-1)!
    assert.equal(request.method, 'GET')
    assert.equal(request.path, '/some/path')
    assert.equal(request.headers['authorization'], 'APPCODE code')
    assert.deepEqual(Object.fromEntries(request.query), { name: person.name, idCard: person.number })
    assert.equal(request.body, '')
  })

  it('sxidcheck: POST with a query', async () => {
    await stage.verify(openPreset('sxidcheck'), json(200, matching.sxidcheck))
    const request = stage.fake.requests.at(-1)!
    assert.equal(request.method, 'POST')
    assert.deepEqual(Object.fromEntries(request.query), { name: person.name, idCard: person.number })
  })

  for (const [preset, field] of [
    ['idenauthen', 'idNo'],
    ['kzidcardv1', 'idcard'],
  ] as const) {
    it(`${preset}: POST with a form`, async () => {
      await stage.verify(openPreset(preset), json(200, matching[preset]))
      const request = stage.fake.requests.at(-1)!
      assert.equal(request.method, 'POST')
      assert.equal(request.target, '/some/path')
      assert.match(request.headers['content-type'] ?? '', /^application\/x-www-form-urlencoded/)
      assert.deepEqual(Object.fromEntries(new URLSearchParams(request.body)), {
        name: person.name,
        [field]: person.number,
      })
    })
  }

  it('keeps the query of the URL', async () => {
    const gateway = createMarketGateway({
      url: `${stage.fake.url}p?v=2`,
      appCode: 'code',
      shape: marketPresets.idcert,
      timeoutMs: 5_000,
    })
    await stage.verify(gateway, json(200, matching.idcert))
    assert.equal(stage.fake.requests.at(-1)!.query.get('v'), '2')
  })

  it('a custom shape may send JSON', async () => {
    const shape: MarketShape = { ...marketPresets.kzidcardv1, fieldsIn: 'json' }
    const gateway = createMarketGateway({ url: stage.fake.url, appCode: 'code', shape, timeoutMs: 5_000 })
    assert.equal(verdict(await stage.verify(gateway, json(200, matching.kzidcardv1))), 'match')
    assert.deepEqual(JSON.parse(stage.fake.requests.at(-1)!.body), {
      name: person.name,
      idcard: person.number,
    })
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
        assert.equal(verdict(await stage.verify(openPreset(preset), json(200, answer(value)))), wanted)
        if (!/^0\d/.test(value)) {
          assert.equal(
            verdict(await stage.verify(openPreset(preset), json(200, answer(Number(value))))),
            wanted,
          )
        }
      })
    }
    it(`${preset}: similar values are no verdict`, async () => {
      for (const value of lookAlikes) {
        assert.equal(verdict(await stage.verify(openPreset(preset), json(200, answer(value)))), 'refused')
      }
    })
  }

  it('a verdict counts only with the success code', async () => {
    for (const code of ['1', 1, '00', null, true, '400']) {
      const body = { code, data: { result: 1 } }
      assert.equal(verdict(await stage.verify(openPreset('sxidcheck'), json(200, body))), 'refused')
    }
    for (const body of [
      { code: 200, success: false, data: { result: 0 } },
      { code: 200, data: { result: 0 } },
      { code: 500, success: true, data: { result: 0 } },
      { code: 200, success: 1, data: { result: 0 } },
    ]) {
      assert.equal(verdict(await stage.verify(openPreset('kzidcardv1'), json(200, body))), 'refused')
    }
  })

  it('renames the details', async () => {
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
    assert.deepEqual(await detailsOf('idcert', flat), {
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
    const details = await detailsOf('sxidcheck', nested)
    assert.deepEqual(
      [details.sex, details.birthday, details.district, details.age],
      [2, '19491231', '朝阳区', '76'],
    )
  })

  async function detailsOf(
    preset: keyof typeof matching,
    body: unknown,
  ): Promise<VerificationResult['details']> {
    const outcome = await stage.verify(openPreset(preset), json(200, body))
    return outcome.kind === 'accepted' ? outcome.value.details : assert.fail('no verdict')
  }

  it("refusals of the marketplace's API gateway are not sent", async () => {
    for (const [status, code] of [
      [403, 'B403MQ'],
      [403, 'B403MO'],
      [403, 'B403ME'],
    ] as const) {
      const outcome = await stage.verify(openPreset('idcert'), text(status, '', { 'x-ca-error-code': code }))
      assert.deepEqual(outcome, { kind: 'not_sent', reason: `market_${code}` })
    }
    const message = { 'x-ca-error-message': 'Invalid AppCode `not exists`' }
    assert.deepEqual(await stage.verify(openPreset('idcert'), text(400, '', message)), {
      kind: 'not_sent',
      reason: 'http_400',
    })
  })

  it('only bodies in the table are a match', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...presets), fc.json(), async (preset, body) => {
        const outcome = await stage.verify(openPreset(preset), text(200, body))
        assert.notEqual(outcome.kind, 'accepted')
      }),
      { numRuns: 100 },
    )
  })

  for (const preset of presets) {
    describe(preset, () => stage.testFaults((timeoutMs) => openPreset(preset, timeoutMs), matching[preset]))
  }
})

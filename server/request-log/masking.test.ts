// No phone number, ID number, name or key passes the masks, whatever the call contains.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { identity } from '../../contract/identity.ts'
import { shortlink } from '../../contract/shortlink.ts'
import { sms } from '../../contract/sms.ts'
import { generateApiKey } from '../accounts/key.ts'
import { maskResponse, maskParameters, maskText } from './masking.ts'

const phones = fc.stringMatching(/^1[3-9]\d{9}$/)
const idcards = fc
  .tuple(
    fc.stringMatching(/^[1-9]\d{5}$/),
    fc.integer({ min: 1900, max: 2025 }),
    fc.stringMatching(/^\d{3}[\dX]$/),
  )
  .map(([area, year, tail]) => `${area}${year}0228${tail}`)

void describe('masking', () => {
  it('166 cuts a long text before a number or key, not inside of it', () => {
    const key = generateApiKey('secret')
    for (const secret of [key, '11010519491231002X', '13800138000']) {
      for (let before = 440; before < 510; before += 1) {
        const text = maskText(`${'，'.repeat(before)}${secret}${'。'.repeat(100)}`)
        assert.ok(!text.includes(secret.slice(0, 9)), `${before} ${text.slice(430)}`)
      }
    }
    assert.equal(maskText('字'.repeat(600)).length, 501)
  })

  it('166 parses no map of variables beyond the limits of a body', () => {
    const variables = Object.fromEntries(Array.from({ length: 90_000 }, (_, index) => [`name_${index}`, 1]))
    const json = { template_params: JSON.stringify(variables) }
    const found = { template_params: 'json' } as const
    assert.doesNotMatch(maskParameters(sms, { headers: {}, json }, found), /name_/)
  })

  it('hides numbers and keys in any text', () => {
    fc.assert(
      fc.property(phones, idcards, fc.string({ maxLength: 20 }), (phone, idcard, noise) => {
        const key = generateApiKey('secret')
        const plain = noise.replaceAll(/\w/g, '')
        const text = maskText(`${plain} ${phone}，${idcard}；${key} ${plain}`)
        assert.ok(!text.includes(phone) && !text.includes(idcard) && !text.includes(key.slice(3)))
      }),
    )
  })

  it('hides them in a response of any shape', () => {
    fc.assert(
      fc.property(phones, idcards, fc.jsonValue({ maxDepth: 3 }), (phone, idcard, json) => {
        const body = {
          code: 0,
          data: [
            { phone_number: phone, nested: { text: `给${phone}` }, number: Number(phone) },
            { idcard, json },
          ],
          template_params: { code: '483920', name: '王小明' },
        }
        const text = maskResponse(sms, body)
        if (text === null) return
        assert.doesNotThrow(() => void JSON.parse(text))
        for (const secret of [phone, idcard, '483920', '王小明']) assert.ok(!text.includes(secret))
      }),
    )
  })

  it('hides them below names that every object inherits', () => {
    const body = JSON.parse(
      '{"__proto__":{"t":"13800138000"},"constructor":"13800138000","toString":"13800138000"}',
    )
    const text = maskResponse(sms, { data: body })!
    assert.ok(!text.includes('13800138000'))
    assert.ok(text.includes('constructor') && text.includes('__proto__'))
  })

  it('hides all personal data in an identity response', () => {
    const text = maskResponse(identity, {
      success: true,
      matched: true,
      message: '验证通过',
      extra: { birthday: '1949-12-31', sex: '女', address: '北京市朝阳区' },
    })
    assert.equal(
      text,
      '{"success":true,"matched":true,"message":"验证通过","extra":{"birthday":"••••••","sex":"••••••","address":"••••••"}}',
    )
  })

  it('hides variables and passwords in lists that are sent as JSON text', () => {
    const stored = (endpoint: Parameters<typeof maskParameters>[0], name: string, value: string) =>
      maskParameters(endpoint, { headers: {}, form: { [name]: value } }, { [name]: 'form' })
    const messages = [{ phone_number: '13800138000', template_params: { code: '483920', name: '王小明' } }]
    const links = [{ title: '活动', target_url: 'https://example.com/', password: 'open 1' }]
    const shown = { code: '••••••', name: '••••••' }
    assert.deepEqual(JSON.parse(stored(sms, 'messages', JSON.stringify(messages))), [
      {
        name: 'messages',
        source: 'form',
        value: [{ phone_number: '138****8000', template_params: shown }],
      },
    ])
    assert.deepEqual(JSON.parse(stored(shortlink, 'links', ` ${JSON.stringify(links)}`))[0].value, [
      { ...links[0], password: '••••••' },
    ])
    for (const broken of [JSON.stringify(messages).slice(0, -1), JSON.stringify(messages[0])]) {
      const text = stored(sms, 'messages', broken)
      assert.ok(!text.includes('483920') && !text.includes('王小明'), text)
    }
    const long = JSON.stringify(Array.from({ length: 1_000 }, () => messages[0]))
    assert.equal(JSON.parse(stored(sms, 'messages', long))[0].value, '••••••')
    assert.match(stored(sms, 'phone_numbers', '13800138000\n13800138001'), /138\*\*\*\*8000.*138\*\*\*\*8001/)
  })

  it('hides numbers that are written in groups, also in lists', () => {
    const numbersIn = (value: unknown) =>
      (
        JSON.parse(
          maskParameters(sms, { headers: {}, json: { phone_numbers: value } }, { phone_numbers: 'json' }),
        ) as { value: unknown }[]
      )[0]!.value
    assert.deepEqual(
      numbersIn([
        '13800138000',
        '138-0013-8001',
        '+86 138 0013 8002',
        13_800_138_003,
        '(010) 6552-9988',
        null,
      ]),
      ['138****8000', '••••••', '+••••••', '138****8003', '(••••••', null],
    )
    assert.equal(numbersIn('138 0013 8000\n13800138001, 13800138002'), '••••••\n138****8001, 138****8002')
    assert.equal((numbersIn(Array.from({ length: 50 }, () => '1')) as string[]).length, 21)
    for (const written of [
      '13800 138000',
      '1380013 8000',
      '138\t0013\t8000',
      '138\u00A00013\u00A08000',
      '138–0013–8000',
      '１３８００１３８０００',
      '447911123456',
      447_911_123_456,
    ]) {
      assert.deepEqual(numbersIn([written]), ['••••••'])
      assert.deepEqual(numbersIn([[written], { x: written }]), [['••••••'], { x: '••••••' }])
    }
    assert.equal((numbersIn(Array.from({ length: 100_020 }, () => 1)) as unknown[]).at(-1), '… 100000')
  })

  it('hides what is sent as JSON text in the list of numbers by mistake', () => {
    const message = { phone_number: '13800138000', template_params: { code: '483920', name: '王小明' } }
    const valueOf = (phone_numbers: unknown) =>
      (
        JSON.parse(
          maskParameters(sms, { headers: {}, form: { phone_numbers } }, { phone_numbers: 'form' }),
        ) as { value: unknown }[]
      )[0]!.value
    assert.deepEqual(valueOf(JSON.stringify([message])), [
      { phone_number: '138****8000', template_params: { code: '••••••', name: '••••••' } },
    ])
    assert.deepEqual(valueOf([JSON.stringify(message)]), ['••••••'])
    assert.equal(valueOf(JSON.stringify([message]).slice(0, -1)), '••••••')
    assert.deepEqual(valueOf('["138 0013 8000","13800138001"]'), ['••••••', '138****8001'])
  })

  it('hides what callers send under wrong names in lists, and items that are no objects', () => {
    const wrong = { mobile: '138 0013 8000', params: { code: '483920', name: '王小明' }, name: '王小明' }
    const valueOf = (endpoint: Parameters<typeof maskParameters>[0], name: string, value: unknown) =>
      (
        JSON.parse(
          maskParameters(endpoint, { headers: {}, json: { [name]: value } }, { [name]: 'json' }),
        ) as {
          value: unknown
        }[]
      )[0]!.value
    const shown = { mobile: '••••••', params: '••••••', name: '••••••' }
    const right = { phone_number: '13800138000', template_params: { code: '483920' } }
    assert.deepEqual(valueOf(sms, 'messages', [{ ...right, ...wrong }, '王小明 138 0013 8000', 7]), [
      { phone_number: '138****8000', template_params: { code: '••••••' }, ...shown },
      '••••••',
      '••••••',
    ])
    assert.deepEqual(valueOf(sms, 'messages', '138 0013 8000,王小明,483920'), '••••••')
    assert.deepEqual(valueOf(sms, 'messages', { ...wrong }), '••••••')
    assert.deepEqual(valueOf(sms, 'phone_numbers', [wrong, '王小明 13800138000', '13800138000']), [
      shown,
      '••••••',
      '138****8000',
    ])
    assert.deepEqual(valueOf(sms, 'phone_numbers', wrong), '••••••')
    const link = { target_url: 'https://example.com/', title: '活动' }
    assert.deepEqual(valueOf(shortlink, 'links', [{ ...link, passwd: 'open 1' }]), [
      { ...link, passwd: '••••••' },
    ])
    const many = valueOf(
      sms,
      'messages',
      Array.from({ length: 500 }, () => right),
    ) as unknown[]
    assert.deepEqual([many.length, many.at(-1)], [21, '… 480'])
  })

  it('hides items that are JSON text, as forms repeat a field', () => {
    const found = { messages: 'form', links: 'form' } as const
    const form = {
      messages: ['{"phone_number":"13800138000","template_params":{"code":"483920"}}'],
      links: '["{\\"target_url\\":\\"https://example.com\\",\\"password\\":\\"pass-word\\"}"]',
    }
    const text = maskParameters(sms, { headers: {}, form }, found)
    assert.doesNotMatch(text, /483920|13800138000|pass-word/)
    const numbers = maskParameters(
      sms,
      { headers: {}, form: { phone_numbers: ['13800138000'] } },
      { phone_numbers: 'form' },
    )
    assert.match(numbers, /138\*{4}8000/)
  })

  it('leaves serial numbers unmasked', () => {
    const text = maskResponse(sms, { data: { biz_id: '202611150000000001' } })
    assert.equal(text, '{"data":{"biz_id":"202611150000000001"}}')
  })

  it('cuts long values', () => {
    const many = { urls: Array.from({ length: 500 }, (_one, index) => `https://example.com/${index}`) }
    const sources = { headers: {}, json: { ...many, title: 'x'.repeat(100_000) } }
    const text = maskParameters(sms, sources, { urls: 'json', title: 'json' })
    assert.ok(text.length < 16_384)
    const [urls] = JSON.parse(text) as [{ value: string[] }]
    assert.equal(urls.value.length, 21)
    assert.equal(urls.value.at(-1), '… 480')
    assert.equal(
      maskResponse(sms, { data: Array.from({ length: 50 }, () => ({ text: '长'.repeat(500) })) }),
      null,
    )
  })

  it('reads headers as UTF-8', () => {
    const headers = {
      name: Buffer.from('李雷', 'utf8').toString('latin1'),
      'api-key': generateApiKey('secret'),
    }
    const text = maskParameters(identity, { headers }, { name: 'header', api_key: 'header' })
    assert.deepEqual(JSON.parse(text), [
      { name: 'name', source: 'header', value: '李*' },
      { name: 'api_key', source: 'header', value: '••••••' },
    ])
  })
})

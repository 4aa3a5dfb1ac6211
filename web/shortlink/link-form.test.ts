// What the link form sends: only what was filled in, only what was changed, and what was removed.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { LinkDetail } from '../../contract/console/responses/shortlink.ts'
import { parseTime } from '../../contract/time.ts'
import { changeOf, emptyLink, fieldOf, type LinkValues, newLinkOf, valuesOf } from './link-form.ts'
import { describeConditions } from './rule-names.ts'

const full: LinkValues = {
  ...emptyLink,
  target_url: ' https://example.com/ ',
  title: '活动',
  short_code: 'summer',
  tags: ['a', 'b'],
  expires_at: '2036-01-02 03:04',
  max_clicks: 5,
  password: 'secret',
  rules: [
    {
      conditions: [
        { name: 'os', values: ['ios', 'macos'] },
        { name: 'country', values: ['CN'] },
        { name: 'app', values: [] },
      ],
      target_url: 'https://example.com/apple',
    },
  ],
}

const stored = {
  target_url: 'https://example.com/',
  title: '活动',
  domain: '',
  short_code: 'summer',
  tags: ['a', 'b'],
  external_id: '',
  redirect_type: 'direct',
  redirect_url_a: '',
  expires_at: parseTime('2036-01-02 03:04:00'),
  expired_url: '',
  max_clicks: 5,
  has_password: true,
  rules: [{ when: { os: ['ios', 'macos'], country: 'CN' }, target_url: 'https://example.com/apple' }],
} as unknown as LinkDetail

describe('the link form', () => {
  it('sends only what was filled in', () => {
    assert.deepEqual(newLinkOf({ ...emptyLink, target_url: 'https://example.com' }), {
      target_url: 'https://example.com',
      redirect_type: 'direct',
    })
    assert.deepEqual(newLinkOf(full), {
      target_url: 'https://example.com/',
      redirect_type: 'direct',
      title: '活动',
      short_code: 'summer',
      expires_at: '2036-01-02 03:04:00',
      password: 'secret',
      max_clicks: 5,
      tags: ['a', 'b'],
      rules: [{ when: { os: ['ios', 'macos'], country: ['CN'] }, target_url: 'https://example.com/apple' }],
    })
  })

  it('sends only changes, and clears what was removed', () => {
    const before = valuesOf(stored)
    assert.equal(changeOf(before, { ...before }), undefined)
    assert.deepEqual(changeOf(before, { ...before, title: '新' }), { title: '新' })
    assert.deepEqual(
      changeOf(before, {
        ...before,
        expires_at: '',
        tags: [],
        rules: [],
        max_clicks: null,
        keeps_password: false,
      }),
      { clear: ['expires_at', 'max_clicks', 'tags', 'rules', 'password'] },
    )
    assert.deepEqual(changeOf(before, { ...before, password: 'other', keeps_password: false }), {
      password: 'other',
    })
  })

  it('names fields and describes rules', () => {
    assert.equal(fieldOf('rules[0].when.os'), 'rules')
    assert.equal(fieldOf('tags[3]'), 'tags')
    assert.equal(fieldOf('target_url'), 'target_url')
    assert.equal(describeConditions(full.rules[0]!, 'zh'), '系统为 iOS 或 macOS，且国家或地区为中国')
    assert.equal(
      describeConditions(full.rules[0]!, 'en'),
      'system is iOS or macOS and country or region is China',
    )
  })
})

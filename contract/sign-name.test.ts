// What an SMS signature may look like.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { signNameProblem } from './sign-name.ts'

it('174 accepts Chinese and Latin names with digits and usual signs', () => {
  for (const name of [
    '某某科技',
    'Acme-1 & Co.',
    '中国·联通',
    'Café',
    'Cafe\u0301',
    'が社',
    'か\u3099社',
    '12306',
    '𠮷野家',
  ])
    assert.equal(signNameProblem(name), undefined, name)
})

it('174 rejects brackets of every kind', () => {
  for (const one of '【】[]()（）{}｛｝「」『』《》〈〉〔〕〖〗［］<>＜＞«»‹›≪≫﹤﹥˂˃ᐸᐳ')
    assert.match(signNameProblem(`某${one}某`)?.en ?? '', /brackets/, one)
})

it('174 rejects characters that hide, stack or cover others', () => {
  for (const one of '\u2800\u202e\u200b\u200d\u2066\ufeff\u3164\u2028\0\u034f\ufe0f')
    assert.match(signNameProblem(`某${one}某`)?.en ?? '', /invisible/, JSON.stringify(one))
  for (const one of [
    '\u0301',
    'a\u0336',
    'e\u0301\u0301',
    '\u20dd',
    '\u0489',
    '\u0e49',
    '\u302a',
    '\u1ab0',
    '\u3099',
  ])
    assert.match(signNameProblem(`某${one}某`)?.en ?? '', /combining/, JSON.stringify(one))
})

it('174 rejects names without a letter or digit', () => {
  for (const name of ['  ', '\u3000\u3000', '--', '··', '\u00a0\u00a0'])
    assert.match(signNameProblem(name)?.en ?? '', /letter or digit/, JSON.stringify(name))
})

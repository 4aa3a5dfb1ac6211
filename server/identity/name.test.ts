// Validation of names: rare Han characters, separators, and invalid names.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { readName } from './name.ts'

function accepted(text: string): string | undefined {
  const read = readName(text)
  return read.problems ? undefined : read.name
}

function problems(text: string): string[] {
  return (readName(text).problems ?? []).map((problem) => problem.zh)
}

const length = '必须是 2 至 50 个字符'
const characters = '只能包含汉字、英文字母、空格、连字符和间隔号'
const edges = '首尾必须是汉字或英文字母'

describe('valid names', () => {
  for (const name of [
    '张三',
    '欧阳娜娜',
    '𠮷田',
    '王㐂',
    '李𬱟',
    '〇二',
    '阿卜杜拉·买买提',
    'John Smith',
    'Anne-Marie',
    'Li',
  ]) {
    it(name, () => assert.equal(accepted(name), name))
  }

  it('accepts 50 characters outside the BMP and rejects 51', () => {
    assert.equal(accepted('𠮷'.repeat(50)), '𠮷'.repeat(50))
    assert.deepEqual(problems('𠮷'.repeat(51)), [length])
    assert.equal(accepted('𠮷𠮷'), '𠮷𠮷')
    assert.deepEqual(problems('𠮷'), [length])
    assert.equal(accepted('张'.repeat(50)), '张'.repeat(50))
    assert.deepEqual(problems('张'.repeat(51)), [length])
  })

  for (const dot of '•‧∙⋅⸱・･·') {
    it(`replaces U+${dot.codePointAt(0)?.toString(16).toUpperCase()} with the middle dot`, () => {
      assert.equal(accepted(`买买提${dot}阿里`), '买买提·阿里')
    })
  }

  it('replaces several or wide spaces with one', () => {
    assert.equal(accepted('John   Smith'), 'John Smith')
    assert.equal(accepted('张　三'), '张 三')
    assert.equal(accepted('John\u00A0Smith'), 'John Smith')
  })

  it('normalizes decomposed forms', () => {
    assert.equal(accepted('\uF9DC国'), '隆国')
  })

  it('is idempotent', () => {
    const word = fc.constantFrom('张', '𠮷', 'a', 'Z', '·', '・', '-', ' ', '\u3000', '〇', '\uF9DC')
    fc.assert(
      fc.property(fc.array(word, { maxLength: 60 }), (words) => {
        const name = accepted(words.join(''))
        if (name !== undefined) assert.equal(accepted(name), name)
      }),
    )
  })
})

describe('invalid names', () => {
  const cases: Readonly<Record<string, string[]>> = {
    张: [length],
    张三3: [characters],
    '张三!': [characters],
    '张\n三': [characters],
    '张\t三': [characters],
    '张\u200b三': [characters],
    '张\u202e三': [characters],
    张_三: [characters],
    'José García': [characters],
    かな: [characters],
    Иван: [characters],
    '·张三': [edges],
    '张三-': [edges],
    '--': [edges],
    '\uE000\uE001': [characters],
    "Robert'); DROP TABLE": [characters],
    '<b>张三</b>': [characters],
    '1': [length, characters],
  }
  for (const [text, wanted] of Object.entries(cases)) {
    it(JSON.stringify(text), () => assert.deepEqual(problems(text), wanted))
  }

  it('rejects 100 kB', () => {
    for (const piece of ['张', '𠮷', ' ', '·', '-', 'a ', 'é', '\u0301', '\uF9DC', '张·']) {
      assert.equal(accepted(`张${piece.repeat(100_000 / piece.length)}三`), undefined)
    }
  })

  it('accepts only 2 to 50 allowed characters', () => {
    const any = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 60 }),
      fc.string({ unit: 'grapheme', maxLength: 60 }),
      fc.stringMatching(/^[张三𠮷a-z· \-3_]{0,60}$/u),
    )
    fc.assert(
      fc.property(any, (text) => {
        const name = accepted(text)
        if (name === undefined) return
        assert.match(name, /^[\p{Script=Han}A-Za-z· -]{2,50}$/u)
      }),
      { numRuns: 2_000 },
    )
  })
})

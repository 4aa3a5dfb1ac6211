// Wording of the console: one word per meaning and one style of quotation marks, in both languages.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { chineseWords, type WordRule } from '../tools/lint/chinese-words.ts'

const files = globSync(['web/**/*text.ts', 'web/frame/boot.ts', 'contract/audit-actions.ts'])

const chineseRules: readonly WordRule[] = [
  { forbidden: /["「」『』]/, instead: '“”' },
  {
    forbidden: /[\u4e00-\u9fff][,;:!?]|[\u4e00-\u9fff]\.(?=$|[\u4e00-\u9fff])/,
    instead: 'Chinese punctuation',
  },
  ...chineseWords,
]

const englishRules: readonly WordRule[] = [
  { forbidden: /"|\w'\w|[，。；：！？、（）]/, instead: '“” and ’, English punctuation' },
  { forbidden: /\b(a|the|this|no|by) mail\b|\bmail address/i, instead: 'email' },
  { forbidden: /\bplease\b|\bat once\b/i, instead: 'nothing, or “immediately”' },
  { forbidden: /\b(colour|licence|organis)/i, instead: 'American spelling, as in the API' },
  { forbidden: /\bways? to pay\b|\bpaid with\b/i, instead: 'payment method' },
  { forbidden: /\ball states\b|^states?$/i, instead: 'status' },
  { forbidden: /\bundecided\b/i, instead: 'pending' },
  { forbidden: /… (bots|previews|visits by)\b/, instead: 'counted(), because there may be one' },
  { forbidden: /\banalytics\b/i, instead: 'statistics' },
  {
    forbidden: /\brefused?\b|\bdestination\b|\bintermediate page\b/i,
    instead: 'rejected, target, interstitial page',
  },
]

/** The texts of a source file, with `${…}` removed. */
function textsOf(file: string): string[] {
  const source = readFileSync(file, 'utf8').replaceAll(/^\s*(\/\/|\/?\*).*$/gm, '')
  const strings = source.matchAll(
    /(?<![\w/])'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`|"((?:[^"\\\n]|\\.)*)"/g,
  )
  return [...strings]
    .map(([, single, template, double]) => single ?? template ?? double ?? '')
    .map((text) => text.replaceAll(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, '…'))
    .filter((text) => !text.includes('.ts') && !/^[a-z_.]+$/.test(text))
}

test('texts of the console follow the rules of wording', () => {
  const problems = files.flatMap((file) =>
    textsOf(file).flatMap((text) => {
      // English texts quote a few Chinese words, and Chinese ones a few names.
      const chinese = text.match(/[\u4e00-\u9fff]/g)?.length ?? 0
      const english = text.match(/[a-z]{2,}/gi)?.length ?? 0
      const rules = chinese > english ? chineseRules : english > chinese ? englishRules : []
      return rules
        .filter(({ forbidden }) => forbidden.test(text))
        .map(({ instead }) => `${file}: ${text} → ${instead}`)
    }),
  )
  assert.ok(files.length > 25)
  assert.deepEqual(problems, [])
})

/** Words that documents and users know the console by. */
const settledWording = [
  ...[
    'Calls per day',
    'Full API reference',
    'Interstitial page',
    'Rejected',
    'Target',
    'View as this account',
  ],
  ...['Never expires', 'Both take effect immediately', 'Ethnicity', 'Submitted, ID', 'Idempotency'],
  ...['are simulated', 'no SMS is sent and no provider is called', 'are never stored, only masked copies'],
  ...['Each check is billed at the normal price', 'Takes effect on the next visit'],
  ...['请求详情', '处理过程', '幂等键', '已携带', '额度不足', '去购买', '暂无额度', '已提交网关', '通道状态'],
]

test('settled wording stays', () => {
  const texts = [...files, 'web/sms/review-state.tsx'].map((file) => readFileSync(file, 'utf8')).join('\n')
  assert.deepEqual(
    settledWording.filter((words) => !texts.includes(words)),
    [],
  )
})

// Rules and states as properties: what matches, and that the list finds the states that a link shows.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { type RuleCondition, ruleConditions } from '../../../contract/link-rules.ts'
import { countryNames, provinces } from '../../../contract/places.ts'
import { linkStates } from '../../../contract/shortlink.ts'
import { freshDatabase, onEachEngine } from '../../../test/support/engines.ts'
import type { InvalidParameter } from '../../http/parameters.ts'
import { findRecordPage } from '../listing/records.ts'
import { stateOf } from './record.ts'
import { matchRules, readRuleInput } from './rules.ts'

const values: Readonly<Record<RuleCondition, readonly string[]>> = {
  os: ruleConditions.os.values,
  device: ruleConditions.device.values,
  app: ruleConditions.app.values,
  country: ['CN', 'US', 'DE'],
  province: ['GD', 'HK', 'BJ'],
  language: ['zh', 'en'],
}
const names = Object.keys(values) as RuleCondition[]

it('the first rule whose conditions all match decides', () => {
  const condition = fc.record(
    Object.fromEntries(names.map((name) => [name, fc.subarray([...values[name]], { minLength: 1 })])),
    { requiredKeys: [] },
  )
  const visitor = fc.record(
    Object.fromEntries(names.map((name) => [name, fc.constantFrom('', ...values[name])])),
  )
  fc.assert(
    fc.property(fc.array(condition, { maxLength: 10 }), visitor, (conditions, visit) => {
      const sent = conditions
        .filter((when) => Object.keys(when).length > 0)
        .map((when, index) => ({ when, target_url: `https://example.com/${index}` }))
      const problems: never[] = []
      const rules = readRuleInput(sent, (url) => ({ location: url }), problems)
      assert.deepEqual(problems, [])
      const matches = (name: string, wanted: readonly string[]) => {
        const { country = '', province = '' } = visit
        if (name === 'province') return country === 'CN' && wanted.includes(province)
        if (name === 'country')
          return wanted.includes(country) || (province === 'HK' && wanted.includes('HK'))
        return wanted.includes(visit[name]!)
      }
      const expected = sent.find(({ when }) =>
        Object.entries(when).every(([name, wanted]) => matches(name, wanted!)),
      )
      const { os = '', device = '', app = '', language = '', country = '', province = '' } = visit
      const place = () => ({ country, province })
      assert.equal(matchRules(rules, { os, device, app, language, place }), expected?.target_url)
    }),
    { numRuns: 300 },
  )
})

it('reads any input without an exception, and only valid rules without a problem', () => {
  fc.assert(
    fc.property(fc.array(fc.anything(), { maxLength: 12 }), (input) => {
      const problems: { name: string }[] = []
      const rules = readRuleInput(input, (url) => ({ location: url }), problems as never)
      assert.ok(rules.length === input.length || problems.length > 0)
      for (const { name } of problems) assert.match(name, /^rules(\[\d+\]|$)/)
    }),
    { numRuns: 300 },
  )
})

it('countries and provinces must exist, and a rule can have all countries', () => {
  const problemsOf = (when: object) => {
    const problems: InvalidParameter[] = []
    readRuleInput([{ when, target_url: 'https://example.com/' }], (url) => ({ location: url }), problems)
    return problems.map(({ name }) => name)
  }
  assert.deepEqual(
    problemsOf({ country: [...countryNames('en').keys()], province: Object.keys(provinces) }),
    [],
  )
  assert.deepEqual(problemsOf({ country: 'uk' }), ['rules[0].when.country'])
  assert.deepEqual(problemsOf({ country: 'GB', province: ['gd', 'QQ'] }), ['rules[0].when.province'])
})

it('English problems have no Chinese signs', () => {
  const problems: InvalidParameter[] = []
  const input = [1, {}, { when: { os: 'x', country: 'x', province: 'x', language: 'x', moon: [], app: [] } }]
  readRuleInput(input, (url) => ({ location: url }), problems)
  assert.equal(problems.length, 10)
  for (const { text } of problems) assert.match(text.en, /^[\x20-\x7e–]+$/)
})

onEachEngine('states', (engine) => {
  it('list finds a link under the state that the link shows, and under no other', async () => {
    await using fresh = await freshDatabase(engine)
    const now = Date.now()
    const rows: {
      id: number
      banned: number
      paused: number
      expires_at: number | null
      max_clicks: number | null
      used_clicks: number | null
    }[] = []
    await fresh.db.write(async (tx) => {
      for (const banned of [0, 1, 2])
        for (const paused of [0, 1])
          for (const expires_at of [null, now - 60_000, now + 3_600_000])
            for (const [max_clicks, used_clicks] of [
              [null, null],
              [3, 2],
              [3, 3],
              [3, null],
            ] as const) {
              const id = await tx.insert(
                `INSERT INTO link (account_id, code, title, target_url, redirect_url_a, redirect_type, location_a, location_b,
                   host_a, host_b, created_at, updated_at, banned, paused, expires_at, max_clicks)
                 VALUES (7, 'x', 't', 'u', '', 'direct', 'u', 'u', '', '', 1, 1, ?, ?, ?, ?)`,
                [banned, paused, expires_at, max_clicks],
              )
              if (used_clicks !== null)
                await tx.run('INSERT INTO link_usage (link_id, used) VALUES (?, ?)', [id, used_clicks])
              rows.push({ id, banned, paused, expires_at, max_clicks, used_clicks })
            }
    })
    for (const state of linkStates) {
      const filter = { tag: undefined, state, text: undefined }
      const found: number[] = []
      let before = Number.MAX_SAFE_INTEGER
      for (;;) {
        const page = await findRecordPage(fresh.db, 7, filter, { before, limit: 5 })
        found.push(...page.links.map(({ id }) => id))
        if (page.next === undefined) break
        before = page.next
      }
      const expected = rows.filter((row) => stateOf(row, now) === state).map(({ id }) => id)
      assert.deepEqual(found, expected.reverse(), state)
    }
  })

  it('list finds every match, however few links a page may search', async () => {
    await using fresh = await freshDatabase(engine)
    const ids: number[] = []
    await fresh.db.write(async (tx) => {
      for (let i = 0; i < 40; i += 1)
        ids.push(
          await tx.insert(
            `INSERT INTO link (account_id, code, title, target_url, redirect_url_a, redirect_type, location_a, location_b,
               host_a, host_b, created_at, updated_at)
             VALUES (7, 'x', ?, 'u', '', 'direct', 'u', 'u', '', '', 1, 1)`,
            [i % 13 === 2 ? 'A Rare Éclair' : 't'],
          ),
        )
    })
    const expected = ids.filter((_id, i) => i % 13 === 2).reverse()
    const filter = { tag: undefined, state: undefined, text: 'rARE Écl' }
    for (const maxRead of [1, 7, 40, 1_000]) {
      const found: number[] = []
      let pages = 0
      for (let before: number | undefined = Number.MAX_SAFE_INTEGER; before !== undefined; pages += 1) {
        const page = await findRecordPage(fresh.db, 7, filter, { before, limit: 2, maxRead })
        found.push(...page.links.map(({ id }) => id))
        before = page.next
      }
      assert.deepEqual(found, expected, `${maxRead}`)
      assert.ok(pages >= ids.length / maxRead, `${pages} pages of at most ${maxRead} links`)
    }
  })
})

// Failover between identity gateways, and the texts of failures.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readConfig } from '../config.ts'
import type { Outcome } from '../upstream/outcome.ts'
import { guardGateway } from '../upstream/gateways.ts'
import { createIdentityGateways } from './gateways.ts'
import { verifyInOrder } from './verification.ts'
import type { VerificationResult, IdentityGateway } from './port.ts'

const limits = { timeoutMs: 200, maxConcurrent: 64, maxQueued: 512 }
const person = { name: '买买提·阿里', number: '11010519491231002X' }
const match: Outcome<VerificationResult> = { kind: 'accepted', value: { verdict: 'match', details: {} } }

function gateway(
  name: string,
  answer: Outcome<VerificationResult> | (() => Promise<Outcome<VerificationResult>>),
): IdentityGateway {
  return { name, verify: typeof answer === 'function' ? answer : async () => answer }
}

async function verify(...gateways: IdentityGateway[]) {
  const outcomes: string[] = []
  const verified = await verifyInOrder(
    gateways.map((one) => guardGateway(one, limits)),
    person,
    { withinMs: 60_000, onOutcome: (name, outcome) => void outcomes.push(`${name} ${outcome.kind}`) },
  )
  return { verified, outcomes }
}

describe('after a failure', () => {
  const failures: Readonly<
    Record<string, Outcome<VerificationResult> | (() => Promise<Outcome<VerificationResult>>)>
  > = {
    'not sent': { kind: 'not_sent', reason: 'ECONNREFUSED' },
    ambiguous: { kind: 'ambiguous', reason: 'timeout' },
    'throttled as a customer': { kind: 'throttled', concerns: 'us', reason: 'Throttling' },
    unlisted: { kind: 'refused', code: 'unlisted', reason: 'unlisted:9' },
    exception: () => Promise.reject(new Error(`${person.name} ${person.number}`)),
    'thrown synchronously': () => {
      throw new TypeError(`${person.name} ${person.number}`)
    },
    'no answer ever': () => new Promise(() => undefined),
  }
  for (const [name, failure] of Object.entries(failures)) {
    it(`(${name}) tries the next gateway`, async () => {
      const { verified, outcomes } = await verify(gateway('first', failure), gateway('second', match))
      assert.deepEqual([verified.verdict, verified.gateway, verified.attempts], ['match', 'second', 2])
      assert.equal(outcomes.length, 2)
    })

    it(`(${name}) of the last gateway fails without personal data`, async () => {
      const { verified } = await verify(gateway('only', failure))
      assert.equal(verified.verdict, 'failed')
      assert.ok(!JSON.stringify(verified).includes(person.number))
      assert.ok(!JSON.stringify(verified).includes(person.name))
    })
  }
})

describe('does not try the next gateway', () => {
  const ends: readonly [string, Outcome<VerificationResult>, string][] = [
    ['a match', match, 'match'],
    ['a mismatch', { kind: 'accepted', value: { verdict: 'mismatch', details: {} } }, 'mismatch'],
    ['no record', { kind: 'accepted', value: { verdict: 'no_record', details: {} } }, 'no_record'],
    ['a refusal of this person', { kind: 'refused', code: 'person', reason: 'x' }, 'failed'],
    ['too many tries for this person', { kind: 'throttled', concerns: 'recipient', reason: 'x' }, 'failed'],
  ]
  for (const [name, outcome, verdict] of ends) {
    it(`after ${name}`, async () => {
      const { verified, outcomes } = await verify(gateway('first', outcome), gateway('second', match))
      assert.deepEqual([verified.verdict, verified.gateway], [verdict, 'first'])
      assert.equal(outcomes.length, 1)
    })
  }

  it('after the timeout of the whole call', async () => {
    const verified = await verifyInOrder(
      [gateway('first', { kind: 'ambiguous', reason: 'timeout' }), gateway('second', match)].map((one) =>
        guardGateway(one, limits),
      ),
      person,
      { withinMs: 0, onOutcome: () => undefined },
    )
    assert.deepEqual([verified.verdict, verified.gateway], ['failed', 'first'])
  })
})

it('fails without any gateway', async () => {
  const { verified } = await verify()
  assert.deepEqual(verified, {
    gateway: undefined,
    attempts: 0,
    verdict: 'failed',
    reason: 'no_gateway',
    text: { zh: '未配置核验网关', en: 'no gateway is configured' },
  })
})

describe('settings', () => {
  const market = { IDENTITY_MARKET_URL: 'http://127.0.0.1:1/x', IDENTITY_MARKET_APPCODE: 'code' }
  const shape = {
    method: 'GET',
    fieldsIn: 'query',
    nameField: 'xm',
    numberField: 'sfz',
    verdictAt: 'r',
    verdicts: { Y: 'match', N: 'mismatch' },
  }
  const read = (environment: Record<string, string>) => readConfig({ ...market, ...environment })
  const names = (environment: Record<string, string>) =>
    createIdentityGateways(read(environment)).map((one) => one.name)

  it('the sandbox is the default', () => assert.deepEqual(names({}), ['sandbox']))

  it('keeps the order of the list', () => {
    const all = {
      IDENTITY_GATEWAYS: 'tencent, market ,aliyun',
      IDENTITY_MARKET_PRESET: 'idcert',
      TENCENT_SECRET_ID: 'i',
      TENCENT_SECRET_KEY: 'k',
      ALIYUN_ACCESS_KEY_ID: 'i',
      ALIYUN_ACCESS_KEY_SECRET: 'k',
    }
    assert.deepEqual(names(all), ['tencent', 'market', 'aliyun'])
  })

  it('reads a custom shape', () => {
    const custom = { IDENTITY_GATEWAYS: 'market', IDENTITY_MARKET_PRESET: 'custom' }
    const config = read({ ...custom, IDENTITY_MARKET_SHAPE: JSON.stringify(shape) })
    assert.deepEqual(config.IDENTITY_MARKET_SHAPE?.verdicts, { Y: 'match', N: 'mismatch' })
    assert.deepEqual(config.IDENTITY_MARKET_SHAPE?.facts.sex, ['sex', 'gender'])
    assert.throws(() => read(custom), /IDENTITY_MARKET_SHAPE/)
  })

  for (const [name, text, wrong] of [
    ['no JSON', '{', /JSON/],
    ['a list', '[]', /JSON/],
    ['an unknown verdict', JSON.stringify({ ...shape, verdicts: { Y: 'yes' } }), /verdicts/],
    ['no match in it', JSON.stringify({ ...shape, verdicts: { N: 'mismatch' } }), /verdicts/],
    ['a field too many', JSON.stringify({ ...shape, verdict: 'x' }), /verdict /],
    ['nothing in it', '{}', /method、fieldsIn、nameField、numberField、verdictAt、verdicts/],
    ['an unknown fact', JSON.stringify({ ...shape, facts: { phone: ['p'] } }), /facts/],
  ] as const) {
    it(`rejects a shape with ${name}`, () => {
      assert.throws(() => read({ IDENTITY_MARKET_SHAPE: text }), wrong)
    })
  }
})

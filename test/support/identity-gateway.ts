// Shared tests of the identity gateways: a loopback server with all kinds of faults.
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import type { VerificationResult, IdentityGateway } from '../../server/identity/port.ts'
import type { Outcome } from '../../server/upstream/outcome.ts'
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
} from './fake-upstream.ts'

export const person = { name: '买买提·阿里', number: '11010519491231002X' }

export interface IdentityGatewayTest {
  readonly fake: FakeUpstream
  verify(gateway: IdentityGateway, behaviour?: Behaviour): Promise<Outcome<VerificationResult>>
  /** Tests that no fault puts personal data into a reason or becomes a verdict. */
  testFaults(open: (timeoutMs: number) => IdentityGateway, matching: unknown): void
}

/** Call it once per test file: the fake upstream runs until the tests of the file end. */
export function createIdentityGatewayTest(): IdentityGatewayTest {
  let fake: FakeUpstream
  before(async () => {
    fake = await startFakeUpstream()
  })
  after(() => fake.close())

  function verify(gateway: IdentityGateway, behaviour?: Behaviour): Promise<Outcome<VerificationResult>> {
    if (behaviour) fake.handle(() => behaviour)
    return gateway.verify(person, new AbortController().signal)
  }

  function testFaults(open: (timeoutMs: number) => IdentityGateway, matching: unknown): void {
    const faults: Readonly<Record<string, [Behaviour, string]>> = {
      hang: [hang(), 'ambiguous'],
      'cut before the headers': [cutBeforeHeaders(), 'ambiguous'],
      'cut in the body': [cutInBody(JSON.stringify(matching)), 'ambiguous'],
      reset: [reset(), 'ambiguous'],
      'HTML 502': [html502(), 'ambiguous'],
      'HTML 200': [text(200, '<html>一致</html>', { 'content-type': 'text/html' }), 'ambiguous'],
      'a huge page': [hugePage(), 'ambiguous'],
      'a match followed by 400 kB': [text(200, JSON.stringify(matching) + ' '.repeat(400_000)), 'ambiguous'],
      'an empty body': [text(200, ''), 'ambiguous'],
      null: [text(200, 'null'), 'ambiguous'],
      'a list': [json(200, [matching]), 'ambiguous'],
      'an empty object': [json(200, {}), 'refused'],
      'a JSON string': [json(200, '一致'), 'ambiguous'],
    }
    for (const [name, [behaviour, kind]] of Object.entries(faults)) {
      it(`${name} is ${kind}`, async () => {
        const outcome = await verify(open(name === 'hang' ? 1_000 : 5_000), behaviour)
        assert.equal(outcome.kind, kind)
        assertNoPerson(outcome)
      })
    }

    it('does not accept a match with status 500', async () => {
      assert.notEqual((await verify(open(5_000), json(500, matching))).kind, 'accepted')
    })

    it('does not follow a redirect', async () => {
      const requestsBefore = fake.requests.length
      const outcome = await verify(open(5_000), text(302, '', { location: fake.url }))
      assert.notEqual(outcome.kind, 'accepted')
      assert.equal(fake.requests.length, requestsBefore + 1)
    })

    it('returns not_sent when the connection is refused', async () => {
      const stopped = await startFakeUpstream()
      await stopped.close()
      const saved = fake
      fake = stopped
      try {
        assert.equal((await open(5_000).verify(person, new AbortController().signal)).kind, 'not_sent')
      } finally {
        fake = saved
      }
    })

    it('ignores a response that quotes the request', async () => {
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
          const outcome = await verify(open(5_000), json(200, shape))
          assert.notEqual(outcome.kind, 'accepted')
          assertNoPerson(outcome)
        }
        assertNoPerson(
          await verify(
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

  return {
    get fake() {
      return fake
    },
    verify,
    testFaults,
  }
}

export function verdict(outcome: Outcome<VerificationResult>): string {
  return outcome.kind === 'accepted' ? outcome.value.verdict : outcome.kind
}

function assertNoPerson(outcome: Outcome<VerificationResult>): void {
  const serialized = JSON.stringify(outcome)
  for (const secret of [person.name, person.number, '买买提', '19491231']) {
    assert.ok(!serialized.includes(secret))
  }
}

/** Values that look like a verdict. */
export const lookAlikes: readonly unknown[] = [
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

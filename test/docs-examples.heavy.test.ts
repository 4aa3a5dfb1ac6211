// Calls every documented example on a real service and compares status, schema and response.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Compile } from 'typebox/schema'
import { documentedEndpoints } from '../contract/reference/interface.ts'
import { checkLedger } from '../server/credits/ledger/check-store.ts'
import { operationId } from '../server/docs/operations.ts'
import {
  allExamples,
  callExample,
  type DocumentedExample,
  exampleCallers,
  requestFormatsOf,
  withoutVariable,
} from './support/documented-call.ts'
import { onEachEngine } from './support/engines.ts'
import { get, startService } from './support/service.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- parsed JSON
type Tree = any

onEachEngine('documented examples', (engine) => {
  for (const format of ['json', 'form', 'query'] as const) {
    test(`returns the documented responses, sent as ${format}`, async () => {
      await using service = await startService(engine)
      const callers = await exampleCallers(service)
      const { schemas } = (await get(`${service.url}/openapi.json`)).body.components
      const problems: string[] = []
      for (const documented of allExamples().filter(({ endpoint }) =>
        requestFormatsOf(endpoint).includes(format),
      )) {
        const { example } = documented
        const reply = await callExample(service, callers, documented, format)
        problems.push(...schemaProblems(schemas, documented, reply.body))
        try {
          assert.equal(reply.status, example.status)
          assert.deepEqual(
            withoutVariable(reply.body, example.varies),
            withoutVariable(example.response, example.varies),
          )
        } catch {
          problems.push(`${labelOf(documented)}: ${reply.status} ${JSON.stringify(reply.body)}`)
        }
      }
      assert.deepEqual(problems, [])
      assert.deepEqual((await checkLedger(service.installation.db, 10_000)).problems, [])
    })
  }
})

function labelOf({ endpoint, name, example }: DocumentedExample): string {
  return `${endpoint.name} ${name}: ${example.title.en}`
}

/** Checks the actual and the documented response against the documented schema. */
function schemaProblems(
  schemas: Record<string, object>,
  documented: DocumentedExample,
  actual: unknown,
): string[] {
  const { endpoint, name, example } = documented
  const error = endpoint.shape === 'shortlink' ? 'ShortlinkError' : 'CodeError'
  const schemaName = example.status === 200 ? `${operationId(endpoint, name)}Answer` : error
  const validator = Compile(schemas[schemaName]!)
  return [['the service', actual] as const, ['the document', example.response] as const].flatMap(
    ([origin, body]) =>
      validator.Check(body)
        ? []
        : [
            `${labelOf(documented)}: ${origin} does not match ${schemaName}: ${JSON.stringify(validator.Errors(body)[1][0])}`,
          ],
  )
}

test('every example of the document is called here', async () => {
  await using service = await startService('sqlite')
  const { paths } = (await get(`${service.url}/openapi.json`)).body
  const called = documentedEndpoints.flatMap(({ endpoint, reference }) =>
    Object.keys(endpoint.operations).flatMap((name) =>
      reference[name]!.examples.map((_example, index) => `${endpoint.path} ${name}_${index + 1}`),
    ),
  )
  assert.equal(called.length, allExamples().length)
  const shownIn = (part: 'requestBody' | 'responses') =>
    Object.entries<Tree>(paths).flatMap(([path, { post: operation }]) =>
      namedExamples(operation[part]).map((name) => `${path} ${name}`),
    )
  assert.deepEqual(shownIn('responses').toSorted(), called.toSorted())
  for (const name of shownIn('requestBody')) assert.ok(called.includes(name), name)
  for (const [path, item] of Object.entries<Tree>(paths)) {
    if (!item.get) continue
    assert.deepEqual(namedExamples(item.get.responses), namedExamples(item.post.responses), path)
  }
})

test('every error of an operation has an example', () => {
  const without: string[] = []
  for (const { endpoint, reference } of documentedEndpoints) {
    for (const name of Object.keys(endpoint.operations)) {
      const { errors, examples } = reference[name]!
      for (const { code, status } of errors) {
        const isShown = examples.some(
          (documented) =>
            documented.status === status &&
            ((documented.response as { code?: number }).code ?? code) === code,
        )
        if (!isShown) without.push(`${endpoint.name} ${name} ${code} ${status}`)
      }
    }
  }
  // The first requires a batch that has ended (server/sms/batches/batches.heavy.test.ts), the other a service without gateways: the
  // next test.
  assert.deepEqual(without, ['sms cancel_batch 1005 409', 'domain-check check 1005 502'])
})

test('the error without an example is returned as documented', async () => {
  await using service = await startService('sqlite', { DOMAIN_GATEWAYS: 'off' })
  const callers = await exampleCallers(service)
  const documented = allExamples().find(({ endpoint }) => endpoint.name === 'domain-check')!
  const { status, body } = await callExample(service, callers, documented)
  assert.deepEqual([status, body.code], [502, 1005])
})

function namedExamples(node: Tree): string[] {
  if (typeof node !== 'object' || node === null) return []
  return Object.entries<Tree>(node).flatMap(([key, child]) =>
    key === 'examples' ? Object.keys(child) : namedExamples(child),
  )
}

test('every varying path exists in its example', () => {
  for (const { example, name } of allExamples()) {
    for (const path of example.varies ?? []) {
      const found = path
        .split('.')
        .reduce<unknown>((value, key) => (value as Record<string, unknown>)?.[key], example.response)
      assert.notEqual(found, undefined, `${name}: ${path}`)
    }
  }
})

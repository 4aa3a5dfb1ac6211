// Every documented example, called on the real service: status, schema and the answer itself are as documented.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Compile } from 'typebox/schema'
import { checkLedger } from '../server/credits/check-store.ts'
import { operationId } from '../server/docs/openapi.ts'
import { allExamples, callExample, exampleCallers, withoutVariable } from './support/documented-call.ts'
import { onEachEngine } from './support/engines.ts'
import { get, startService } from './support/service.ts'

onEachEngine('documented examples', (engine) => {
  test('each answer is the documented one', async () => {
    await using service = await startService(engine)
    const callers = await exampleCallers(service)
    const { schemas } = (await get(`${service.url}/openapi.json`)).body.components
    const wrong: string[] = []
    for (const one of allExamples()) {
      const { endpoint, name, example } = one
      const label = `${endpoint.name} ${name}: ${example.title.en}`
      const reply = await callExample(service, callers, one)
      const schemaName =
        example.status === 200
          ? `${operationId(endpoint, name)}Answer`
          : endpoint.shape === 'shortlink'
            ? 'ShortlinkError'
            : 'CodeError'
      const validator = Compile(schemas[schemaName])
      for (const [whose, body] of [
        ['the service', reply.body],
        ['the document', example.answer],
      ] as const) {
        if (!validator.Check(body)) {
          wrong.push(
            `${label}: ${whose} answers outside ${schemaName}: ${JSON.stringify(validator.Errors(body)[1][0])}`,
          )
        }
      }
      try {
        assert.equal(reply.status, example.status)
        assert.deepEqual(
          withoutVariable(reply.body, example.varies),
          withoutVariable(example.answer, example.varies),
        )
      } catch {
        wrong.push(`${label}: ${reply.status} ${JSON.stringify(reply.body)}`)
      }
    }
    assert.deepEqual(wrong, [])
    assert.deepEqual((await checkLedger(service.installation.db, 10_000)).problems, [])
  })
})

test('what varies is really there, so that nothing is compared with nothing', () => {
  for (const { example, name } of allExamples()) {
    for (const path of example.varies ?? []) {
      const found = path
        .split('.')
        .reduce<unknown>((place, key) => (place as Record<string, unknown>)?.[key], example.answer)
      assert.notEqual(found, undefined, `${name}: ${path}`)
    }
  }
})

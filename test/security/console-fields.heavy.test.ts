// Long texts in any text field of any console route: the patterns of schemas and handlers stay quick.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { operatorApi } from '../../contract/console/responses/operator-api.ts'
import { sessionRoutes } from '../../contract/console/session.ts'
import { accountApi, exampleParts } from '../support/console-responses.ts'
import { operator, signedIn } from '../support/console.ts'
import { minCpuMs, slowTexts } from '../support/slow-texts.ts'
import { startService } from '../support/service.ts'

interface FieldSchema {
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly FieldSchema[]
  readonly minimum?: number
  readonly properties?: Readonly<Record<string, FieldSchema>>
}

/** A value that the schema probably accepts, so that the handler reads the field too. */
function exampleOf(schema: FieldSchema): unknown {
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return schema.enum[0]
  if (schema.anyOf) return exampleOf(schema.anyOf[0]!)
  if (schema.type === 'integer' || schema.type === 'number') return schema.minimum ?? 1
  if (schema.type === 'boolean') return true
  if (schema.type === 'array') return []
  if (schema.type === 'object') return {}
  return 'x1'
}

const isText = (schema: FieldSchema): boolean =>
  schema.type === 'string' || (schema.anyOf?.some((one) => isText(one)) ?? false)

it(
  '25 100 kB in any text field of any console route take less than 50 ms',
  { timeout: 600_000 },
  async () => {
    await using service = await startService('sqlite', { RATE_LIMIT: 'off', SIGN_UP: 'on' })
    const account = await service.account({ sms: 100 })
    const keepsSession: readonly unknown[] = [
      sessionRoutes.signOut,
      sessionRoutes.signIn,
      sessionRoutes.signUp,
    ]
    let fields = 0
    for (const [operations, browser] of [
      [accountApi, await signedIn(service, account)],
      [operatorApi, await operator(service)],
    ] as const) {
      for (const { name, route } of operations) {
        if (keepsSession.includes(route)) continue
        const schemas = (route.input as FieldSchema).properties ?? {}
        const valid = Object.fromEntries(
          Object.entries(schemas).map(([key, schema]) => [key, exampleOf(schema)]),
        )
        for (const key of Object.keys(schemas).filter((one) => isText(schemas[one]!))) {
          fields += 1
          for (const text of slowTexts) {
            // The query of a GET has at most 16 kB with all headers.
            const value = route.method === 'GET' ? text.slice(0, 1_200) : text
            const ms = await minCpuMs(
              () => browser.text(route, { parts: exampleParts, sent: { ...valid, [key]: value } }),
              50,
            )
            assert.ok(ms < 50, `${name} ${key} ${text.slice(0, 12)}… ${ms} ms`)
          }
        }
      }
    }
    assert.ok(fields > 150, String(fields))
  },
)

// Calls documented examples as the sample account, as an account without credits, or with a wrong key.
import { systemActor } from '../../server/audit/audit.ts'
import type { Endpoint, Operation } from '../../contract/endpoint.ts'
import type { Example } from '../../contract/reference.ts'
import { documentedEndpoints } from '../../contract/reference/interface.ts'
import { changeAccount } from '../../server/accounts/accounts.ts'
import { findById } from '../../server/accounts/store.ts'
import { createFirstAccounts } from '../../server/runtime/first-start.ts'
import { createTemplate } from '../../server/sms/templates.ts'
import type { Reply, TestService } from './service.ts'

export interface Credentials {
  readonly username: string
  readonly key: string
}

export type Callers = Readonly<Record<NonNullable<Example['caller']>, Credentials>>

/** The sample account of the first start, accounts without credits and without SMS, and a wrong key. */
export async function exampleCallers(service: TestService): Promise<Callers> {
  const created = await createFirstAccounts(service.installation, service.app.services.config)
  if (!created?.sample) throw new Error('the database was not empty')
  const { username, apiKey } = created.sample
  const withoutCredits = await service.account()
  await createTemplate(service.installation.db, systemActor, {
    code: 'CODE_SHARED',
    name: '验证码',
    content: '验证码${code}',
    status: '审核通过',
    accountId: withoutCredits.id,
  })
  const withoutSms = await service.account()
  const { db } = service.installation
  await changeAccount(db, systemActor, (await findById(db, withoutSms.id))!, { smsEnabled: false })
  return {
    sample: { username, key: apiKey },
    'without credits': { username: withoutCredits.username, key: withoutCredits.key },
    'sms off': { username: withoutSms.username, key: withoutSms.key },
    'wrong key': { username, key: `${apiKey.slice(0, -1)}${apiKey.endsWith('A') ? 'B' : 'A'}` },
  }
}

export interface DocumentedExample {
  readonly endpoint: Endpoint
  readonly name: string
  readonly operation: Operation
  readonly example: Example
}

export function allExamples(): DocumentedExample[] {
  return documentedEndpoints.flatMap(({ endpoint, reference }) =>
    Object.entries(endpoint.operations).flatMap(([name, operation]) =>
      reference[name]!.examples.map((example) => ({ endpoint, name, operation, example })),
    ),
  )
}

function credentialsOf({ endpoint }: DocumentedExample, { username, key }: Credentials) {
  return { ...('username' in endpoint.common && { username }), api_key: key }
}

function parametersOf({ operation, example }: DocumentedExample): Record<string, unknown> {
  const [action] = operation.actions
  return { ...(action === undefined ? {} : { action }), ...example.values }
}

export function valuesOf(documented: DocumentedExample, caller: Credentials): Record<string, unknown> {
  return { ...credentialsOf(documented, caller), ...parametersOf(documented) }
}

/** Where the parameters of a call are sent. */
export type RequestFormat = 'json' | 'form' | 'query'

/** The request formats that the endpoint supports. */
export function requestFormatsOf({ methods, readsForms }: Endpoint): RequestFormat[] {
  return [
    'json',
    ...(readsForms ? ['form' as const] : []),
    ...(methods.includes('GET') ? ['query' as const] : []),
  ]
}

/** Where the credentials of a call are sent: with the other parameters, or apart from them. */
export type CredentialCarrier = 'parameters' | 'header' | 'query'

export async function callExample(
  service: Pick<TestService, 'url'>,
  callers: Callers,
  documented: DocumentedExample,
  format: RequestFormat = 'json',
  carrier: CredentialCarrier = 'parameters',
): Promise<Reply> {
  const credentials = credentialsOf(documented, callers[documented.example.caller ?? 'sample'])
  const values = parametersOf(documented)
  const sent = carrier === 'parameters' ? { ...credentials, ...values } : values
  const query = new URLSearchParams([
    ...(format === 'query' ? asPairs(sent) : []),
    ...(carrier === 'query' ? asPairs(credentials) : []),
  ])
  const response = await fetch(`${service.url}${documented.endpoint.path}?${query.toString()}`, {
    method: format === 'query' ? 'GET' : 'POST',
    headers: {
      ...(format === 'json' ? { 'content-type': 'application/json' } : {}),
      ...(carrier === 'header' ? credentials : {}),
    },
    body: format === 'query' ? null : format === 'json' ? JSON.stringify(sent) : asPairs(sent),
  })
  return { status: response.status, headers: response.headers, body: await response.json() }
}

/** As documented: a list repeats its name, an object is `name[key]`. */
function asPairs(values: Record<string, unknown>): URLSearchParams {
  const pairs = new URLSearchParams()
  for (const [name, value] of Object.entries(values)) {
    if (Array.isArray(value)) for (const item of value) pairs.append(name, String(item))
    else if (typeof value === 'object' && value !== null) {
      for (const [key, item] of Object.entries(value)) pairs.append(`${name}[${key}]`, String(item))
    } else pairs.append(name, String(value))
  }
  return pairs
}

/** Replaces the varying values of a response by their types. */
export function withoutVariable(response: unknown, varies: readonly string[] = []): unknown {
  const copy: unknown = structuredClone(response)
  for (const path of varies) {
    const names = path.split('.')
    const last = names.pop()!
    let parent = copy as Record<string, unknown>
    for (const name of names) parent = (parent[name] ?? {}) as Record<string, unknown>
    parent[last] = `<${typeof parent[last]}>`
  }
  return copy
}

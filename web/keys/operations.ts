// Every operation of the public interface, for the code samples and the API reference.
import { domainCheck } from '../../contract/domain-check.ts'
import type { Endpoint, Operation } from '../../contract/endpoint.ts'
import { identity } from '../../contract/identity.ts'
import { shortlink } from '../../contract/shortlink.ts'
import { sms } from '../../contract/sms.ts'

export const endpoints: readonly Endpoint[] = [shortlink, sms, identity, domainCheck]

export interface NamedOperation {
  /** `sms.send` */
  readonly id: string
  readonly endpoint: Endpoint
  readonly operation: Operation
}

export const operations: readonly NamedOperation[] = endpoints.flatMap((endpoint) =>
  Object.entries(endpoint.operations).map(([name, operation]) => ({
    id: `${endpoint.name}.${name}`,
    endpoint,
    operation,
  })),
)

/** Optional parameters that the examples include. */
const exampleParameters: Readonly<Record<string, readonly string[]>> = {
  'sms.send': ['template_params'],
  'sms.send_batch': ['phone_numbers', 'template_params'],
  'sms.logs': ['start_date'],
  'shortlink.get': ['link_id'],
  'shortlink.stats': ['link_id'],
  'shortlink.pause': ['link_id'],
  'shortlink.resume': ['link_id'],
  'shortlink.delete': ['link_id'],
}

export interface SampleCaller {
  readonly username: string
  readonly key: string
}

/** The body of a complete example call. */
export function exampleBody(
  { id, endpoint, operation }: NamedOperation,
  caller: SampleCaller,
): Record<string, unknown> {
  const body: Record<string, unknown> = {}
  for (const name of Object.keys(endpoint.common)) {
    if (name === 'username') body[name] = caller.username
    else if (name === 'api_key') body[name] = caller.key
    else body[name] = operation.actions[0]
  }
  for (const [name, parameter] of Object.entries(operation.parameters)) {
    if (parameter.required || exampleParameters[id]?.includes(name)) body[name] = parameter.example
  }
  return body
}

interface SampleTemplate {
  readonly code: string
  readonly variables: readonly string[]
}

/** The operations whose example sends a template: the documented one belongs to the sample account. */
export function sendsTemplate(id: string): boolean {
  return id === 'sms.send' || id === 'sms.send_batch' || id === 'sms.sendCode'
}

/** The first template that the operation can send: one-time codes have the variable `code`, and `minutes` at most. */
export function templateFor<One extends SampleTemplate>(
  id: string,
  templates: readonly One[],
): One | undefined {
  if (id !== 'sms.sendCode') return templates[0]
  return templates.find(
    ({ variables }) =>
      variables.includes('code') && variables.every((name) => name === 'code' || name === 'minutes'),
  )
}

/** The parameters that send a template: every variable gets a value, except that the platform fills in one-time codes. */
export function templateValues(id: string, { code, variables }: SampleTemplate): Record<string, unknown> {
  if (id === 'sms.sendCode') return { template_code: code }
  return {
    template_code: code,
    template_params: Object.fromEntries(variables.map((name) => [name, '1234'])),
  }
}

/** The common parameters that a call made in the console did not need. */
export function consoleCredentials(
  endpoint: Endpoint,
  operation: string | null,
  username: string,
): Record<string, string> {
  const actions = operation === null ? undefined : endpoint.operations[operation]?.actions
  const values: Readonly<Record<string, string | undefined>> = {
    username,
    api_key: '<API_KEY>',
    action: actions?.[0],
  }
  return Object.fromEntries(
    Object.keys(endpoint.common).flatMap((name) => {
      const value = values[name]
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

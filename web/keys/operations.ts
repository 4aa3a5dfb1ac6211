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
  'sms.logs': ['start_date'],
  'shortlink.get': ['link_id'],
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

/** The parameters that send a template: every variable gets a value. */
export function templateValues(template: { readonly code: string; readonly variables: readonly string[] }) {
  return {
    template_code: template.code,
    template_params: Object.fromEntries(template.variables.map((name) => [name, '1234'])),
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

// Every operation of the public interface in one list, as the samples and the reference show them.
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

/** Optional ones without which the example would be refused or say little. */
const worthShowing: Readonly<Record<string, readonly string[]>> = {
  'sms.send': ['template_params'],
  'sms.logs': ['start_date'],
  'shortlink.get': ['link_id'],
}

export interface Caller {
  readonly username: string
  readonly key: string
}

/** The body of a call that runs as it stands, in the order a person would write it. */
export function exampleBody(
  { id, endpoint, operation }: NamedOperation,
  caller: Caller,
): Record<string, unknown> {
  const body: Record<string, unknown> = {}
  for (const name of Object.keys(endpoint.common)) {
    if (name === 'username') body[name] = caller.username
    else if (name === 'api_key') body[name] = caller.key
    else body[name] = operation.actions[0]
  }
  for (const [name, parameter] of Object.entries(operation.parameters)) {
    if (parameter.required || worthShowing[id]?.includes(name)) body[name] = parameter.example
  }
  return body
}

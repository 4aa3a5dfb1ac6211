// The operations of an endpoint with their references, their names in the documents, and the body of an example.
import type { Endpoint, Operation } from '../../contract/endpoint.ts'
import type { Example, OperationReference } from '../../contract/reference.ts'
import type { DocumentedEndpoint } from '../../contract/reference/interface.ts'
import type { Config } from '../config.ts'
import type { SchemaObject } from './schemas.ts'

export interface DocsContext {
  /** {base_url} */
  readonly publicUrl: string
  readonly version: string
  readonly config: Config
}

export interface DocumentedOperation {
  readonly id: string
  readonly name: string
  readonly operation: Operation
  readonly reference: OperationReference
}

/** `SmsSend`, `ShortlinkExecuteUpdate` … */
export function operationId(endpoint: Endpoint, name: string): string {
  return `${endpoint.name}_${name}`.replaceAll(/(?:^|[-_])(\w)/g, (_all, letter: string) =>
    letter.toUpperCase(),
  )
}

export function operationsOf({ endpoint, reference }: DocumentedEndpoint): DocumentedOperation[] {
  return Object.entries(endpoint.operations).map(([name, operation]) => ({
    id: operationId(endpoint, name),
    name,
    operation,
    // `EndpointReference` has an entry for every operation.
    reference: reference[name]!,
  }))
}

/** The body of an example with placeholders for the credentials. */
export function exampleBody(endpoint: Endpoint, operation: Operation, example: Example): SchemaObject {
  const credentials = Object.fromEntries(
    Object.entries(endpoint.common)
      .filter(([name]) => name !== 'action')
      .map(([name, parameter]) => [name, parameter.example]),
  )
  const [action] = operation.actions
  return { ...credentials, ...(action === undefined ? {} : { action }), ...example.values }
}

/** The HTTP status that this installation responds with. */
export function sentStatus(endpoint: Endpoint, status: number, config: Config): number {
  const isAlwaysOk = config.ERROR_HTTP_STATUS === 'ok' && endpoint.shape !== 'shortlink'
  return isAlwaysOk && status !== 429 ? 200 : status
}

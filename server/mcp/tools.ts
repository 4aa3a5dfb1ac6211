// The tools of the MCP endpoint: one for each operation of the public interface, generated from the contract.
import { documentedEndpoints } from '../../contract/reference/interface.ts'
import type { Endpoint } from '../../contract/endpoint.ts'
import { idempotencyKeySchema } from '../../contract/idempotency.ts'
import { operationsOf } from '../docs/operations.ts'
import { type SchemaObject, parametersSchema } from '../docs/schemas.ts'

export interface Tool {
  readonly name: string
  readonly endpoint: Endpoint
  /** Undefined if the endpoint has only one operation. */
  readonly action: string | undefined
  /** Costs credits, and therefore needs an idempotency key. */
  readonly paid: boolean
  /** As `tools/list` returns it. */
  readonly description: SchemaObject
}

export const idempotencyParameter = 'idempotency_key'

/** Assistants repeat calls. A required key makes the repetition free. */
const idempotencySchema = {
  ...idempotencyKeySchema,
  minLength: 1,
  description:
    'A value that is unique for this intended action, for example a UUID. Repeat the call with the same value to retry it: it is executed and charged once.',
}

export const tools: ReadonlyMap<string, Tool> = new Map(
  documentedEndpoints
    .flatMap((documented) =>
      operationsOf(documented).map(({ name, operation, reference }): Tool => {
        const { endpoint } = documented
        const toolName = `${endpoint.name}_${name}`.replaceAll('-', '_')
        const paid = reference.price !== undefined
        const isRead = operation.scope.endsWith(':read')
        const { properties, required } = parametersSchema(operation.parameters, ({ en }) => en)
        return {
          name: toolName,
          endpoint,
          action: operation.actions[0],
          paid,
          description: {
            name: toolName,
            title: operation.text.en,
            description: `${operation.text.en} (${operation.text.zh}). ${paid ? 'Costs credits of the account.' : 'Free.'}`,
            inputSchema: {
              type: 'object',
              properties: { ...properties, ...(paid && { [idempotencyParameter]: idempotencySchema }) },
              required: [...required, ...(paid ? [idempotencyParameter] : [])],
            },
            annotations: {
              title: operation.text.en,
              readOnlyHint: isRead,
              destructiveHint: name === 'delete' || name === 'cancel_batch',
              idempotentHint: paid || isRead,
              openWorldHint: paid,
            },
          },
        }
      }),
    )
    .map((tool) => [tool.name, tool]),
)

// The description of an endpoint of the public interface.
import type { Parameters } from './parameters.ts'
import type { Scope } from './scopes.ts'
import type { Text } from './text.ts'

/**
 * The responses of an endpoint: `envelope` is {code, message, data}, `identity` has {success, message, matched, extra} and
 * {code, message} for errors, `shortlink` is {success, data} and {success: false, message} for errors.
 */
export type Shape = 'envelope' | 'identity' | 'shortlink'

export interface Operation {
  /** All values of `action` that select the operation; empty if the endpoint has only one operation. */
  readonly actions: readonly string[]
  /** What an API key with limited scopes needs. */
  readonly scope: Scope
  readonly text: Text
  readonly parameters: Parameters
}

export interface Endpoint {
  readonly name: string
  readonly path: string
  readonly methods: readonly ('GET' | 'POST')[]
  readonly shape: Shape
  /** Whether form bodies are a source of parameters. */
  readonly readsForms: boolean
  /** Parameters of every operation: credentials, and the action if there are several operations. */
  readonly common: Parameters
  readonly operations: Readonly<Record<string, Operation>>
}

export const credentialParameters = {
  username: {
    type: 'string',
    required: true,
    text: { zh: '用户名', en: 'User name' },
    example: 'demo',
  },
  api_key: {
    type: 'string',
    required: true,
    text: { zh: 'API 密钥', en: 'API key' },
    example: '<API_KEY>',
  },
} as const satisfies Parameters

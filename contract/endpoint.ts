// How an endpoint of the public interface is described.
import type { Parameters } from './parameters.ts'
import type { Text } from './text.ts'

/**
 * Which answers an endpoint gives: `envelope` is {code, message, data}, `identity` has its two formats,
 * `shortlink` is {success, data} with {success: false, message} for errors.
 */
export type Shape = 'envelope' | 'identity' | 'shortlink'

export interface Operation {
  /** Every name the operation answers to; empty where the endpoint has only one operation. */
  readonly actions: readonly string[]
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
  /** What every operation needs: credentials, and the action where there are several. */
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

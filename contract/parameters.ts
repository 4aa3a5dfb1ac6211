// How one parameter of the public interface is described, and the type its value has after reading.
import type { Text } from './text.ts'

/**
 * `list` is a list of texts (`urls`), `map` an object of texts by name (`template_params`).
 * Numbers inside a map become their decimal text; items of a list must be text already.
 */
export type ParameterType = 'string' | 'integer' | 'boolean' | 'list' | 'map'

export interface Parameter {
  readonly type: ParameterType
  readonly required: boolean
  readonly text: Text
  readonly example?: unknown
}

export type Parameters = Readonly<Record<string, Parameter>>

interface ValueOf {
  string: string
  integer: number
  boolean: boolean
  list: readonly string[]
  map: ReadonlyMap<string, string>
}

/** The values read for a description: required ones are there, the others may be undefined. */
export type Values<P extends Parameters> = {
  readonly [K in keyof P]: P[K]['required'] extends true
    ? ValueOf[P[K]['type']]
    : ValueOf[P[K]['type']] | undefined
}

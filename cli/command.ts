// What a command of the command line is.
import type { OperatorActor } from '../server/audit/audit.ts'
import type { ParseArgsOptionsConfig } from 'node:util'
import type { Text } from '../contract/text.ts'
import type { Config } from '../server/config.ts'
import type { Installation } from '../server/runtime/installation.ts'

export type Flags = Readonly<Record<string, string | boolean | string[] | undefined>>

export interface Invocation {
  readonly config: Config
  readonly installation: Installation
  /** What stands after the command's name, without flags. */
  readonly words: readonly string[]
  readonly flags: Flags
}

export interface Output {
  /** What `--json` prints. */
  readonly json: unknown
  readonly text: string
  /** A command may do its work and still have bad news. */
  readonly failed?: boolean
}

export interface Command {
  readonly name: string
  readonly usage: string
  readonly text: Text
  /** How many words it takes after its name. */
  readonly least: number
  readonly most: number
  readonly flags: ParseArgsOptionsConfig
  /** It may run with another secret than the database was set up with. */
  readonly skipSecretCheck?: boolean
  readonly run: (invocation: Invocation) => Promise<Output>
}

/** The actor of every change on the command line. */
export const cliActor: OperatorActor = { kind: 'operator', name: 'cli' }

/** The operator's slip, said in one line. */
export class Mistake extends Error {}

export function textFlag(flags: Flags, name: string): string | undefined {
  const value = flags[name]
  return typeof value === 'string' ? value : undefined
}

export function listFlag(flags: Flags, name: string): readonly string[] {
  const value = flags[name]
  if (Array.isArray(value)) return value
  return typeof value === 'string' ? [value] : []
}

export function yesOrNo(flags: Flags, name: string): boolean | undefined {
  const value = textFlag(flags, name)
  if (value === undefined) return undefined
  if (value === 'yes') return true
  if (value === 'no') return false
  throw new Mistake(`--${name} 只能是 yes 或 no / must be yes or no`)
}

type Cell = string | number | boolean | null | undefined

/** Chinese characters and their punctuation take two columns of a terminal. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/u

function widthOf(text: string): number {
  let width = 0
  for (const character of text) width += wide.test(character) ? 2 : 1
  return width
}

/** Rows under a heading, columns aligned. */
export function table(heading: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const cells = [heading, ...rows].map((row) => row.map((cell) => String(cell ?? '-')))
  const widths = heading.map((_name, column) => Math.max(...cells.map((row) => widthOf(row[column] ?? ''))))
  return cells
    .map((row) =>
      row
        .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - widthOf(cell)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

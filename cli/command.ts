// The shape of a command, and helpers for flags and output.
import type { OperatorActor } from '../server/audit/audit.ts'
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import type { ParseArgsOptionsConfig } from 'node:util'
import type { Text } from '../contract/text.ts'
import { commandLineActor } from '../contract/usernames.ts'
import { oneLine } from '../contract/values.ts'
import type { Config } from '../server/config.ts'
import type { Installation } from '../server/runtime/installation.ts'

export type Flags = Readonly<Record<string, string | boolean | string[] | undefined>>

export interface Invocation {
  readonly config: Config
  readonly installation: Installation
  /** The arguments after the command's name, without flags. */
  readonly words: readonly string[]
  readonly flags: Flags
}

export interface Output {
  /** What `--json` prints. */
  readonly json: unknown
  readonly text: string
  /** The command ran, but its result is negative: exit code 1. */
  readonly failed?: boolean
  /** Why it is negative: one line on stderr. */
  readonly problem?: string
}

export interface Command {
  readonly name: string
  readonly usage: string
  readonly text: Text
  /** The number of arguments after its name. */
  readonly minWords: number
  readonly maxWords: number
  readonly flags: ParseArgsOptionsConfig
  /** Runs even if SECRET_KEY differs from the one the database was set up with. */
  readonly skipSecretCheck?: boolean
  /** May be the first command of an installation, so an empty database is expected. */
  readonly startsEmpty?: boolean
  readonly run: (invocation: Invocation) => Promise<Output>
}

/** The actor of every change on the command line. */
export const cliActor: OperatorActor = { kind: 'operator', name: commandLineActor }

/** Wrong arguments, reported in one line. */
export class UsageError extends Error {}

export function textFlag(flags: Flags, name: string): string | undefined {
  const value = flags[name]
  return typeof value === 'string' ? value : undefined
}

/** `-` reads the first line of stdin: what is on the command line is visible to every user of the machine. */
export async function secretFlag(flags: Flags, name: string): Promise<string | undefined> {
  const [value] = await readSecrets([[`--${name}`, textFlag(flags, name)]])
  return value
}

/** The values of words and flags of these names. Each that is `-` is a line of stdin, in this order. */
export async function readSecrets(
  given: readonly (readonly [name: string, value: string | undefined])[],
): Promise<(string | undefined)[]> {
  const hidden = given.filter(([, value]) => value === '-').map(([name]) => name)
  const lines = hidden.length === 0 ? [] : await readLines(hidden)
  return given.map(([, value]) => (value === '-' ? lines.shift() : value))
}

async function readLines(names: readonly string[]): Promise<string[]> {
  const { stdin, stderr } = process
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const input = createInterface({ input: stdin, output: silent, terminal: stdin.isTTY })
  const lines = input[Symbol.asyncIterator]()
  const read: string[] = []
  try {
    for (const name of names) {
      if (stdin.isTTY) stderr.write(`${name.replace(/^--/, '')}: `)
      const next = await lines.next()
      if (stdin.isTTY) stderr.write('\n')
      if (next.done === true) throw new UsageError(`${name} -：标准输入为空 / stdin is empty`)
      read.push(next.value)
    }
    return read
  } finally {
    input.close()
  }
}

export function listFlag(flags: Flags, name: string): readonly string[] {
  const value = flags[name]
  if (Array.isArray(value)) return value
  return typeof value === 'string' ? [value] : []
}

/** The value of a flag that has few possible values; undefined without the flag. */
export function choiceFlag<const T extends string>(
  flags: Flags,
  name: string,
  choices: readonly T[],
): T | undefined {
  const given = textFlag(flags, name)
  const chosen = choices.find((one) => one === given)
  if (given === undefined || chosen !== undefined) return chosen
  throw new UsageError(`--${name} 只能是 ${choices.join('、')} / must be one of these`)
}

export function yesOrNo(flags: Flags, name: string): boolean | undefined {
  const value = textFlag(flags, name)
  if (value === undefined) return undefined
  if (value === 'yes') return true
  if (value === 'no') return false
  throw new UsageError(`--${name} 只能是 yes 或 no / must be yes or no`)
}

/** The reason of a review on the command line, when none is given. */
export const noReason = '未说明 / not given'

export function idOf(word: string): number {
  if (!/^[1-9]\d{0,14}$/.test(word))
    throw new UsageError('编号必须是正整数 / the ID must be a positive integer')
  return Number(word)
}

type TableCell = string | number | boolean | null | undefined

/** Chinese characters and punctuation are two columns wide in a terminal. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/u

function widthOf(text: string): number {
  let width = 0
  for (const character of text) width += wide.test(character) ? 2 : 1
  return width
}

/** A table with a heading and aligned columns. Texts of customers cannot add a row, or change what the terminal shows. */
export function table(heading: readonly string[], rows: readonly (readonly TableCell[])[]): string {
  const cells = [heading, ...rows].map((row) => row.map((cell) => oneLine(String(cell ?? '-'))))
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

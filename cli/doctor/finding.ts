// What a check of the doctor found, and how it is told: one plain line, and what to mend.
import type { Text } from '../../contract/text.ts'

export interface Finding {
  readonly check: string
  readonly state: 'ok' | 'warn' | 'fail'
  readonly text: Text
  /** What to do about it. */
  readonly mend?: Text
}

export function ok(check: string, zh: string, en: string): Finding {
  return { check, state: 'ok', text: { zh, en } }
}

export function trouble(
  check: string,
  state: 'warn' | 'fail',
  [zh, en]: readonly [string, string],
  [mendZh, mendEn]: readonly [string, string],
): Finding {
  return { check, state, text: { zh, en }, mend: { zh: mendZh, en: mendEn } }
}

const marks = { ok: '✓', warn: '!', fail: '✗' } as const

export function lineOf({ check, state, text, mend }: Finding): string {
  const line = `${marks[state]} ${check.padEnd(10)} ${text.zh} / ${text.en}`
  return mend ? `${line}\n${' '.repeat(13)}→ ${mend.zh} / ${mend.en}` : line
}

export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // fetch says only "fetch failed"; why stands in its cause.
  const { cause } = error
  const code = 'code' in error ? String(error.code) : undefined
  if (cause instanceof Error) return reasonOf(cause)
  return code ?? error.message.split('\n')[0] ?? error.name
}

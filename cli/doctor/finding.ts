// The result of one check, and how it is printed: one line, and how to fix it.
import type { Text } from '../../contract/text.ts'

export interface Finding {
  readonly check: string
  readonly state: 'ok' | 'warn' | 'fail'
  readonly text: Text
  /** How to fix it. */
  readonly fix?: Text
}

export function ok(check: string, zh: string, en: string): Finding {
  return { check, state: 'ok', text: { zh, en } }
}

export function reportProblem(
  check: string,
  state: 'warn' | 'fail',
  [zh, en]: readonly [string, string],
  [fixZh, fixEn]: readonly [string, string],
): Finding {
  return { check, state, text: { zh, en }, fix: { zh: fixZh, en: fixEn } }
}

const marks = { ok: '✓', warn: '!', fail: '✗' } as const

export function formatFinding({ check, state, text, fix }: Finding): string {
  const line = `${marks[state]} ${check.padEnd(10)} ${text.zh} / ${text.en}`
  return fix ? `${line}\n${' '.repeat(13)}→ ${fix.zh} / ${fix.en}` : line
}

export function describeReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // The message of fetch is only "fetch failed"; the reason is its cause.
  const { cause } = error
  const code = 'code' in error ? String(error.code) : undefined
  if (cause instanceof Error) return describeReason(cause)
  return code ?? error.message.split('\n')[0] ?? error.name
}

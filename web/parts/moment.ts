// Moments as people type them into a form, in Asia/Shanghai.
import { formatTime, parseTime } from '../../contract/time.ts'

/** `2026-01-02 03:04` with or without seconds, as the API takes it; undefined for anything else. */
export function readMoment(typed: string): string | undefined {
  const text = typed.trim().replace(/[T\s]+/, ' ')
  const whole = /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}$/.test(text) ? `${text}:00` : text
  return parseTime(whole) === undefined ? undefined : whole
}

/** Without seconds if they are zero. */
export function showMoment(at: number): string {
  return formatTime(at).replace(/:00$/, '')
}

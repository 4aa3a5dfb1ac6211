// Dates and times are shown in Asia/Shanghai, which is eight hours ahead of UTC all year.
export const minuteMs = 60_000
export const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs
export const shanghaiOffsetMs = 8 * hourMs

/** `2026-01-02` and `2026-01-02 03:04:05`. */
export const dayPattern = '^\\d{4}-\\d{2}-\\d{2}$'
export const timePattern = '^\\d{4}-\\d{2}-\\d{2} \\d{2}:\\d{2}:\\d{2}$'

const dayText = new RegExp(dayPattern)
const timeText = new RegExp(timePattern)

/** `2026-01-02 03:04:05` in Shanghai for a time in milliseconds. */
export function formatTime(ms: number): string {
  return new Date(ms + shanghaiOffsetMs).toISOString().slice(0, 19).replace('T', ' ')
}

/** The last day that was formatted: every paid call needs the current one. */
let formattedDay = { number: Number.NaN, text: '' }

/** `2026-01-02` in Shanghai. */
export function formatDay(ms: number): string {
  const number = Math.floor((ms + shanghaiOffsetMs) / dayMs)
  if (number !== formattedDay.number)
    formattedDay = { number, text: new Date(number * dayMs).toISOString().slice(0, 10) }
  return formattedDay.text
}

/** The milliseconds of `2026-01-02 03:04:05` in Shanghai, or undefined when there is no such time. */
export function parseTime(text: string): number | undefined {
  if (!timeText.test(text)) return undefined
  const ms = Date.parse(`${text.replace(' ', 'T')}Z`) - shanghaiOffsetMs
  return !Number.isNaN(ms) && formatTime(ms) === text ? ms : undefined
}

/** The first millisecond of a day given as `YYYY-MM-DD`, or undefined when the day does not exist. */
export function startOfDay(day: string): number | undefined {
  if (!dayText.test(day)) return undefined
  const utc = Date.parse(`${day}T00:00:00Z`)
  // Date.parse turns 2026-02-30 into 2 March in some engines; the round trip detects it.
  if (Number.isNaN(utc) || new Date(utc).toISOString().slice(0, 10) !== day) return undefined
  return utc - shanghaiOffsetMs
}

/** The first millisecond after a day given as `YYYY-MM-DD`. */
export function endOfDay(day: string): number | undefined {
  const start = startOfDay(day)
  return start === undefined ? undefined : start + dayMs
}

/** `2026-01-02T03:04:05+08:00` for a time in milliseconds. */
export function isoTime(ms: number): string {
  return `${formatTime(ms).replace(' ', 'T')}+08:00`
}

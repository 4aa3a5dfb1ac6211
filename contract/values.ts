// Checks of values that come from outside.
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** No database stores a NUL, and half a surrogate pair has no UTF-8. */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

/** Controls, changes of direction, zero-width, blank and unassigned characters, line separators: the reader sees another text. */
const hiddenCharacters = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u

export function hasHiddenCharacters(text: string): boolean {
  return hiddenCharacters.test(text)
}

/** A caller's text inside a message: short, and without characters that could forge a line of a log or a terminal. */
export function printable(text: string): string {
  const short = text.length > 32 ? `${text.slice(0, 32)}…` : text
  return short.toWellFormed().replaceAll(/\p{C}|\p{Zl}|\p{Zp}/gu, '�')
}

/** Replaces line breaks and control characters, which could forge a line of a log or move a cursor. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim()
}

/** Code points: a rare Han character is one. Text that is certainly longer than `max` is not counted: a megabyte takes 70 ms. */
export function countCharacters(text: string, max: number): number {
  return text.length > 2 * max ? text.length : [...text].length
}

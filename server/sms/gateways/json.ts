// Reading what vendors answer and push, without trusting any of it.
import { isRecord } from '../../../contract/values.ts'
import type { Fate, ReceiptReading } from '../port.ts'

/** A text that is there, or a number as text: vendors are not strict about ids. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' && value.length <= 128 && !value.includes('\0')
    ? value
    : undefined
}

/** Codes end up in records and logs, so what does not look like one is left out. */
export function codeOf(value: unknown): string {
  return typeof value === 'string' && /^[\w.:-]{1,64}$/.test(value) ? value : ''
}

/**
 * What could be read of a push. One broken item must not keep the others from being heard, so it is passed over; a push
 * of which nothing can be read is malformed.
 */
export function readEach(
  items: readonly unknown[] | undefined,
  read: (item: Readonly<Record<string, unknown>>) => Fate | undefined,
): ReceiptReading {
  const fates = items
    ?.map((item) => (isRecord(item) ? read(item) : undefined))
    .filter((fate) => fate !== undefined)
  if (!items || !fates || (items.length > 0 && fates.length === 0)) return { kind: 'malformed' }
  return { kind: 'receipts', fates }
}

/** An array, or undefined for everything else. */
export function parseArray(text: string): readonly unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

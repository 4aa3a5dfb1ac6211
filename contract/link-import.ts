// Import of links from CSV: limits, formats and states.
import type { Text } from './text.ts'

export const importLimits = {
  /** What the nginx sample lets through. */
  fileBytes: 16_777_216,
  rows: 100_000,
  columns: 100,
  /** Longer cells are cut, and their row has a problem. */
  cellLength: 8_192,
  /** Kept imports of one account; for a new one the oldest that has ended, or else the oldest that was not started, is deleted. */
  perAccount: 10,
  keepDays: 30,
  fileNameLength: 200,
} as const

export const importFormats = {
  tollgate: { zh: '本平台导出', en: 'Tollgate export' },
  yourls: { zh: 'YOURLS', en: 'YOURLS' },
  kutt: { zh: 'Kutt', en: 'Kutt' },
  shlink: { zh: 'Shlink', en: 'Shlink' },
  bitly: { zh: 'Bitly', en: 'Bitly' },
  other: { zh: '其他', en: 'Other' },
} as const satisfies Record<string, Text>

export type ImportFormat = keyof typeof importFormats

/** `checking` is the dry run; nothing is charged before `running`. */
export const importStates = [
  'uploading',
  'checking',
  'checked',
  'running',
  'paused',
  'finished',
  'cancelled',
] as const

export const importRowStates = ['ready', 'invalid', 'created', 'failed'] as const

// Responses of imports of links.
import { Type } from 'typebox'
import { importRowStates, importStates } from '../../link-import.ts'
import { Empty } from '../fields.ts'
import type { ResponseOf } from '../route.ts'
import { csvFile, listOf, moment, orNull } from './fields.ts'

export const LinkImport = Type.Object({
  id: Type.Integer(),
  file_name: Type.String(),
  format: Type.String(),
  encoding: Type.String(),
  state: Type.Enum([...importStates]),
  /** Why it waits: `insufficient`, `expired`, `suspended` or a cap. */
  pause_reason: Type.String(),
  total: Type.Integer(),
  /** Rows that the dry run refused. */
  invalid: Type.Integer(),
  created: Type.Integer(),
  failed: Type.Integer(),
  /** Rows that the dry run or the import has passed. */
  done: Type.Integer(),
  /** Credits that the rows that are left will cost. */
  cost: Type.Integer(),
  created_at: moment,
  ended_at: orNull(moment),
})
export type LinkImport = ResponseOf<typeof LinkImport>

export const LinkImportRow = Type.Object({
  index: Type.Integer(),
  line: Type.Integer(),
  target_url: Type.String(),
  short_code: Type.String(),
  state: Type.Enum([...importRowStates]),
  problem: Type.String(),
})
export type LinkImportRow = ResponseOf<typeof LinkImportRow>

export const linkImportResponses = {
  list: listOf(LinkImport),
  upload: LinkImport,
  one: LinkImport,
  rows: Type.Object({ items: Type.Array(LinkImportRow), next: orNull(Type.Integer()) }),
  start: Empty,
  cancel: Empty,
  result: csvFile,
} as const

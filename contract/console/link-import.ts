// Import of links: upload, dry run, start, progress, results.
import { Type } from 'typebox'
import { importLimits, importRowStates } from '../link-import.ts'
import { linkLimits } from '../shortlink.ts'
import { Empty } from './fields.ts'
import type { linkImportResponses } from './responses/link-import.ts'
import { route, withResponses } from './route.ts'

/** The body is the file. `codes`: those of the file, or new ones; `tag` is added to every link. */
const Upload = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 2 * importLimits.fileNameLength }),
  codes: Type.Enum(['keep', 'new']),
  tag: Type.Optional(Type.String({ maxLength: linkLimits.tagLength })),
})

/** `from` is the `next` of the previous page. */
const RowQuery = Type.Object({
  from: Type.Optional(Type.Integer({ minimum: 0, maximum: importLimits.rows })),
  state: Type.Optional(Type.Enum([...importRowStates])),
})

export const linkImportRoutes = withResponses<typeof linkImportResponses>()({
  list: route('GET', '/link-imports', Empty),
  upload: route('POST', '/link-imports', Upload),
  one: route('GET', '/link-imports/:id', Empty),
  rows: route('GET', '/link-imports/:id/rows', RowQuery),
  start: route('POST', '/link-imports/:id/start', Empty),
  cancel: route('POST', '/link-imports/:id/cancel', Empty),
  result: route('GET', '/link-imports/:id/result.csv', Empty),
})

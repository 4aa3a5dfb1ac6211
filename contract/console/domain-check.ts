// Domain checks: runs with progress, and the watch list.
import { type Static, Type } from 'typebox'
import { route, withResponses } from './route.ts'
import { slice, dayRange, Empty } from './fields.ts'
import type { domainCheckResponses } from './responses/domain-check.ts'

const DomainRunInput = Type.Object({
  // The API's limit applies; its message says how many are allowed.
  urls: Type.Unsafe<readonly string[]>(
    Type.Array(Type.String({ maxLength: 5_000 }), {
      problem: { zh: '必须是网址列表', en: 'Must be a list of addresses' },
    }),
  ),
  check_random: Type.Optional(Type.Boolean()),
})

const everyMinutes = Type.Integer({ minimum: 5, maximum: 10_080 })

/** Every check costs credits. */
export const WatchInput = Type.Object({
  url: Type.String({ minLength: 1, maxLength: 5_000 }),
  every_minutes: everyMinutes,
})
export type WatchInput = Static<typeof WatchInput>

const WatchChange = Type.Object({
  every_minutes: Type.Optional(everyMinutes),
  paused: Type.Optional(Type.Boolean()),
})

const HistoryQuery = Type.Object({ ...slice, ...dayRange })

export const domainCheckRoutes = withResponses<typeof domainCheckResponses>()({
  /** Starts a check and responds immediately; `run` has the results. Takes an `idempotency-key` header. */
  start: route('POST', '/domain-check/runs', DomainRunInput),
  runs: route('GET', '/domain-check/runs', HistoryQuery),
  run: route('GET', '/domain-check/runs/:id', Empty),
  runCsv: route('GET', '/domain-check/runs/:id/results.csv', Empty),
  watches: route('GET', '/domain-check/watches', Empty),
  addWatch: route('POST', '/domain-check/watches', WatchInput),
  changeWatch: route('PATCH', '/domain-check/watches/:id', WatchChange),
  removeWatch: route('DELETE', '/domain-check/watches/:id', Empty),
  watchHistory: route('GET', '/domain-check/watches/:id/history', HistoryQuery),
})

// Domain checks: runs with progress, and the watch list.
import { type Static, Type } from 'typebox'
import { dayRange, Empty, slice } from './fields.ts'
import { type CsvFile, type Moment, route, type Slice } from './route.ts'
export const domainVerdicts = ['未拦截', '已拦截', '无效URL', '请求失败'] as const

export type DomainVerdict = (typeof domainVerdicts)[number]

export interface DomainRun {
  readonly id: number
  readonly at: Moment
  readonly state: 'running' | 'done' | 'failed'
  /** Addresses to check, random ones included. */
  readonly total: number
  readonly done: number
  readonly counts: Readonly<Record<DomainVerdict, number>>
  readonly charged: number
  readonly given_back: number
  readonly request_id: string
}

export interface DomainResult {
  readonly position: number
  readonly url: string
  readonly random: boolean
  /** Null until it is checked. */
  readonly verdict: DomainVerdict | null
}

export interface DomainRunState extends DomainRun {
  readonly results: readonly DomainResult[]
}

export interface Watch {
  readonly id: number
  readonly url: string
  readonly every_minutes: number
  /** Paused by the account holder. */
  readonly paused: boolean
  /** Why it is not checked although it is not paused; checks resume automatically. */
  readonly held_up?: 'no_credit' | 'expired' | 'suspended' | null
  readonly verdict: DomainVerdict | null
  readonly checked_at: Moment | null
  /** When the verdict last changed. */
  readonly since: Moment | null
  readonly created_at: Moment
}

export interface WatchHistoryItem {
  readonly id: number
  readonly at: Moment
  readonly verdict: DomainVerdict
}

const DomainRunInput = Type.Object({
  // The API's limit applies; its message says how many are allowed.
  urls: Type.Unsafe<readonly string[]>(
    Type.Array(Type.String({ maxLength: 5_000 }), {
      problem: { zh: '须为网址列表', en: 'Must be a list of addresses' },
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

export const domainCheckRoutes = {
  /** Starts a check and responds immediately; `run` has the results. Takes an `idempotency-key` header. */
  start: route('POST', '/domain-check/runs', DomainRunInput).returns<DomainRun>(),
  runs: route('GET', '/domain-check/runs', HistoryQuery).returns<Slice<DomainRun>>(),
  run: route('GET', '/domain-check/runs/:id', Empty).returns<DomainRunState>(),
  runCsv: route('GET', '/domain-check/runs/:id/results.csv', Empty).returns<CsvFile>(),
  watches: route('GET', '/domain-check/watches', Empty).returns<{ readonly items: readonly Watch[] }>(),
  addWatch: route('POST', '/domain-check/watches', WatchInput).returns<Watch>(),
  changeWatch: route('PATCH', '/domain-check/watches/:id', WatchChange).returns<Watch>(),
  removeWatch: route('DELETE', '/domain-check/watches/:id', Empty).returns<Empty>(),
  watchHistory: route('GET', '/domain-check/watches/:id/history', HistoryQuery).returns<
    Slice<WatchHistoryItem>
  >(),
} as const

// Domain checks in the console: many at once with progress, and the watch list.
import {
  type DayRange,
  type Empty,
  type File,
  type Moment,
  route,
  type Slice,
  type SliceQuery,
} from './route.ts'

export const domainVerdicts = ['未拦截', '已拦截', '无效URL', '请求失败'] as const

export type DomainVerdict = (typeof domainVerdicts)[number]

export interface DomainRunWish {
  /** At most 500; one a line in the box. */
  readonly urls: readonly string[]
  readonly check_random?: boolean
}

export interface DomainRun {
  readonly id: number
  readonly at: Moment
  readonly state: 'running' | 'done' | 'failed'
  /** Addresses asked, the random ones included. */
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
  /** Null while it is being asked. */
  readonly verdict: DomainVerdict | null
}

export interface DomainRunState extends DomainRun {
  readonly results: readonly DomainResult[]
}

export interface Watch {
  readonly id: number
  readonly url: string
  readonly every_minutes: number
  /** Stopped by the account itself. */
  readonly paused: boolean
  /** Why it is not checked although it is not paused; it goes on by itself. */
  readonly held_up?: 'no_credit' | 'expired' | 'suspended' | null
  readonly verdict: DomainVerdict | null
  readonly checked_at: Moment | null
  /** Since when the verdict is what it is. */
  readonly since: Moment | null
  readonly created_at: Moment
}

export interface WatchWish {
  readonly url: string
  /** 5 to 10,080. Every check costs what a check costs. */
  readonly every_minutes: number
}

export interface WatchHistoryItem {
  readonly id: number
  readonly at: Moment
  readonly verdict: DomainVerdict
}

export const domainCheckRoutes = {
  /** Starts a check and answers at once; ask `run` for the results. `idempotency-key` as elsewhere. */
  start: route<DomainRunWish, DomainRun>('POST', '/domain-check/runs'),
  runs: route<SliceQuery & DayRange, Slice<DomainRun>>('GET', '/domain-check/runs'),
  run: route<Empty, DomainRunState>('GET', '/domain-check/runs/:id'),
  runCsv: route<Empty, File>('GET', '/domain-check/runs/:id/results.csv'),
  watches: route<Empty, { readonly items: readonly Watch[] }>('GET', '/domain-check/watches'),
  addWatch: route<WatchWish, Watch>('POST', '/domain-check/watches'),
  changeWatch: route<{ readonly every_minutes?: number; readonly paused?: boolean }, Watch>(
    'PATCH',
    '/domain-check/watches/:id',
  ),
  removeWatch: route<Empty, Empty>('DELETE', '/domain-check/watches/:id'),
  watchHistory: route<SliceQuery & DayRange, Slice<WatchHistoryItem>>(
    'GET',
    '/domain-check/watches/:id/history',
  ),
} as const

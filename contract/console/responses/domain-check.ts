// Responses of domain checks and the watch list.
import { Type } from 'typebox'
import type { ResponseOf } from '../route.ts'
import { Empty } from '../fields.ts'
import { checkResults } from '../../domain-check.ts'
import { moment, orNull, extend, byName, listOf, sliceOf, csvFile } from './fields.ts'

const verdicts = Object.values(checkResults)
const domainVerdict = Type.Enum(verdicts)

export const DomainRun = Type.Object({
  id: Type.Integer(),
  at: moment,
  state: Type.Enum(['running', 'done', 'failed']),
  /** Addresses to check, random ones included. */
  total: Type.Integer(),
  done: Type.Integer(),
  counts: byName(verdicts, Type.Integer()),
  charged: Type.Integer(),
  given_back: Type.Integer(),
  request_id: Type.String(),
})
export type DomainRun = ResponseOf<typeof DomainRun>

export const DomainResult = Type.Object({
  position: Type.Integer(),
  url: Type.String(),
  random: Type.Boolean(),
  /** Null until it is checked. */
  verdict: orNull(domainVerdict),
})
export type DomainResult = ResponseOf<typeof DomainResult>

const DomainRunState = extend(DomainRun, {
  results: Type.Array(DomainResult),
})

export const Watch = Type.Object({
  id: Type.Integer(),
  url: Type.String(),
  every_minutes: Type.Integer(),
  /** Paused by the account holder. */
  paused: Type.Boolean(),
  /** Why it is not checked although it is not paused; checks resume automatically. */
  held_up: Type.Optional(orNull(Type.Enum(['no_credit', 'expired', 'suspended']))),
  verdict: orNull(domainVerdict),
  checked_at: orNull(moment),
  /** When the verdict last changed. */
  since: orNull(moment),
  created_at: moment,
})
export type Watch = ResponseOf<typeof Watch>

const WatchHistoryItem = Type.Object({
  id: Type.Integer(),
  at: moment,
  verdict: domainVerdict,
})

export const domainCheckResponses = {
  start: DomainRun,
  runs: sliceOf(DomainRun),
  run: DomainRunState,
  runCsv: csvFile,
  watches: listOf(Watch),
  addWatch: Watch,
  changeWatch: Watch,
  removeWatch: Empty,
  watchHistory: sliceOf(WatchHistoryItem),
}

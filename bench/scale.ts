// How large and how long the parts are: the real thing, or a quick run that only shows that they work.
import { availableParallelism } from 'node:os'
import type { Engine } from '../server/db/database.ts'

export interface Scale {
  readonly quick: boolean
  /** Ten million links too. */
  readonly large: boolean
  /** Rounds in which those who are compared take turns. */
  readonly rounds: number
  readonly seconds: number
  /** How many processes the service is run with, one after the other. */
  readonly workers: readonly number[]
  /** The databases it is run with, one after the other. */
  readonly engines: readonly Engine[]
  /** Links in the redirect part. */
  readonly links: number
  /** Of the soak. */
  readonly minutes: number
  /** So many, or in a quick run a small part of it. */
  count(full: number): number
}

interface Wishes {
  readonly quick: boolean
  readonly large: boolean
  readonly workers?: readonly number[] | undefined
  readonly minutes?: number | undefined
  readonly engine?: Engine | undefined
}

export function scaleOf(wishes: Wishes): Scale {
  const { quick, large } = wishes
  const wanted = (name: string, full: number, small: number) =>
    Number(process.env[name] ?? (quick ? small : full))
  return {
    quick,
    large,
    rounds: wanted('BENCH_ROUNDS', 5, 1),
    seconds: wanted('BENCH_SECONDS', 3, 0.2),
    workers: wishes.workers ?? (quick ? [1] : [...new Set([1, 2, availableParallelism()])]),
    engines: wishes.engine === undefined ? ['sqlite', 'postgres'] : [wishes.engine],
    links: wanted('BENCH_LINKS', 10_000, 100),
    minutes: wishes.minutes ?? (quick ? 0.05 : 30),
    count: (full) => (quick ? Math.max(64, Math.ceil(full / 500)) : full),
  }
}

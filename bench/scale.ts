// Sizes and durations of the parts, for a full run or a quick run that only checks that they work.
import { availableParallelism } from 'node:os'
import type { Engine } from '../server/db/database.ts'

export interface Scale {
  readonly quick: boolean
  /** Also measures ten million links. */
  readonly large: boolean
  /** The sizes of the growth part, instead of its own. */
  readonly sizes: readonly number[] | undefined
  /** Where the growth part keeps its databases; undefined for temporary ones. */
  readonly keepIn: string | undefined
  /** How long the growth part may fill a database before it measures what there is. */
  readonly fillMinutes: number
  /** Rounds of each comparison. */
  readonly rounds: number
  readonly seconds: number
  /** Numbers of processes to measure, one after the other. */
  readonly workers: readonly number[]
  /** Engines to measure, one after the other. */
  readonly engines: readonly Engine[]
  /** Links in the redirect part. */
  readonly links: number
  /** Duration of the soak part. */
  readonly minutes: number
  /** Returns `full`, or a small part of it in a quick run. */
  count(full: number): number
}

interface ScaleOptions {
  readonly quick: boolean
  readonly large: boolean
  readonly workers?: readonly number[] | undefined
  readonly minutes?: number | undefined
  readonly sizes?: readonly number[] | undefined
  readonly keepIn?: string | undefined
  readonly engine?: Engine | undefined
}

export function scaleOf(options: ScaleOptions): Scale {
  const { quick, large } = options
  const fromEnvironment = (name: string, full: number, small: number) =>
    Number(process.env[name] ?? (quick ? small : full))
  return {
    quick,
    large,
    sizes: options.sizes,
    keepIn: options.keepIn,
    fillMinutes: options.minutes ?? Number.POSITIVE_INFINITY,
    rounds: fromEnvironment('BENCH_ROUNDS', 5, 1),
    seconds: fromEnvironment('BENCH_SECONDS', 3, 0.2),
    workers: options.workers ?? (quick ? [1] : [...new Set([1, 2, availableParallelism()])]),
    engines: options.engine === undefined ? ['sqlite', 'postgres'] : [options.engine],
    links: fromEnvironment('BENCH_LINKS', 10_000, 100),
    minutes: options.minutes ?? (quick ? 0.05 : 30),
    count: (full) => (quick ? Math.max(64, Math.ceil(full / 500)) : full),
  }
}

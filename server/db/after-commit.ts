// Effects of a transaction that run once it is durable.

/** The message says what failed, for the log. */
export type OnDatabaseError = (error: Error, message: string) => void

export type Effects = (() => void)[]

/** An effect must not fail the callers of a transaction that is durable already: its error is reported instead. */
export function runEffects(
  effects: Effects | undefined,
  onError: OnDatabaseError = (error) => process.emitWarning(error),
): void {
  for (const effect of effects ?? []) {
    try {
      effect()
    } catch (error) {
      onError(error instanceof Error ? error : new Error(String(error)), 'after-commit effect failed')
    }
  }
}

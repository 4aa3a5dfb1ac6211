// Reads of metrics: while the database is unavailable, a metric keeps its last value and does not delay the others.

const timeoutMs = 2_000

export async function readForMetric(read: () => unknown): Promise<void> {
  const { promise: timeout, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, timeoutMs)
  // `tollgate_database_up` reports the failure.
  const work = Promise.resolve()
    .then(read)
    .catch(() => undefined)
  await Promise.race([work, timeout])
  clearTimeout(timer)
}

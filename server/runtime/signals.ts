// What the signals do: SIGTERM, SIGINT and SIGQUIT stop the service after the requests in progress, SIGHUP reloads the workers.
// start.js ignores SIGHUP and SIGUSR2 from the beginning, so that neither ends a process that is still starting.

const stopSignals = ['SIGTERM', 'SIGINT', 'SIGQUIT'] as const

/** npm passes on a signal that the process has received already. */
const repeatedSignalMs = 1_000

/** Calls `stop` once, on the first signal, and `stopNow` on a later one. */
export function onStopSignal(stop: (signal: NodeJS.Signals) => void, stopNow: () => void): void {
  let stoppingSince: number | undefined
  const once = (signal: NodeJS.Signals) => {
    if (stoppingSince === undefined) {
      stoppingSince = performance.now()
      stop(signal)
    } else if (performance.now() - stoppingSince > repeatedSignalMs) stopNow()
  }
  for (const signal of stopSignals) process.on(signal, once)
  if (process.env['npm_lifecycle_event'] === 'start') onParentExit(() => once('SIGTERM'))
}

export function onReloadSignal(reload: () => void): void {
  process.on('SIGHUP', reload)
}

const parentCheckMs = 250

/** npm sends SIGTERM to the shell in between, and a plain `sh` exits without passing it on. */
function onParentExit(stop: () => void): void {
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    stop()
  }, parentCheckMs)
  timer.unref()
}

// What the signals do: SIGTERM, SIGINT and SIGQUIT stop the service after the requests in progress, SIGHUP reloads the workers.
// start.js ignores SIGHUP and SIGUSR2 from the beginning, so that neither ends a process that is still starting.

const stopSignals = ['SIGTERM', 'SIGINT', 'SIGQUIT'] as const

/** Calls `stop` once, on the first signal. */
export function onStopSignal(stop: (signal: NodeJS.Signals) => void): void {
  let stopping = false
  const once = (signal: NodeJS.Signals) => {
    if (stopping) return
    stopping = true
    stop(signal)
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

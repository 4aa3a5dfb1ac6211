// Kills a test file that does not exit. Loaded with --import before each test file.
//
// --test-timeout limits each test and each hook, but not the file: a file whose tests have ended and that still has an
// open handle would run indefinitely, and so would an endless loop. The worker thread runs even while the main thread is busy.
import { Worker } from 'node:worker_threads'

/** Time for the `after` hooks of a test that has reached --test-timeout. */
const extraMs = Number(process.env['WATCHDOG_EXTRA_MS'] ?? 15_000)

const code = `
  const { writeSync } = require('node:fs')
  const { workerData } = require('node:worker_threads')
  setTimeout(() => {
    writeSync(2, workerData.message)
    process.kill(process.pid, 'SIGKILL')
  }, workerData.limitMs)
`

// The runner passes its own value (0) before the one it was given.
const given = process.execArgv
  .map((argument) => /^--test-timeout=(\d+)$/.exec(argument)?.[1])
  .findLast((value) => value !== undefined)

// The runner loads this module too. Only processes that run a test file are limited.
if (process.env['NODE_TEST_CONTEXT'] !== undefined && given !== undefined) {
  const limitMs = Number(given) + extraMs
  const message = `${process.argv[1]} was killed because it was still running after ${limitMs / 1000} s\n`
  new Worker(code, { eval: true, workerData: { limitMs, message } }).unref()
}

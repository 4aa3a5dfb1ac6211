// Background jobs: repeated runs, failures and the stop.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { createJobs } from './jobs.ts'

const log = pino({ level: 'silent' })

it('runs a job at once and again, never twice at the same time, and counts the runs', async () => {
  const registry = new Registry()
  const jobs = createJobs(log, registry)
  let running = 0
  let overlapped = false
  const third = Promise.withResolvers<void>()
  let runs = 0
  jobs.every(1, 'example', async () => {
    running += 1
    overlapped ||= running > 1
    await sleep(2)
    running -= 1
    runs += 1
    if (runs === 3) third.resolve()
  })
  await third.promise
  await jobs.stop()
  assert.equal(overlapped, false)
  const [text] = [await registry.metrics()]
  assert.match(text, /tollgate_job_runs_total\{name="example",result="success"\} [3-9]/)
  assert.match(text, /tollgate_job_last_success_timestamp_seconds\{name="example"\} \d/)
})

it('logs and counts a failure, and runs the job again', async () => {
  const registry = new Registry()
  const jobs = createJobs(log, registry)
  const second = Promise.withResolvers<void>()
  let runs = 0
  jobs.every(1, 'failing', async () => {
    runs += 1
    if (runs === 2) second.resolve()
    throw new Error('example')
  })
  await second.promise
  await jobs.stop()
  assert.match(await registry.metrics(), /tollgate_job_runs_total\{name="failing",result="failure"\} [12]/)
})

it('aborts the signal on stop and waits for the run in progress', async () => {
  const jobs = createJobs(log, new Registry())
  let ended = false
  jobs.every(60_000, 'long', async (signal) => {
    await once(signal, 'abort')
    await sleep(1)
    ended = true
  })
  await jobs.stop()
  assert.equal(ended, true)
})

it('does not run a job again after stop', async () => {
  const jobs = createJobs(log, new Registry())
  let runs = 0
  jobs.every(1, 'stopped', async () => {
    runs += 1
  })
  await jobs.stop()
  const before = runs
  await sleep(20)
  assert.equal(runs, before)
})

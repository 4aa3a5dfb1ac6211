// The history of /status after a time without the database.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { freshDatabase } from '../../test/support/engines.ts'
import type { Job } from '../db/database.ts'
import type { JobFunction } from '../jobs.ts'
import { findHealthDays } from './health-store.ts'
import { startStatusJobs } from './status.ts'

it('minutes without the database are in the history when it is back', async () => {
  await using fresh = await freshDatabase('sqlite')
  let isAway = true
  const write = <T>(job: Job<T>) => (isAway ? Promise.reject(new Error('away')) : fresh.db.write(job))
  const jobs = new Map<string, JobFunction>()
  startStatusJobs(
    { every: (_ms, name, run) => void jobs.set(name, run) },
    {
      db: { ...fresh.db, write },
      check: async () => ({
        ready: isAway ? 'database unavailable' : 'ok',
        gateways: { sms: true, identity: true, domain_check: true },
      }),
    },
  )
  const sample = () => jobs.get('sample_health')!(new AbortController().signal)
  await assert.rejects(sample(), /away/)
  isAway = false
  await sample()
  const days = await findHealthDays(fresh.db, '')
  const failed = (part: string) =>
    days.reduce((sum, day) => sum + (day.part === part ? Number(day.failed) : 0), 0)
  assert.deepEqual([failed('service'), failed('sms')], [1, 0])
})

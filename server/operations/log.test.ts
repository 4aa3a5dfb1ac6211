// The end of the service's log.
import { test } from 'node:test'
import { openLog } from './log.ts'

test('a log that has ended is not flushed any more', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const { end } = openLog('info')
  await end()
  // Would throw: the destination is destroyed.
  t.mock.timers.tick(1_000)
})

// What a tracked response costs the garbage collector.
import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { trackRequests } from './request-tracker.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as (options: { type: 'minor' | 'major' }) => void

const oldBytes = () =>
  getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')!.space_used_size

class Response extends EventEmitter {
  headersSent = true
  /** Stands for the memory of a request: 8 KB that no other object shares. */
  readonly memory = Array.from({ length: 1_000 }, (_, i) => i + 0.5)
}

test('the memory of a request is freed without a full collection', () => {
  const running = trackRequests()
  const open: Response[] = []
  const begin = () => {
    const response = new Response()
    running.begin(response as unknown as ServerResponse)
    open.push(response)
  }
  const finish = () => open.shift()!.emit('close')
  /** Returns the bytes that were moved to the old generation, whether or not a full collection has freed them since. */
  const serve = (calls: number): number => {
    let moved = 0
    for (let i = 0; i < calls; i += 1) {
      finish()
      begin()
      if (i % 100 !== 99) continue
      const before = oldBytes()
      collect({ type: 'minor' })
      moved += Math.max(0, oldBytes() - before)
    }
    return moved
  }
  for (let i = 0; i < 64; i += 1) begin()
  // Now the tracker is in the old generation, as in a service that has been running for a while.
  serve(2_000)
  collect({ type: 'major' })
  const kept = Math.round(serve(4_000) / 8_000)
  assert.ok(kept < 1_000, `the memory of ${kept} of 4000 requests was moved to the old generation`)
  assert.equal(running.count(), 64)
  while (open.length > 0) finish()
  assert.equal(running.count(), 0)
})

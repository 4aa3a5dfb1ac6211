// How much of the time a process waited for a processor.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createProcessorWait } from './processor-wait.ts'

it('the share of waiting is that of the last four intervals together', () => {
  const sample = { waitedMs: 1_000, at: 5_000 }
  const wait = createProcessorWait(() => ({ ...sample }))
  const after = (ms: number, waitedMs: number) => {
    sample.at += ms
    sample.waitedMs += waitedMs
    return wait()
  }
  assert.equal(after(250, 250), 1)
  assert.equal(after(250, 0), 0.5)
  assert.equal(after(500, 0), 0.25)
  assert.equal(after(1_000, 250), 0.25)
  // The first interval no longer counts.
  assert.equal(after(250, 0), 0.125)
  assert.equal(after(250, 0), 0.125)
  assert.equal(after(500, 0), 0.125)
  assert.equal(after(1_000, 0), 0)
  // Two readings at the same time.
  for (let n = 0; n < 5; n += 1) assert.equal(after(0, 0), 0)
})

it('a process that runs has a share between none and all of the time', () => {
  const wait = createProcessorWait()
  for (let n = 0; n < 10; n += 1) {
    const share = wait()
    assert.ok(share >= 0 && share <= 1, `${share}`)
  }
})

// Measures for how much of the time this process was ready to run and waited for a processor: more processes than processors want to
// run. The utilization of the event loop does not show that, because a process that is woken late has been idle until then.
import { readFileSync } from 'node:fs'

/** Linux: nanoseconds on a processor, nanoseconds of waiting for one, and the number of time slices, of the main thread. */
const schedulerFile = '/proc/self/schedstat'

/** Single intervals differ a lot, so the share is that of the last ones together. */
const intervals = 4

interface ProcessorSample {
  readonly waitedMs: number
  readonly at: number
}

/** Called at regular intervals, returns the share of the last four. Always 0 where the kernel does not tell. */
export function createProcessorWait(read: () => ProcessorSample = readSample): () => number {
  const samples = [read()]
  return () => {
    const now = read()
    samples.push(now)
    if (samples.length > intervals + 1) samples.shift()
    const [first] = samples
    return Math.min(1, (now.waitedMs - first!.waitedMs) / Math.max(1, now.at - first!.at))
  }
}

function readSample(): ProcessorSample {
  return { waitedMs: readWaitedMs(), at: performance.now() }
}

function readWaitedMs(): number {
  try {
    return Number(readFileSync(schedulerFile, 'utf8').split(' ')[1]) / 1e6
  } catch {
    return 0
  }
}

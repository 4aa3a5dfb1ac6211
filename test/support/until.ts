// Waits for a condition instead of a fixed time.
import { setTimeout as sleep } from 'node:timers/promises'

/** Checks every 20 ms and fails after `ms`. */
export async function until(condition: () => boolean | Promise<boolean>, ms = 20_000): Promise<void> {
  const deadline = performance.now() + ms
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`not within ${ms} ms: ${condition.toString()}`)
    await sleep(20)
  }
}

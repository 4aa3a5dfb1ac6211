// How long a start takes beside that of a bare server, and how much memory the idle service has.
import { setTimeout as sleep } from 'node:timers/promises'
import { median } from './measure.ts'
import { memoryOf, type Running, startBare, startServer } from './processes.ts'
import type { Part } from './report.ts'
import { onEngines } from './storage.ts'

const maxIdleMb = 140
/** By then the service has compacted its heap. */
const idleMs = 10_000

export async function startBench(part: Part): Promise<void> {
  await onEngines(part, async ({ name: engine, environment }) => {
    const seconds: number[] = []
    const bareSeconds: number[] = []
    for (let round = 0; round < part.scale.rounds; round += 1) {
      bareSeconds.push(await secondsOf(() => startBare('json', '100')))
      seconds.push(await secondsOf(() => startServer(environment)))
    }
    part.row({
      name: 'start',
      engine,
      value: median(seconds),
      unit: 's',
      ratio: median(seconds) / median(bareSeconds),
      ratioTo: 'bare node:http',
    })
    const service = await startServer(environment)
    await sleep(part.scale.count(idleMs))
    const memory = memoryOf(service.pid)
    await service.end()
    part.row({
      name: 'memory at idle',
      engine,
      ...(memory === undefined
        ? { skipped: 'no /proc' }
        : { value: memory, unit: 'MB', expected: [{ text: `≤ ${maxIdleMb} MB`, met: memory <= maxIdleMb }] }),
    })
  })
}

async function secondsOf(start: () => Promise<Running>): Promise<number> {
  const startedAt = performance.now()
  const running = await start()
  const seconds = (performance.now() - startedAt) / 1_000
  await running.end()
  return seconds
}

// Batches of messages: how fast send_batch responds compared with a bare handler, and how fast the queue empties.
import { setTimeout as sleep } from 'node:timers/promises'
import { maxBatchMessages } from '../contract/sms-text.ts'
import { sms } from '../contract/sms.ts'
import { formatTime } from '../contract/time.ts'
import type { Database } from '../server/db/database.ts'
import { median } from './measure.ts'
import { insertTemplate } from './paid-calls.ts'
import { cpuMsOf, startBare, startServer } from './processes.ts'
import { atMost, type Part } from './report.ts'
import { type BenchStorage, onEngines } from './storage.ts'

const settings = { LOG_LEVEL: 'warn', RATE_LIMIT: 'off' }

export const batchesBench = (part: Part) =>
  onEngines(part, async (storage) => {
    await insertTemplate(storage)
    await measureResponse(part, storage)
    await measureQueue(part, storage)
  })

function bodyOf({ payer }: BenchStorage, messages: number, more: object = {}): string {
  return JSON.stringify({
    action: 'send_batch',
    username: payer.username,
    api_key: payer.key,
    template_code: 'CODE',
    messages: Array.from({ length: messages }, (_one, index) => ({
      phone_number: String(13_800_000_000 + index),
      template_params: { code: String(100_000 + index) },
    })),
    ...more,
  })
}

async function post(url: string, body: string): Promise<unknown> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url + sms.path, { method: 'POST', headers, body })
  const text = await response.text()
  if (response.status !== 200)
    throw new Error(`send_batch returned ${response.status}: ${text.slice(0, 200)}`)
  return JSON.parse(text)
}

/** One call after another, in alternating rounds. Every message waits, so nothing is sent meanwhile. */
async function measureResponse(part: Part, storage: BenchStorage): Promise<void> {
  const messages = part.scale.count(maxBatchMessages)
  const calls = part.scale.quick ? 2 : 5
  const body = bodyOf(storage, messages, { send_at: formatTime(Date.now() + 86_400_000) })
  const service = await startServer({ ...storage.environment, ...settings, SMS_QUEUE_LIMIT: '1000000' })
  const bare = await startBare('batch', storage.url ?? `${storage.file!}.bare`)
  const time = async (url: string) => {
    const startedAt = performance.now()
    for (let call = 0; call < calls; call += 1) await post(url, body)
    return (performance.now() - startedAt) / calls
  }
  try {
    await time(bare.url)
    await time(service.url)
    const rounds: { bareMs: number; ms: number }[] = []
    for (let round = 0; round < part.scale.rounds; round += 1) {
      rounds.push({ bareMs: await time(bare.url), ms: await time(service.url) })
    }
    const ratio = median(rounds.map(({ ms, bareMs }) => ms / bareMs))
    const engine = storage.name
    part.row({
      name: `bare handler: ${messages} messages parsed, charged and inserted in one transaction`,
      engine,
      value: median(rounds.map(({ bareMs }) => bareMs)),
      unit: 'ms',
    })
    part.row({
      name: `send_batch of ${messages} messages`,
      engine,
      workers: 1,
      value: median(rounds.map(({ ms }) => ms)),
      unit: 'ms',
      ratio,
      ratioTo: 'bare handler',
      expected: storage.engine === 'sqlite' ? [atMost(3, ratio, 'bare handler')] : undefined,
    })
  } finally {
    await bare.end()
    await service.end()
  }
}

/** Everything that waits becomes due; measured from the first message that ended to the last. */
async function measureQueue(part: Part, storage: BenchStorage): Promise<void> {
  const { db, close } = await storage.open()
  const waiting = await countPending(db)
  const service = await startServer({ ...storage.environment, ...settings })
  try {
    await db.write(async (tx) => {
      await tx.run(`UPDATE sms_queue SET due_at = ${tx.now}`)
      await tx.run(`UPDATE sms_batch SET next_at = ${tx.now}`)
    })
    let first: { at: number; pending: number; cpu: number } | undefined
    for (;;) {
      const pending = await countPending(db)
      if (pending < waiting) first ??= { at: performance.now(), pending, cpu: cpuMsOf(service.pid) ?? 0 }
      if (pending === 0) break
      await sleep(10)
    }
    const messages = Math.max(1, first!.pending)
    const perSecond = Math.round(messages / Math.max(0.001, (performance.now() - first!.at) / 1000))
    const cpu = cpuMsOf(service.pid)
    part.row({
      name: `${waiting} messages of batches through the sandbox`,
      engine: storage.name,
      workers: 1,
      perSecond,
      ...(cpu !== undefined && { cpuMicros: Math.round(((cpu - first!.cpu) * 1000) / messages) }),
      expected:
        storage.engine === 'sqlite' ? [{ text: '≥ 5000 per second', met: perSecond >= 5_000 }] : undefined,
    })
  } finally {
    await service.end()
    await close()
  }
}

async function countPending(db: Database): Promise<number> {
  const row = await db.one<{ pending: number | null }>('SELECT SUM(pending) AS pending FROM sms_batch')
  return Number(row?.pending ?? 0)
}

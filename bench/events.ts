// Delivery of webhook events, compared with a loop that sends the same requests, and memory with a large backlog.
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent } from 'undici'
import { createAccount } from '../server/accounts/accounts.ts'
import { systemActor } from '../server/audit/audit.ts'
import type { Database } from '../server/db/database.ts'
import { createEventRules } from '../server/events/delivery.ts'
import { emitEvents } from '../server/events/emit.ts'
import { httpCall } from '../server/upstream/http-call.ts'
import { measure } from './measure.ts'
import { memoryOf, startBare, startServer } from './processes.ts'
import { atLeast, atMost, type Part } from './report.ts'
import { type BenchStorage, onEngines } from './storage.ts'

const endpoints = 20
/** The same as the dispatcher's. */
const concurrencyPerEndpoint = 16
const perTransaction = 1_000

export async function eventsBench(part: Part): Promise<void> {
  const receiver = await startBare('json', '40')
  try {
    const bare = await bareLoop(part, receiver.url)
    await onEngines(part, async (storage) => {
      await dispatch(part, storage, receiver.url, bare)
      await backlog(part, storage)
    })
  } finally {
    await receiver.end()
  }
}

async function bareLoop(part: Part, url: string): Promise<number> {
  const agent = new Agent({ connections: endpoints * concurrencyPerEndpoint })
  const body = JSON.stringify({ type: 'key.reset', timestamp: new Date().toISOString(), data: { n: 1 } })
  const request = () =>
    httpCall(
      { method: 'POST', url, headers: { 'content-type': 'application/json' }, body },
      { timeoutMs: 15_000, agent },
    )
  const measured = await measure(part.scale.count(20_000), 64, request)
  await agent.close()
  part.row({ name: 'the same requests in a loop, without a database', ...measured })
  return measured.perSecond
}

/** Events are waiting when the service starts; the rate is measured from the first delivery to the last. */
async function dispatch(part: Part, storage: BenchStorage, url: string, bare: number): Promise<void> {
  const count = part.scale.count(20_000)
  const { db, secretKey, close } = await storage.open()
  const accounts: number[] = []
  for (let i = 0; i < endpoints; i += 1) accounts.push(await addEndpoint(db, secretKey, `${url}/${i}`))
  for (let i = 0; i < count; i += perTransaction) {
    const accountId = accounts[(i / perTransaction) % accounts.length]!
    await emit(db, accountId, Math.min(perTransaction, count - i))
  }
  const service = await startServer({ ...storage.environment, WEBHOOK_ALLOW_PRIVATE: 'on' })
  try {
    let first: { at: number; delivered: number } | undefined
    for (;;) {
      const delivered = await countDelivered(db)
      if (delivered > 0) first ??= { at: performance.now(), delivered }
      if (delivered >= count) break
      await sleep(100)
    }
    const seconds = (performance.now() - first!.at) / 1000
    const perSecond = Math.round((count - first!.delivered) / Math.max(seconds, 0.001))
    part.row({
      name: `${count} events to ${endpoints} endpoints`,
      engine: storage.name,
      workers: 1,
      perSecond,
      ratio: perSecond / bare,
      ratioTo: 'loop',
      expected: [
        { text: '≥ 1000 per second', met: perSecond >= 1_000 },
        atLeast(0.1, perSecond / bare, 'loop'),
      ],
    })
  } finally {
    await service.end()
    await close()
  }
}

/** The receiver never responds, so that the service waits in both measurements, and the backlog is the only difference. */
async function backlog(part: Part, storage: BenchStorage): Promise<void> {
  const count = part.scale.count(1_000_000)
  const { db, secretKey, close } = await storage.open()
  const settings = { ...storage.environment, WEBHOOK_ALLOW_PRIVATE: 'on' }
  const settleMs = part.scale.quick ? 200 : 5_000
  const withoutMegabytes = await memoryAfter(settings, settleMs)
  const silent = createServer((socket) => socket.on('error', () => undefined).resume()).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const { port } = silent.address() as AddressInfo
  const accountId = await addEndpoint(db, secretKey, `http://127.0.0.1:${port}/`)
  for (let i = 0; i < count; i += perTransaction)
    await emit(db, accountId, Math.min(perTransaction, count - i))
  const withMegabytes = await memoryAfter(settings, settleMs)
  silent.close()
  await close()
  if (withoutMegabytes === undefined || withMegabytes === undefined) return
  part.row({
    name: `memory with a backlog of ${count} events`,
    engine: storage.name,
    workers: 1,
    value: withMegabytes,
    unit: 'MB',
    ratio: withMegabytes / withoutMegabytes,
    ratioTo: 'without',
    expected: [atMost(1.2, withMegabytes / withoutMegabytes, 'without')],
  })
}

async function memoryAfter(
  settings: Readonly<Record<string, string>>,
  ms: number,
): Promise<number | undefined> {
  const service = await startServer(settings)
  await sleep(ms)
  const megabytes = memoryOf(service.pid)
  await service.end()
  return megabytes
}

async function addEndpoint(db: Database, secretKey: string, url: string): Promise<number> {
  const { id } = await createAccount(db, systemActor, {
    username: `events${Math.random().toString(36).slice(2, 10)}`,
  })
  const rules = createEventRules({
    db,
    secretKey,
    config: { WEBHOOK_ALLOW_PRIVATE: 'on', MAIL_URL: undefined, MAIL_FROM: undefined },
    publicUrl: () => 'http://127.0.0.1',
  })
  await rules.webhooks.add(systemActor, id, { url, events: [] })
  await rules.close()
  return id
}

function emit(db: Database, accountId: number, count: number): Promise<void> {
  return db.write((tx) =>
    emitEvents(
      tx,
      Array.from({ length: count }, (_, n) => ({
        accountId,
        type: 'key.reset' as const,
        data: { n },
        alertKey: `key.reset ${n}`,
      })),
    ),
  )
}

async function countDelivered(db: Database): Promise<number> {
  const row = await db.one<{ count: number }>(
    `SELECT COUNT(*) AS count FROM event_delivery WHERE state = 'delivered'`,
  )
  return row?.count ?? 0
}

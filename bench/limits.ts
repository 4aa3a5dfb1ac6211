// Paid calls with a limited key and caps, compared in alternating rounds on one service with those of an account without limits.
import { apiTypes } from '../contract/credits.ts'
import { shortlink } from '../contract/shortlink.ts'
import { requireAccount } from '../server/accounts/accounts.ts'
import { systemActor } from '../server/audit/audit.ts'
import { changeAccountAndCaps } from '../server/credits/caps.ts'
import { runLoad } from './load.ts'
import { median } from './measure.ts'
import { paidCalls } from './paid-calls.ts'
import { cpuMsOf, type Running, startServer } from './processes.ts'
import { atLeast, atMost, type Part } from './report.ts'
import { type BenchStorage, createPayer, onEngines, type Payer } from './storage.ts'

interface LimitsRound {
  readonly perSecond: number
  readonly cpuMicros: number
}

export const limitsBench = (part: Part) => onEngines(part, (storage) => measureLimits(part, storage))

async function measureLimits(part: Part, storage: BenchStorage): Promise<void> {
  const limited = await createPayer(storage.open, 'limited')
  await setLimits(storage, limited)
  const service = await startServer({ ...storage.environment, LOG_LEVEL: 'warn' })
  try {
    const rounds: Record<'plain' | 'limited', LimitsRound[]> = { plain: [], limited: [] }
    // Warm-up.
    if (!part.scale.quick) await measureRound(part, service, storage.payer)
    for (let round = 0; round < part.scale.rounds; round += 1) {
      rounds.plain.push(await measureRound(part, service, storage.payer))
      rounds.limited.push(await measureRound(part, service, limited))
      // The order alternates: the first account of a round may still have to wait for the writes of the last one.
      rounds.limited.push(await measureRound(part, service, limited))
      rounds.plain.push(await measureRound(part, service, storage.payer))
    }
    const ratioOf = (field: keyof LimitsRound) =>
      median(rounds.limited.map((one, index) => one[field] / rounds.plain[index]![field]))
    const ratio = ratioOf('perSecond')
    for (const [kind, name] of [
      ['plain', 'generate without limits'],
      ['limited', 'generate with scopes, 100 addresses and caps'],
    ] as const) {
      part.row({
        name,
        engine: storage.name,
        workers: 1,
        perSecond: Math.round(median(rounds[kind].map(({ perSecond }) => perSecond))),
        cpuMicros: Math.round(median(rounds[kind].map(({ cpuMicros }) => cpuMicros))),
        ...(kind === 'limited' && {
          ratio,
          ratioTo: 'without limits',
          note: `CPU time: ${ratioOf('cpuMicros').toFixed(3)} × without limits`,
          expected: [
            atLeast(0.98, ratio, 'without limits'),
            atMost(1.02, ratioOf('cpuMicros'), 'CPU time without limits'),
          ],
        }),
      })
    }
  } finally {
    await service.end()
  }
}

/** The address of the load generator is the last one of a full list. */
async function setLimits({ open }: BenchStorage, { username }: Payer): Promise<void> {
  const { db, close } = await open()
  const caps = Object.fromEntries(apiTypes.map((apiType) => [apiType, 900_000_000]))
  await changeAccountAndCaps(db, systemActor, await requireAccount(db, username), {
    scopes: ['short_link:write', 'sms:write', 'id_verification:write', 'domain_check:write'],
    allowIps: [...Array.from({ length: 98 }, (_, n) => `203.0.113.${n}`), '2001:db8::/32', '127.0.0.0/8'],
    dailyCap: caps,
    monthlyCap: caps,
  })
  await close()
}

async function measureRound(part: Part, service: Running, payer: Payer): Promise<LimitsRound> {
  const before = cpuMsOf(service.pid) ?? 0
  const { perSecond, calls } = await runLoad({
    method: 'POST',
    paths: [shortlink.path],
    status: 200,
    seconds: part.scale.seconds,
    url: service.url,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(paidCalls.generate.body(payer)),
  })
  const cpuMs = (cpuMsOf(service.pid) ?? 0) - before
  return { perSecond, cpuMicros: (cpuMs * 1000) / Math.max(1, calls) }
}

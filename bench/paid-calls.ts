// Paid calls over HTTP, compared in alternating rounds with a bare handler that parses the same JSON and returns as many
// bytes: the cost of authentication, charge, records and settlement.
import { systemActor } from '../server/audit/audit.ts'
import { identity } from '../contract/identity.ts'
import { shortlink } from '../contract/shortlink.ts'
import { sms } from '../contract/sms.ts'
import { createTemplate } from '../server/sms/templates.ts'
import { compare } from './compare.ts'
import { newKey, runLoad, type SameLoad } from './load.ts'
import { isInstalled } from './machine.ts'
import { median } from './measure.ts'
import { runPgbench } from './pgbench.ts'
import { type Running, startBare, startServer } from './processes.ts'
import { atLeast, type Part } from './report.ts'
import { type BenchStorage, createPayer, onEngines, type Payer } from './storage.ts'

export interface PaidCall {
  readonly name: string
  readonly path: string
  /** Expected speed of one process on SQLite as a ratio to the bare handler. */
  readonly minRatio?: number
  readonly body: (payer: Payer) => unknown
  readonly headers?: (payer: Payer) => Readonly<Record<string, string>>
  readonly settings?: Readonly<Record<string, string>>
  readonly prepare?: (storage: BenchStorage) => Promise<void>
  /** Calls of so many accounts, which send their credentials in the query. */
  readonly accounts?: number
}

/** The bare handler writes no log, so the service does not log each call either. */
const withoutCallLog = { LOG_LEVEL: 'warn' }

const anyGenerate: PaidCall = {
  name: 'generate',
  path: shortlink.path,
  body: ({ username, key }) => ({
    username,
    api_key: key,
    action: 'generate',
    target_url: 'https://example.com/landing?from=bench',
    title: 'benchmark',
  }),
}
const generate: PaidCall = { ...anyGenerate, minRatio: 0.38 }

const accounts = 50
const generateOfMany: PaidCall = { ...generate, name: `generate of ${accounts} accounts`, accounts }

/** Clients in all languages send one with each paid call. */
const generateWithKeys: PaidCall = {
  ...anyGenerate,
  name: 'generate with an Idempotency-Key',
  headers: () => ({ 'idempotency-key': newKey }),
}

const send: PaidCall = {
  name: 'send_sms through the sandbox',
  path: sms.path,
  minRatio: 0.2,
  settings: withoutCallLog,
  body: ({ username, key }) => ({
    action: 'send_sms',
    username,
    api_key: key,
    phone_number: '13800138000',
    template_code: 'CODE',
    template_params: { code: '123456' },
  }),
  prepare: insertTemplate,
}

const verify: PaidCall = {
  name: 'identity verification through the sandbox',
  path: identity.path,
  settings: withoutCallLog,
  headers: ({ key }) => ({ api_key: key }),
  body: () => ({ name: '张三', idcard: '11010519491231002X' }),
}

export async function insertTemplate({ open, payer }: Pick<BenchStorage, 'open' | 'payer'>): Promise<void> {
  const { db, close } = await open()
  await createTemplate(db, systemActor, {
    accountId: payer.id,
    code: 'CODE',
    name: '验证码',
    content: '您的验证码是${code}，5分钟内有效。',
    status: '审核通过',
  })
  await close()
}

export const paidCalls = { generate, send, verify }

export const generateBench = (part: Part) =>
  onEngines(part, async (storage) => {
    await measureCall(part, storage, generate)
    await measureCall(part, storage, generateOfMany)
    await measureCall(part, storage, generateWithKeys)
    await measureBatch(part, storage)
    await measureHotAccount(part, storage)
  })

export const sendBench = (part: Part) => onEngines(part, (storage) => measureCall(part, storage, send))

export const identityBench = (part: Part) => onEngines(part, (storage) => measureCall(part, storage, verify))

async function measureCall(part: Part, storage: BenchStorage, call: PaidCall): Promise<void> {
  await call.prepare?.(storage)
  for (const workers of part.scale.workers) await measureWith(part, storage, call, workers)
}

/** PostgreSQL: `generate` of one account against pgbench charging one account with a statement per call, in alternating rounds. */
async function measureHotAccount(part: Part, storage: BenchStorage): Promise<void> {
  const { engine, name: engineName, url, payer } = storage
  if (engine !== 'postgres' || url === undefined) return
  const row = { name: 'generate, one hot account', engine: engineName, workers: 1 }
  if (!isInstalled('pgbench')) {
    part.row({ ...row, skipped: 'pgbench is not installed' })
    return
  }
  const clients = 64
  const { seconds, rounds } = part.scale
  const service = await startServer({ ...storage.environment, ...withoutCallLog })
  const load = { url: service.url, method: 'POST', paths: [shortlink.path], status: 200, seconds } as const
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify(generate.body(payer))
  try {
    const results: { perSecond: number; ratio: number }[] = []
    // The first round is the warm-up.
    for (let round = 0; round <= rounds; round += 1) {
      const single = await runPgbench(url, { first: payer.id, last: payer.id, clients, seconds })
      const { perSecond } = await runLoad({ ...load, headers, body, connections: clients })
      if (round > 0 || part.scale.quick) results.push({ perSecond, ratio: perSecond / single.perSecond })
    }
    const ratio = median(results.map((result) => result.ratio))
    const perSecond = median(results.map((result) => result.perSecond))
    const expected = [atLeast(5, ratio, 'pgbench')]
    part.row({ ...row, perSecond: Math.round(perSecond), ratio, ratioTo: 'pgbench', expected })
  } finally {
    await service.end()
  }
}

/** On PostgreSQL one statement writes all links of a call, and its rows cost more than those of SQLite. */
const minBatchRatio = { sqlite: 8, postgres: 3 } as const

/** Links per second in batches against one by one, in alternating rounds on the same service. */
async function measureBatch(part: Part, storage: BenchStorage): Promise<void> {
  const { username, key } = storage.payer
  const perBatch = 100
  const link = { target_url: 'https://example.com/landing?from=bench', title: 'benchmark' }
  const batch = {
    username,
    api_key: key,
    action: 'generate_batch',
    links: Array.from({ length: perBatch }, () => link),
  }
  const service = await startServer(storage.environment)
  const rate = async (body: unknown) => {
    const load = {
      method: 'POST',
      paths: [shortlink.path],
      status: 200,
      seconds: part.scale.seconds,
    } as const
    const headers = { 'content-type': 'application/json' }
    return (await runLoad({ ...load, url: service.url, headers, body: JSON.stringify(body) })).perSecond
  }
  try {
    const rounds: { perSecond: number; ratio: number }[] = []
    for (let round = 0; round < part.scale.rounds; round += 1) {
      const single = await rate(generate.body(storage.payer))
      const perSecond = (await rate(batch)) * perBatch
      rounds.push({ perSecond, ratio: perSecond / Math.max(1, single) })
    }
    const ratio = median(rounds.map((round) => round.ratio))
    part.row({
      name: `links by generate_batch of ${perBatch}`,
      engine: storage.name,
      workers: 1,
      perSecond: median(rounds.map(({ perSecond }) => perSecond)),
      ratio,
      ratioTo: 'generate',
      expected: [atLeast(minBatchRatio[storage.engine], ratio, 'generate')],
    })
  } finally {
    await service.end()
  }
}

/** `what` describes the content of a database that was filled before. */
export async function measureWith(
  part: Part,
  storage: BenchStorage,
  call: PaidCall,
  workers: number,
  what = '',
): Promise<void> {
  const { name: engine } = storage
  const payers: Payer[] = []
  for (let n = 0; n < (call.accounts ?? 0); n += 1) payers.push(await createPayer(storage.open, `bench-${n}`))
  const service = await startServer({ ...storage.environment, ...call.settings }, workers)
  const { load, bare } = await startBareCall(service, storage, call, payers)
  try {
    const { minRatio } = call
    const isExpected = workers === 1 && storage.engine === 'sqlite' && what === '' && !call.accounts
    await compare(
      part,
      load,
      {
        name: 'bare handler',
        url: bare.url,
        pid: bare.pid,
        note: `same bodies, compared with ${engine}, workers: ${workers}`,
      },
      [
        {
          name: `${call.name}${what}`,
          url: service.url,
          pid: service.pid,
          engine,
          workers,
          ...(minRatio !== undefined && isExpected
            ? { expects: (ratio) => [atLeast(minRatio, ratio, 'bare handler')] }
            : {}),
        },
      ],
    )
  } finally {
    await bare.end()
    await service.end()
  }
}

/** The load of a call, and a bare handler that returns as many bytes as the service. */
export async function startBareCall(
  service: Running,
  { payer }: BenchStorage,
  call: PaidCall,
  payers: readonly Payer[] = [],
): Promise<{ readonly load: SameLoad; readonly bare: Running }> {
  const headers = { 'content-type': 'application/json', ...call.headers?.(payer) }
  const queries = payers.map(({ username, key }) => `username=${username}&api_key=${key}`)
  const paths = payers.length === 0 ? [call.path] : queries.map((query) => `${call.path}?${query}`)
  const isInQuery = (name: string) => payers.length > 0 && (name === 'username' || name === 'api_key')
  const body = JSON.stringify(call.body(payer), (name, value: unknown) =>
    isInQuery(name) ? undefined : value,
  )
  const response = await fetch(service.url + paths[0]!, { method: 'POST', headers, body })
  const text = await response.text()
  if (response.status !== 200)
    throw new Error(`${call.name} returned ${response.status}: ${text.slice(0, 200)}`)
  const bare = await startBare('json', String(Buffer.byteLength(text)))
  return { load: { method: 'POST', paths, headers, body, status: 200 }, bare }
}

// Sending through the sandbox beside a bare handler with the same bodies, and looking up records among a thousand and a million.
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Pool } from 'undici'
import { createAccount, resetKey } from '../server/accounts/accounts.ts'
import { readConfig } from '../server/config.ts'
import { openCredits } from '../server/credits/credits.ts'
import type { Database } from '../server/db/database.ts'
import { openInstallation } from '../server/installation.ts'
import { findSends } from '../server/sms/store.ts'
import { createTemplate } from '../server/sms/templates.ts'
import { startPostgres } from '../test/support/postgres.ts'
import { spawnService } from '../test/support/service.ts'
import { type Measured, measure, printRow } from './measure.ts'

const inFlight = 64
const warmUp = 4_000
const turns = 8
const perTurn = 1_500
const lookups = 2_000
const few = 1_000
const many = 1_000_000

export async function smsBench(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-bench-'))
  const postgres = await startPostgres({ durable: true })
  try {
    process.stdout.write(`sms, ${inFlight} in flight\n`)
    await benchEngine('SQLite', { DATA_DIR: join(directory, 'sqlite') })
    await benchEngine('PostgreSQL', { DATA_DIR: join(directory, 'postgres'), DATABASE_URL: postgres.url })
  } finally {
    await postgres.stop()
    rmSync(directory, { recursive: true, force: true })
  }
}

async function benchEngine(name: string, environment: Readonly<Record<string, string>>): Promise<void> {
  const installation = await openInstallation(readConfig(environment))
  const { db, secretKey } = installation
  const { id } = await createAccount(db, { username: 'bench' })
  const key = await resetKey(db, id)
  await openCredits(db, secretKey).grant({ accountId: id, apiType: 'sms', amount: 1_000_000_000 })
  await createTemplate(
    db,
    { kind: 'operator' },
    {
      accountId: id,
      code: 'CODE',
      name: '验证码',
      content: '您的验证码是${code}，5分钟内有效。',
      status: '审核通过',
    },
  )
  const body = JSON.stringify({
    action: 'send_sms',
    username: 'bench',
    api_key: key,
    phone_number: '13800138000',
    template_code: 'CODE',
    template_params: { code: '123456' },
  })

  // The bare handler writes no log, so neither does the service write a line for each call.
  const service = await spawnService({ ...environment, SAMPLE_ACCOUNT: 'off', LOG_LEVEL: 'warn' })
  const bare = await spawnBare()
  const limit = openLoad(bare.url, bare.pid, body)
  const ours = openLoad(service.url, service.child.pid, body)
  await limit.run(warmUp)
  await ours.run(warmUp)
  limit.forget()
  ours.forget()
  // In short turns, so that a noisy moment of the machine meets both.
  for (let turn = 0; turn < turns; turn++) {
    await limit.run(perTurn)
    await ours.run(perTurn)
  }
  const [bareFigures, figures] = [limit.figures(), ours.figures()]
  printRow('bare handler, same bodies, own process', bareFigures, bareFigures.cpu)
  printRow(
    `${name}, send_sms through the sandbox`,
    figures,
    `${figures.cpu}, ${(figures.perSecond / bareFigures.perSecond).toFixed(2)} × bare`,
  )
  await limit.close()
  await ours.close()
  bare.stop()
  await service.kill('SIGTERM')

  await db.write((tx) => tx.run('DELETE FROM sms_send'))
  await fill(db, id, few)
  const small = await lookUp(db, id)
  await fill(db, id, many - few)
  const large = await lookUp(db, id)
  for (const [query, measured] of Object.entries(large)) {
    const before = small[query]!
    printRow(`${name}, get_status by ${query}, ${few} records`, before)
    printRow(
      `${name}, get_status by ${query}, ${many} records`,
      measured,
      `p50 ${(measured.p50 / before.p50).toFixed(2)} ×`,
    )
  }
  await installation.close()
}

/** Many short loads on one address, added up, with the processor time its process took where that can be read. */
function openLoad(url: string, pid: number | undefined, body: string) {
  const pool = new Pool(url, { connections: inFlight })
  const headers = { 'content-type': 'application/json' }
  let rounds: Measured[] = []
  let cpuMs = 0

  async function one(): Promise<void> {
    const answer = await pool.request({ method: 'POST', path: '/api/sms_api.php', headers, body })
    const text = await answer.body.text()
    if (!text.startsWith('{"code":0')) throw new Error(`unexpected answer: ${text.slice(0, 200)}`)
  }

  return {
    async run(count: number): Promise<void> {
      const before = cpuMsOf(pid)
      rounds.push(await measure(count, inFlight, one))
      cpuMs += cpuMsOf(pid) - before
    },
    forget(): void {
      rounds = []
      cpuMs = 0
    },
    figures(): Measured & { cpu: string } {
      const seconds = rounds.reduce((sum, { perSecond }) => sum + perTurn / perSecond, 0)
      const calls = rounds.length * perTurn
      const middle = rounds.toSorted((a, b) => a.p50 - b.p50)[Math.floor(rounds.length / 2)]!
      const cpu = `cpu ${Math.round((cpuMs * 1000) / calls)} µs a call`
      return { perSecond: Math.round(calls / seconds), p50: middle.p50, p99: middle.p99, cpu }
    },
    close: () => pool.close(),
  }
}

/** Processor time of a process so far, in ticks of 10 ms; nothing where there is no /proc. */
function cpuMsOf(pid: number | undefined): number {
  const file = `/proc/${pid}/stat`
  if (pid === undefined || !existsSync(file)) return 0
  const fields = readFileSync(file, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10
}

/** What no service can beat: read the body, parse it, answer as much as a send does. */
const bareSource = `
  const { createServer } = require('node:http')
  const server = createServer((request, response) => {
    const chunks = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      const { phone_number } = JSON.parse(Buffer.concat(chunks).toString())
      const data = { phone_number, biz_id: '100000000000000001', send_time: '2026-01-02 03:04:05', remaining_credits: 1 }
      response.setHeader('content-type', 'application/json; charset=utf-8')
      response.end(JSON.stringify({ code: 0, message: 'success', data }))
    })
  })
  server.listen(0, '127.0.0.1', () => console.log(server.address().port))
`

async function spawnBare(): Promise<{ url: string; pid: number | undefined; stop(): void }> {
  const child = spawn(process.execPath, ['--input-type=commonjs', '-e', bareSource], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const port = await new Promise<string>((resolve) =>
    child.stdout.once('data', (data: Buffer) => resolve(data.toString().trim())),
  )
  return { url: `http://127.0.0.1:${port}`, pid: child.pid, stop: () => void child.kill() }
}

/** Records of one account over thirty days, to fifty numbers. */
async function fill(db: Database, accountId: number, count: number): Promise<void> {
  const series =
    db.engine === 'sqlite'
      ? `WITH RECURSIVE s (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < ${count}) SELECT`
      : 'SELECT'
  const from = db.engine === 'sqlite' ? 's' : `generate_series(1, ${count}) AS s (n)`
  await db.write((tx) =>
    tx.run(
      `INSERT INTO sms_send (account_id, operation_id, phone, template_code, template_params, sign_name, parts, gateway,
         state, success, created_at)
       ${series} ${accountId}, n, CAST(13900000000 + n % 50 AS text), 'CODE', '{"code":"123456"}', 'Tollgate', 1,
         'sandbox', 'accepted', 1, ${tx.now} - 2592000000 + CAST(n AS bigint) * (2592000000 / ${count}) FROM ${from}`,
    ),
  )
  if (db.engine === 'postgres') await db.write((tx) => tx.run('ANALYZE sms_send'))
}

async function lookUp(db: Database, accountId: number): Promise<Record<string, Measured>> {
  const newest = await db.one<{ id: number; created_at: number }>(
    'SELECT id, created_at FROM sms_send ORDER BY id DESC LIMIT 1',
  )
  const { id, created_at: until } = newest!
  const dayMs = 86_400_000
  // Twenty rows to each question, few records or many, so that only finding them differs.
  const phoneOf = (index: number) => String(13_900_000_000 + (index % 50))
  const questions = {
    biz_id: (index: number) => ({ accountId, bizId: `1${String(id - (index % few)).padStart(17, '0')}` }),
    phone_number: (index: number) => ({ accountId, phone: phoneOf(index) }),
    dates: (index: number) => ({
      accountId,
      from: until - ((index % 29) + 1) * dayMs,
      before: until - (index % 29) * dayMs,
    }),
  }
  const measured: Record<string, Measured> = {}
  for (const [query, filter] of Object.entries(questions)) {
    await measure(500, 1, (index) => findSends(db, filter(index), 20))
    measured[query] = await measure(lookups, 1, (index) => findSends(db, filter(index), 20))
  }
  return measured
}

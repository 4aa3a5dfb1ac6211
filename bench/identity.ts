// Verifications per second over HTTP with the sandbox gateway, beside a bare handler that reads the same body and gives
// the same answer: what the key check, the charge, the record and the end cost.
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { Pool } from 'undici'
import { identity } from '../contract/identity.ts'
import { startPostgres } from '../test/support/postgres.ts'
import { admin, spawnService } from '../test/support/service.ts'
import { type Measured, measure, printRow } from './measure.ts'

const inFlight = 64
const calls = 20_000

const person = { name: '张三', idcard: '11010519491231002X' }

export async function identityBench(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-bench-'))
  const postgres = await startPostgres({ durable: true })
  try {
    process.stdout.write(`identity verification over HTTP, sandbox gateway, ${inFlight} in flight\n`)
    const bare = await measureBare()
    printRow('bare handler, no database', bare)
    await measureService('SQLite', { DATA_DIR: join(directory, 'sqlite') }, bare)
    await measureService(
      'PostgreSQL',
      { DATA_DIR: join(directory, 'postgres'), DATABASE_URL: postgres.url },
      bare,
    )
  } finally {
    await postgres.stop()
    rmSync(directory, { recursive: true, force: true })
  }
}

async function measureService(
  name: string,
  environment: Readonly<Record<string, string>>,
  bare: Measured,
): Promise<void> {
  const settings = { SAMPLE_ACCOUNT: 'off', LOG_LEVEL: 'warn', ...environment }
  const made = await admin(
    settings,
    'account',
    'create',
    'bench',
    '--credits',
    'id_verification=1000000',
    '--json',
  )
  const { api_key: key } = JSON.parse(made.stdout) as { api_key: string }
  const service = await spawnService(settings)
  try {
    const measured = await load(service.url, key)
    printRow(
      `service, ${name}`,
      measured,
      `${(measured.perSecond / bare.perSecond).toFixed(2)} × bare handler`,
    )
  } finally {
    await service.kill('SIGTERM')
  }
}

async function measureBare(): Promise<Measured> {
  const worker = new Worker(bareHandler, { eval: true })
  const [port] = (await once(worker, 'message')) as [number]
  try {
    return await load(`http://127.0.0.1:${port}`, 'none')
  } finally {
    await worker.terminate()
  }
}

const bareHandler = `
  const { createServer } = require('node:http')
  const { parentPort } = require('node:worker_threads')
  const extra = { sex: '女', birthday: '1949-12-31', age: 76, province: '北京市' }
  const server = createServer((request, response) => {
    const chunks = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      const { name, idcard } = JSON.parse(Buffer.concat(chunks).toString())
      const matched = name.length > 1 && idcard.length === 18
      response.setHeader('content-type', 'application/json; charset=utf-8')
      response.end(JSON.stringify({ success: true, message: '验证通过', matched, extra }))
    })
  })
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))
`

async function load(url: string, key: string): Promise<Measured> {
  const pool = new Pool(url, { connections: inFlight })
  const body = JSON.stringify(person)
  const headers = { 'content-type': 'application/json', api_key: key }
  const one = async () => {
    const response = await pool.request({ method: 'POST', path: identity.path, headers, body })
    const answer = (await response.body.json()) as { matched?: boolean }
    if (answer.matched !== true) throw new Error(`not verified: HTTP ${response.statusCode}`)
  }
  try {
    // Both sides are measured warm.
    await measure(2_000, inFlight, one)
    return await measure(calls, inFlight, one)
  } finally {
    await pool.close()
  }
}

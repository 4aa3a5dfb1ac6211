// The service under test: sends a case and checks its response, the log and the balances.
import { Agent, request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { systemActor } from '../../server/audit/audit.ts'
import { type ApiType, apiTypes } from '../../contract/credits.ts'
import { consoleApi } from '../../contract/console/route.ts'
import { createAccount } from '../../server/accounts/accounts.ts'
import { insertSession } from '../../server/accounts/session-store.ts'
import { findPasswordHash } from '../../server/accounts/store.ts'
import { csrfPurpose } from '../../server/console/console.ts'
import { createSessionToken, hashSessionToken } from '../../server/console/session-token.ts'
import { checkLedger } from '../../server/credits/ledger/check-store.ts'
import type { Engine } from '../../server/db/database.ts'
import { deriveSecret } from '../../server/runtime/installation.ts'
import { createTemplate } from '../../server/sms/templates.ts'
import { get, startService, type TestService } from '../support/service.ts'
import type { ApiCase, ConsoleCase, FuzzCase, RawCase } from './case.ts'
import { apiRequest, consoleRequest, damaged, type OutgoingRequest, type FuzzSession } from './requests.ts'

/** Max time until a response. */
const timeoutMs = 20_000

const credits = 1_000_000_000

export interface Target extends AsyncDisposable {
  /** Sends a case. Throws if a check fails. */
  runCase(one: FuzzCase): Promise<void>
  /** Throws unless the service is ready and the ledger is correct. */
  checkHealth(): Promise<void>
  readonly seen: { readonly statuses: Record<string, number>; paid: number }
}

interface FuzzReply {
  readonly status: number
  readonly text: string
  /** Whether this is the stored response of an earlier call, which was charged then. */
  readonly replayed?: boolean
}

type Balances = Record<ApiType, number>

export async function openTarget(engine: Engine): Promise<Target> {
  const service = await startService(engine, { SWEEP_S: '3600', SIGN_UP: 'off' })
  const { db } = service.installation
  const initialCredits = Object.fromEntries(apiTypes.map((type) => [type, credits]))
  const holder = await service.account(initialCredits)
  // A separate account for the console: its background jobs are charged later.
  const client = await service.account(initialCredits)
  const otherAccount = await service.account()
  const victim = await service.account({ sms: 1_000 })
  const operator = await createAccount(db, systemActor, { username: 'fuzzing-operator', role: 'operator' })
  for (const [code, content] of [
    ['CODE', '您的验证码是${code}。'],
    ['PLAIN', '您好'],
  ] as const) {
    for (const accountId of [holder.id, client.id]) {
      const template = { accountId, code, name: code, content, status: '审核通过' } as const
      await createTemplate(db, systemActor, template)
    }
  }
  const agent = new Agent({ keepAlive: true, maxSockets: 4 })
  const seen = { statuses: {} as Record<string, number>, paid: 0 }
  const sessions = {
    account: await openSession(service, client.id),
    operator: await openSession(service, operator.id),
  }

  async function balances(accountId: number): Promise<Balances> {
    const rows = await db.all<{ api_type: ApiType; total: number; used: number }>(
      'SELECT api_type, total, used FROM credit WHERE account_id = ?',
      [accountId],
    )
    return Object.fromEntries(rows.map((row) => [row.api_type, row.total - row.used])) as Balances
  }

  async function runCase(one: FuzzCase): Promise<void> {
    const payer = one.kind === 'console' ? client.id : holder.id
    const before = await balances(payer)
    const reply =
      one.kind === 'raw'
        ? await sendRaw(service, one)
        : one.kind === 'api'
          ? await send(agent, apiRequest(service, one, { holder, otherAccount }))
          : await send(agent, consoleRequest(service, one, sessions, victim.id))
    const label = `${one.kind} ${reply?.status ?? 'closed'}`
    seen.statuses[label] = (seen.statuses[label] ?? 0) + 1
    requireNoFailure(service, reply)
    const now = await balances(payer)
    const spent = differences(before, now)
    if (one.kind === 'api') seen.paid += requireExpectedCost(one, reply!, spent, now)
    else if (one.kind === 'console') seen.paid += requireReportedCost(one, reply!, spent)
    else requireNothingSpent(spent)
    if (one.kind === 'console' && reply!.status < 400 && one.method !== 'GET') await renewSessions()
  }

  /** A case may sign out or end sessions. Signs in again for the next case. */
  async function renewSessions(): Promise<void> {
    for (const [name, id] of [
      ['account', client.id],
      ['operator', operator.id],
    ] as const) {
      const { me } = (await get(`${service.url}${consoleApi}/start`, { cookie: sessions[name].cookie })).body
      if (!me) sessions[name] = await openSession(service, id)
    }
  }

  return {
    runCase,
    seen,
    async checkHealth() {
      const ready = await get(`${service.url}/readyz`)
      if (ready.status !== 200) throw new Error(`not ready after the run: ${ready.status}`)
      await service.app.requestLog.flush()
      const { problems } = await checkLedger(db, 60_000)
      if (problems.length > 0) throw new Error(`the ledger is wrong: ${problems.join('; ')}`)
    },
    async [Symbol.asyncDispose]() {
      agent.destroy()
      await service[Symbol.asyncDispose]()
    },
  }
}

async function openSession({ installation, url }: TestService, accountId: number): Promise<FuzzSession> {
  const token = createSessionToken(deriveSecret(installation.secretKey, csrfPurpose))
  const tokenHash = hashSessionToken(token)
  const passwordHash = (await findPasswordHash(installation.db, accountId)) ?? ''
  await installation.db.write((tx) =>
    insertSession(tx, {
      tokenHash,
      accountId,
      proof: { method: 'password', passwordHash },
      secondFactor: 'none',
      address: '127.0.0.1',
      agent: 'fuzz',
    }),
  )
  const cookie = `tg_session=${token}`
  const { body } = await get(`${url}${consoleApi}/start`, { cookie })
  return { cookie, csrf: body.me.csrf_token }
}

function requireNoFailure(service: TestService, reply: FuzzReply | undefined): void {
  if (reply && reply.status >= 500 && reply.status !== 505) {
    throw new Error(`returned ${reply.status}: ${reply.text.slice(0, 500)}`)
  }
  const failures = service.logged.filter((line) => /"level":[56]0/.test(line))
  service.logged.length = 0
  if (failures.length > 0) throw new Error(`logged ${failures[0]}`)
  if (Object.keys(Object.prototype).length > 0) throw new Error('Object.prototype was changed')
}

function differences(before: Balances, after: Balances): Partial<Balances> {
  return Object.fromEntries(
    apiTypes.flatMap((type) => (before[type] === after[type] ? [] : [[type, before[type] - after[type]]])),
  )
}

function requireNothingSpent(spent: Partial<Balances>): void {
  if (Object.keys(spent).length > 0) throw new Error(`balances changed: ${JSON.stringify(spent)}`)
}

/** The response must report the cost. Bulk and scheduled domain checks are charged in the background. */
function requireReportedCost(one: ConsoleCase, reply: FuzzReply, changes: Partial<Balances>): number {
  const spent = { ...changes }
  delete spent.domain_check
  const cost = Object.values(spent).reduce((sum, amount) => sum + amount, 0)
  const { charged = 0, given_back: givenBack = 0 } = reply.status < 400 ? parsed(reply.text) : {}
  // A replayed response reports the cost of the first call.
  const isReplay = cost === 0 && one.headers['idempotency-key'] !== undefined
  if (cost !== charged - givenBack && !isReplay && !one.route.startsWith('/domain-check')) {
    throw new Error(
      `cost ${JSON.stringify(spent)}, but the response says ${charged}: ${reply.status} ${reply.text.slice(0, 300)}`,
    )
  }
  return cost > 0 ? 1 : 0
}

/** The cost of a call must match its response: 0 unless it succeeded. Returns 1 if it was charged, else 0. */
function requireExpectedCost(
  one: ApiCase,
  reply: FuzzReply,
  spent: Partial<Balances>,
  now: Balances,
): number {
  const expected =
    reply.replayed || reply.status !== 200 ? undefined : expectedCost(one.endpoint, parsed(reply.text))
  const problem = expected ? hasWrongCost(expected, spent, now) : Object.keys(spent).length > 0
  if (problem) {
    throw new Error(
      `cost ${JSON.stringify(spent)}, but the response says ${JSON.stringify(expected)}: ${reply.status} ${reply.text.slice(0, 300)}`,
    )
  }
  return expected ? 1 : 0
}

interface ExpectedCost {
  readonly type: ApiType
  readonly min: number
  readonly max: number
  readonly remaining?: number
}

function hasWrongCost(
  { type, min, max, remaining }: ExpectedCost,
  spent: Partial<Balances>,
  now: Balances,
): boolean {
  const cost = spent[type] ?? 0
  const others = Object.keys(spent).some((name) => name !== type)
  return others || cost < min || cost > max || (remaining !== undefined && remaining !== now[type])
}

// oxlint-disable-next-line typescript/no-explicit-any -- responses of every shape
function parsed(text: string): any {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

/** 500 characters are at most eight messages. */
const maxParts = 8

/** The cost of a successful call; undefined if it is free. */
// oxlint-disable-next-line typescript/no-explicit-any -- responses of every shape
function expectedCost(endpoint: string, body: any): ExpectedCost | undefined {
  const { data } = body
  const exactly = (type: ApiType, amount: number, remaining?: number): ExpectedCost => ({
    type,
    min: amount,
    max: amount,
    ...(remaining !== undefined && { remaining }),
  })
  switch (endpoint) {
    case '/api/shortlink_api.php':
      return data?.remaining_balance === undefined
        ? undefined
        : exactly('short_link', 1, data.remaining_balance)
    case '/api/sms_api.php':
      if (data?.batch_id !== undefined && data.accepted > 0)
        return {
          type: 'sms',
          min: data.accepted,
          max: data.accepted * maxParts,
          remaining: data.remaining_credits,
        }
      return data?.biz_id === undefined || Array.isArray(data)
        ? undefined
        : { type: 'sms', min: 1, max: maxParts, remaining: data.remaining_credits }
    case '/api/id_verification_api.php':
      return body.success === true ? exactly('id_verification', 1) : undefined
    default: {
      const results: string[] = data?.results ?? []
      const checkedCount = results.filter((result) => result !== '请求失败').length
      return exactly('domain_check', checkedCount, data?.remaining_credits)
    }
  }
}

function send(agent: Agent, out: OutgoingRequest): Promise<FuzzReply> {
  return new Promise((resolve, reject) => {
    const headers = { ...out.headers }
    // Without `expect` the client sends the body immediately.
    delete headers['expect']
    // By default the client sends the body of a DELETE without a length, so the server reads it as the next request.
    if (out.body && out.chunked) headers['transfer-encoding'] = 'chunked'
    else if (out.body) headers['content-length'] = String(out.body.length)
    const sent = httpRequest(
      out.url,
      { method: out.method, headers, agent, timeout: timeoutMs },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            text: Buffer.concat(chunks).toString(),
            replayed: response.headers['idempotent-replayed'] === 'true',
          }),
        )
        response.on('error', reject)
      },
    )
    sent.on('timeout', () => sent.destroy(new Error(`no response within ${timeoutMs} ms`)))
    sent.on('error', reject)
    sent.end(out.body)
  })
}

/** Sends the bytes, ends the socket and returns the first response; undefined if the server closed without one. */
function sendRaw(service: TestService, { text, damage }: RawCase): Promise<FuzzReply | undefined> {
  const { port, hostname } = new URL(service.url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname)
    const chunks: Buffer[] = []
    const timer = setTimeout(() => {
      socket.destroy()
      reject(new Error(`the socket was still open after ${timeoutMs} ms`))
    }, timeoutMs)
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.on('error', () => undefined)
    socket.on('close', () => {
      clearTimeout(timer)
      const received = Buffer.concat(chunks).toString('latin1')
      const status = /^HTTP\/1\.1 (\d{3})/.exec(received)?.[1]
      resolve(status === undefined ? undefined : { status: Number(status), text: received })
    })
    socket.end(damaged(Buffer.from(text, 'latin1'), damage))
  })
}

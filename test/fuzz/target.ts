// The service under fire: sends a case, and says what must not have happened.
import { createHash, randomBytes } from 'node:crypto'
import { Agent, request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { systemActor } from '../../server/audit/audit.ts'
import { type ApiType, apiTypes } from '../../contract/credits.ts'
import { consoleApi } from '../../contract/console/route.ts'
import { createAccount } from '../../server/accounts/accounts.ts'
import { insertSession } from '../../server/accounts/session-store.ts'
import { checkLedger } from '../../server/credits/ledger/check-store.ts'
import type { Engine } from '../../server/db/database.ts'
import { createTemplate } from '../../server/sms/templates.ts'
import { get, startService, type TestService } from '../support/service.ts'
import type { ApiCase, ConsoleCase, FuzzCase, RawCase } from './case.ts'
import { apiRequest, consoleRequest, damaged, type Outgoing, type Session } from './requests.ts'

/** No answer after so long is a hang. */
const hangMs = 20_000

const credits = 1_000_000_000

export interface Target extends AsyncDisposable {
  /** Throws when something happened that never may. */
  fire(one: FuzzCase): Promise<void>
  /** Throws unless the service is as well as before, and its ledger too. */
  checkUp(): Promise<void>
  readonly seen: { readonly statuses: Record<string, number>; paid: number }
}

interface Reply {
  readonly status: number
  readonly text: string
  /** The first answer again, for its `Idempotency-Key`: it was paid for then. */
  readonly replayed?: boolean
}

type Balances = Record<ApiType, number>

export async function openTarget(engine: Engine): Promise<Target> {
  const service = await startService(engine, { SWEEP_S: '3600', SIGN_UP: 'off' })
  const { db } = service.installation
  const plenty = Object.fromEntries(apiTypes.map((type) => [type, credits]))
  const holder = await service.account(plenty)
  // Somebody else than the key's holder: what the console starts in the background is paid a little later.
  const client = await service.account(plenty)
  const stranger = await service.account()
  const victim = await service.account({ sms: 1_000 })
  const boss = await createAccount(db, systemActor, { username: 'fuzzing-operator', role: 'operator' })
  for (const [code, content] of [
    ['CODE', '您的验证码是${code}。'],
    ['PLAIN', '您好'],
  ] as const) {
    for (const accountId of [holder.id, client.id]) {
      const wish = { accountId, code, name: code, content, status: '审核通过' } as const
      await createTemplate(db, systemActor, wish)
    }
  }
  const agent = new Agent({ keepAlive: true, maxSockets: 4 })
  const seen = { statuses: {} as Record<string, number>, paid: 0 }
  const sessions = {
    account: await openSession(service, client.id),
    operator: await openSession(service, boss.id),
  }

  async function balances(accountId: number): Promise<Balances> {
    const rows = await db.all<{ api_type: ApiType; total: number; used: number }>(
      'SELECT api_type, total, used FROM credit WHERE account_id = ?',
      [accountId],
    )
    return Object.fromEntries(rows.map((row) => [row.api_type, row.total - row.used])) as Balances
  }

  async function fire(one: FuzzCase): Promise<void> {
    const payer = one.kind === 'console' ? client.id : holder.id
    const before = await balances(payer)
    const reply =
      one.kind === 'raw'
        ? await sendRaw(service, one)
        : one.kind === 'api'
          ? await send(agent, apiRequest(service, one, { holder, stranger }))
          : await send(agent, consoleRequest(service, one, sessions, victim.id))
    const label = `${one.kind} ${reply?.status ?? 'closed'}`
    seen.statuses[label] = (seen.statuses[label] ?? 0) + 1
    requireNoFailure(service, reply)
    const now = await balances(payer)
    const spent = differences(before, now)
    if (one.kind === 'api') seen.paid += requireExplained(one, reply!, spent, now)
    else if (one.kind === 'console') seen.paid += requireTold(one, reply!, spent)
    else requireNothingSpent(spent)
    if (one.kind === 'console' && reply!.status < 400 && one.method !== 'GET') await renewSessions()
  }

  /** Signing out works, and so does ending sessions: the next case wants to be signed in again. */
  async function renewSessions(): Promise<void> {
    for (const [name, id] of [
      ['account', client.id],
      ['operator', boss.id],
    ] as const) {
      const { me } = (await get(`${service.url}${consoleApi}/start`, { cookie: sessions[name].cookie })).body
      if (!me) sessions[name] = await openSession(service, id)
    }
  }

  return {
    fire,
    seen,
    async checkUp() {
      const ready = await get(`${service.url}/readyz`)
      if (ready.status !== 200) throw new Error(`not ready afterwards: ${ready.status}`)
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

async function openSession({ installation, url }: TestService, accountId: number): Promise<Session> {
  const token = randomBytes(32).toString('base64url')
  const tokenHash = createHash('sha256').update(token).digest('hex')
  await installation.db.write((tx) =>
    insertSession(tx, { tokenHash, accountId, address: '127.0.0.1', agent: 'fuzz' }),
  )
  const cookie = `tg_session=${token}`
  const { body } = await get(`${url}${consoleApi}/start`, { cookie })
  return { cookie, csrf: body.me.csrf_token }
}

function requireNoFailure(service: TestService, reply: Reply | undefined): void {
  if (reply && reply.status >= 500 && reply.status !== 505) {
    throw new Error(`answered ${reply.status}: ${reply.text.slice(0, 500)}`)
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
  if (Object.keys(spent).length > 0) throw new Error(`credits moved: ${JSON.stringify(spent)}`)
}

/** What a page paid must stand in its answer. Runs and watches of the domain check are paid in the background. */
function requireTold(one: ConsoleCase, reply: Reply, moved: Partial<Balances>): number {
  const spent = { ...moved }
  delete spent.domain_check
  const cost = Object.values(spent).reduce((sum, amount) => sum + amount, 0)
  const { charged = 0, given_back: givenBack = 0 } = reply.status < 400 ? parsed(reply.text) : {}
  // A repeat under its key tells what the first one cost.
  const isRepeat = cost === 0 && one.headers['idempotency-key'] !== undefined
  if (cost !== charged - givenBack && !isRepeat && !one.route.startsWith('/domain-check')) {
    throw new Error(
      `cost ${JSON.stringify(spent)}, and the answer says ${charged}: ${reply.status} ${reply.text.slice(0, 300)}`,
    )
  }
  return cost > 0 ? 1 : 0
}

/** What a call cost must be what its answer says: nothing without a success. Tells whether it was paid. */
function requireExplained(one: ApiCase, reply: Reply, spent: Partial<Balances>, now: Balances): number {
  const told = reply.replayed || reply.status !== 200 ? undefined : saleOf(one.endpoint, parsed(reply.text))
  const problem = told ? wrongWith(told, spent, now) : Object.keys(spent).length > 0
  if (problem) {
    throw new Error(
      `cost ${JSON.stringify(spent)}, and the answer says ${JSON.stringify(told)}: ${reply.status} ${reply.text.slice(0, 300)}`,
    )
  }
  return told ? 1 : 0
}

interface Sale {
  readonly type: ApiType
  readonly least: number
  readonly most: number
  readonly remaining?: number
}

function wrongWith({ type, least, most, remaining }: Sale, spent: Partial<Balances>, now: Balances): boolean {
  const cost = spent[type] ?? 0
  const others = Object.keys(spent).some((name) => name !== type)
  return others || cost < least || cost > most || (remaining !== undefined && remaining !== now[type])
}

// oxlint-disable-next-line typescript/no-explicit-any -- answers of every shape
function parsed(text: string): any {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

/** What a successful answer was sold for; undefined for the free ones. */
// oxlint-disable-next-line typescript/no-explicit-any -- answers of every shape
function saleOf(endpoint: string, body: any): Sale | undefined {
  const { data } = body
  const exactly = (type: ApiType, amount: number, remaining?: number): Sale => ({
    type,
    least: amount,
    most: amount,
    ...(remaining !== undefined && { remaining }),
  })
  switch (endpoint) {
    case '/api/shortlink_api.php':
      return data?.remaining_balance === undefined
        ? undefined
        : exactly('short_link', 1, data.remaining_balance)
    case '/api/sms_api.php':
      // 500 characters are eight messages.
      return data?.biz_id === undefined || Array.isArray(data)
        ? undefined
        : { type: 'sms', least: 1, most: 8, remaining: data.remaining_credits }
    case '/api/id_verification_api.php':
      return body.success === true ? exactly('id_verification', 1) : undefined
    default: {
      const results: string[] = data?.results ?? []
      const answered = results.filter((result) => result !== '请求失败').length
      return exactly('domain_check', answered, data?.remaining_credits)
    }
  }
}

function send(agent: Agent, out: Outgoing): Promise<Reply> {
  return new Promise((answer, fail) => {
    const headers = { ...out.headers }
    // Without `expect` the client sends the body whatever the server thinks of it.
    delete headers['expect']
    // Left to itself, the client sends the body of a DELETE without any frame, as if it were the next request.
    if (out.body && out.chunked) headers['transfer-encoding'] = 'chunked'
    else if (out.body) headers['content-length'] = String(out.body.length)
    const sent = httpRequest(out.url, { method: out.method, headers, agent, timeout: hangMs }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () =>
        answer({
          status: response.statusCode ?? 0,
          text: Buffer.concat(chunks).toString(),
          replayed: response.headers['idempotent-replayed'] === 'true',
        }),
      )
      response.on('error', fail)
    })
    sent.on('timeout', () => sent.destroy(new Error(`no answer in ${hangMs} ms`)))
    sent.on('error', fail)
    sent.end(out.body)
  })
}

/** The first answer on the socket, or undefined when it was closed without one. Our end is closed after sending. */
function sendRaw(service: TestService, { text, damage }: RawCase): Promise<Reply | undefined> {
  const { port, hostname } = new URL(service.url)
  return new Promise((answer, fail) => {
    const socket = connect(Number(port), hostname)
    const chunks: Buffer[] = []
    const timer = setTimeout(() => {
      socket.destroy()
      fail(new Error(`the socket was still open after ${hangMs} ms`))
    }, hangMs)
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.on('error', () => undefined)
    socket.on('close', () => {
      clearTimeout(timer)
      const got = Buffer.concat(chunks).toString('latin1')
      const status = /^HTTP\/1\.1 (\d{3})/.exec(got)?.[1]
      answer(status === undefined ? undefined : { status: Number(status), text: got })
    })
    socket.end(damaged(Buffer.from(text, 'latin1'), damage))
  })
}
